package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file writes a file of some bytes with a mode.
func file(t *testing.T, name string, size int, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestAKeyIsReadWhereItIsPrivate: a file that its owner alone can read, of a size that keys have; the error names the flag.
func TestAKeyIsReadWhereItIsPrivate(t *testing.T) {
	dir := t.TempDir()
	theirs := file(t, filepath.Join(dir, "theirs"), 6, 0o644)
	if os.Getuid() == 0 {
		if err := os.Chown(theirs, 1, -1); err != nil {
			t.Fatal(err)
		}
	} else {
		theirs = "/etc/hosts" // which root owns
	}
	for _, tt := range []struct{ name, file, says string }{
		{"read and written by its owner", file(t, filepath.Join(dir, "600"), 6, 0o600), ""},
		{"read by its owner", file(t, filepath.Join(dir, "400"), 6, 0o400), ""},
		{"read by a group", file(t, filepath.Join(dir, "640"), 6, 0o640), "others than its owner can read "},
		{"read by all", file(t, filepath.Join(dir, "604"), 6, 0o604), "others than its owner can read "},
		{"written by a group", file(t, filepath.Join(dir, "620"), 6, 0o620), "others than its owner can read "},
		{"somebody else's, who decides that", theirs, ""},
		{"as large as a key can be", file(t, filepath.Join(dir, "large"), most, 0o600), ""},
		{"larger", file(t, filepath.Join(dir, "larger"), most+1, 0o600), "larger has more than 65536 bytes"},
		{"a folder", dir, dir + " is no file"},
		{"nothing", filepath.Join(dir, "none"), "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Read("signing-key", tt.file)
			if tt.says != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "reading --signing-key: ") || !strings.Contains(err.Error(), tt.says) || text != nil {
					t.Errorf("%d bytes, %v; want %q", len(text), err, tt.says)
				}
				return
			}
			if want, _ := os.ReadFile(tt.file); err != nil || string(text) != string(want) {
				t.Errorf("%d bytes, %v; want %d", len(text), err, len(want))
			}
		})
	}
}

// TestAKeyIsOutsideOfTheSource: of the whole work tree around a path, by whatever link it is named, but for what Git keeps there.
func TestAKeyIsOutsideOfTheSource(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"key", "source/key", "source/apps/a.yaml", "repository/.git/key", "repository/key", "repository/fleet/a.yaml", "repository/.github/key", "source-key", "https:/git.example/fleet/key"} {
		file(t, in(name), 6, 0o600)
	}
	for at, to := range map[string]string{"link": "source/key", "linked": "source"} {
		if err := os.Symlink(in(to), in(at)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	const inside = "is among the files of the source"
	for _, tt := range []struct{ name, file, source, says string }{
		{"elsewhere", in("key"), in("source"), ""},
		{"in a folder whose name begins alike", in("source-key"), in("source"), ""},
		{"in the source", in("source/key"), in("source"), inside},
		{"in a folder that is no repository, above the path", in("source/key"), in("source/apps"), ""},
		{"by a link that leads there", in("link"), in("source"), inside},
		{"by the link of a folder", in("linked/key"), in("source"), inside},
		{"in what a link of the source leads to", in("source/key"), in("linked"), inside},
		{"in the repository, above the path", in("repository/key"), in("repository/fleet"), inside},
		{"in a hidden folder of the repository", in("repository/.github/key"), in("repository"), inside},
		{"in what Git keeps", in("repository/.git/key"), in("repository/fleet"), ""},
		{"where there is no source", in("key"), in("none"), ""},
		{"of a source by URL, in a folder of that name", in("https:/git.example/fleet/key"), "https://git.example/fleet", ""},
		{"a key that is not there", in("none"), in("source"), "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Outside("signing-key", tt.file, tt.source)
			if (err == nil) != (tt.says == "") || err != nil && (!strings.HasPrefix(err.Error(), "reading --signing-key: ") || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}
