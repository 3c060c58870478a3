//go:build e2e

package attack_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/program"
)

// transformed is a fleet with a chart that prints a password in every way that a template can, once as a release
// that reads a Secret and once as one that draws.
type transformed struct {
	*fleet

	key string
}

// writes a version of it: the releases print a word beside the password, and one of them may fail.
func (f *transformed) writes(word, fails string) {
	f.t.Helper()
	const root = "testdata/transformed"
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(f.source, strings.TrimPrefix(path, root))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		text := strings.NewReplacer("@password@", canary, "@word@", word, "@fails@", fails).Replace(string(data))
		return os.WriteFile(to, []byte(text), 0o600)
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// canary is the password that the source has in a Secret.
const canary = "Hq7Zb3Xv9Kd1Wm5Ty8Rn2Gc6"

// drawn is the password that the cluster has of what was drawn when it was published.
func (f *transformed) drawn() string {
	f.t.Helper()
	manifest := f.run("git", "-C", f.bare, "show", "waybill/cluster/eu:manifests/shop/configmap/draws.yaml")
	found := regexp.MustCompile(`whole: first (\w{24})\n`).FindStringSubmatch(manifest)
	if found == nil {
		f.t.Fatalf("nothing is drawn:\n%s", manifest)
	}
	return found[1]
}

var notLetters = regexp.MustCompile(`[^A-Za-z0-9+/=]+`)

// reveals says how a text shows a password, or a part of it that nobody comes upon by chance; empty if it does not.
func reveals(text, password string) string {
	for name, shown := range map[string]string{
		"a half": password[:11], "the other half": password[11:], "reversed": reversed(password)[:12], "base64": encoded(password), "base64 twice": encoded(encoded(password)),
		"hex": fmt.Sprintf("%x", password[:8]),
	} {
		if strings.Contains(text, shown) {
			return name
		}
	}
	if strings.Contains(notLetters.ReplaceAllString(text, ""), password[:8]) {
		return "a letter at a time"
	}
	for name, pattern := range map[string]string{"names": `(?:reads|draws)-0%d-%s\b`, "keys": `k0%d-%s\b`, "values": `v%d[^\n]{0,40}"%s-`, "images": `a:%[2]s-(?:first|second)[^\n]*%[1]d?`} {
		seen := 0
		for i, letter := range strings.Split(password[:10], "") {
			if regexp.MustCompile("(?i)" + fmt.Sprintf(pattern, i, letter)).MatchString(text) {
				seen++
			}
		}
		if seen > 5 {
			return name
		}
	}
	return ""
}

func reversed(s string) string {
	letters := strings.Split(s, "")
	slices.Reverse(letters)
	return strings.Join(letters, "")
}

// encoded is what base64 makes of the middle of a text.
func encoded(s string) string {
	return base64.StdEncoding.EncodeToString([]byte(s))[4:20]
}

// TestATemplatePrintsAPasswordInPieces: what a template makes of the value of a Secret, or of what it draws, is in no
// preview: neither in values, nor in keys, names, numbers and messages. That it changes is told, and what does not depend
// on it is shown.
func TestATemplatePrintsAPasswordInPieces(t *testing.T) {
	t.Parallel()
	f := &transformed{fleet: newFleet(t, program.Build(t))}
	f.key = f.file("random-key", "0123456789abcdefghijklmnopqrstuvwxyzABCDEF")
	f.run("git", "rm", "-q", "fleet.yaml", "one.yaml")
	f.writes("first", "")
	f.commit("releases", nil)
	f.run(f.waybill, "publish", "--to", f.bare, "--random-key-file", f.key, "--allow-prune")
	passwords := map[string]string{"the Secret's": canary, "what was drawn": f.drawn()}
	for name, password := range passwords {
		manifests := f.run("git", "-C", f.bare, "grep", "-h", "", "waybill/cluster/eu", "--", "manifests")
		if reveals(manifests, password) == "" {
			t.Fatalf("the branch does not have %s, so that nothing is tried", name)
		}
	}
	for _, to := range [][2]string{{"second", ""}, {"first", "reads"}, {"second", "draws"}} {
		f.writes(to[0], to[1])
		for _, format := range []string{"text", "markdown", "html", "json"} {
			cmd := f.command(t.Context(), f.waybill, "diff", "HEAD", "--to", f.bare, "-o", format, "--random-key-file", f.key)
			data, _ := cmd.CombinedOutput()
			said := string(data)
			for name, password := range passwords {
				if how := reveals(said, password); how != "" {
					t.Errorf("%v, %s: there is %s: %s\n%s", to, format, name, how, said)
				}
			}
			if to == [2]string{"second", ""} && (!strings.Contains(said, "open") || !strings.Contains(said, "whole")) {
				t.Errorf("%s: it is not told what changes:\n%s", format, said)
			}
		}
	}
}
