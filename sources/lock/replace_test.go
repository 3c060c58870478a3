package lock

import (
	"bytes"
	"strings"
	"testing"
)

// next is an entry at a newer version.
func next(e Entry, version string) Entry {
	was := e.Version
	e.Version, e.URL = version, strings.ReplaceAll(e.URL, was, version)
	e.Digest = "sha256:" + strings.Repeat("fedcba9876543210", 4)
	if e.Kind == OCI {
		e.URL, _, _ = strings.Cut(e.URL, "@")
		e.URL += "@" + e.Digest
	}
	return e
}

// However a file is written, three values change and nothing else; a canonical file stays one.
func TestReplaceChangesOneEntryAlone(t *testing.T) {
	canonical := Lock{}.With(podinfo, fromOCI, entryOf(Helm, "https://z", "a", "1.10", "1.10"))
	for name, file := range map[string]string{
		"canonical":       string(canonical.Encode()),
		"comments":        strings.Replace(golden, "    version: 6.5.4\n", "    version: 6.5.4 # as of today\n    # why\n", 1),
		"CRLF":            strings.ReplaceAll(golden, "\n", "\r\n"),
		"another order":   strings.Replace(strings.Replace(golden, "    version: 6.5.4\n", "", 1), "  - kind: helm\n", "  - version: '6.5.4'\n    kind: helm\n", 1),
		"flow style":      strings.Replace(golden, "    version: 6.5.4\n    url: https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz\n", "    version: \"6.5.4\"\n    url: 'https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz'\n", 1),
		"one entry, flow": "apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: [{kind: helm, repository: \"https://stefanprodan.github.io/podinfo/\", name: podinfo, constraint: ^6.5.0, version: 6.5.4, url: \"https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz\", digest: \"" + podinfo.Digest + "\"}]",
	} {
		t.Run(name, func(t *testing.T) {
			to := next(podinfo, "6.6.0")
			got, err := Replace([]byte(file), to)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(file, "6.5.4", "6.6.0", 2) // the version and the URL come first
			want = strings.Replace(want, podinfo.Digest, to.Digest, 1)
			if norm := strings.NewReplacer("'6.6.0'", "6.6.0", "\"6.6.0\"", "6.6.0", "'https", "https", "6.6.0.tgz'", "6.6.0.tgz", "\"", ""); norm.Replace(string(got)) != norm.Replace(want) {
				t.Errorf("the file is\n%s\nwant\n%s", got, want)
			}
			if name == "canonical" && !bytes.Equal(got, canonical.With(to).Encode()) {
				t.Errorf("it is not canonical any more:\n%s", got)
			}
		})
	}
}

// Another entry beside it on its line stays.
func TestReplaceOnALineWithOthers(t *testing.T) {
	a, b := entryOf(Helm, "https://h", "a", "", "1.2.3"), entryOf(Helm, "https://h", "b", "", "1.2.3")
	flow := func(e Entry) string {
		return "{kind: helm, repository: 'https://h', name: " + e.Name + ", constraint: '', url: '" + e.URL + "', version: 1.2.3, digest: '" + e.Digest + "'}"
	}
	file := "apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: [" + flow(a) + ", " + flow(b) + "] # ü"
	for _, e := range []Entry{a, b} {
		to := next(e, "1.2.4")
		to.URL = "https://h/new.tgz"
		got, err := Replace([]byte(file), to)
		want := strings.Replace(file, flow(e), strings.NewReplacer("'"+e.URL+"'", to.URL, "1.2.3", "1.2.4", "'"+e.Digest+"'", to.Digest).Replace(flow(e)), 1)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v and\n%s\nwant\n%s", e.Name, err, got, want)
		}
	}
}

// What a newer entry says already stays as it is written.
func TestReplaceLeavesWhatIsSo(t *testing.T) {
	file := strings.Replace(golden, "version: 6.5.4", "version:   '6.5.4' # in quotes", 1)
	if file == golden {
		t.Fatal("the file has no such line")
	}
	got, err := Replace([]byte(file), podinfo)
	if err != nil || string(got) != file {
		t.Errorf("%v and\n%s", err, got)
	}
}

// A version that would be a number stays a string.
func TestReplaceQuotesWhatIsNoString(t *testing.T) {
	a := entryOf(Helm, "http://h", "a", "", "1.2.3")
	got, err := Replace(Lock{}.With(a).Encode(), next(a, "1.10"))
	if err != nil || !strings.Contains(string(got), `version: "1.10"`) {
		t.Errorf("it is %v and\n%s", err, got)
	}
}

// What stands in quotes ends where its quote is no part of it.
func TestReplaceFindsTheEndOfQuotes(t *testing.T) {
	for was, written := range map[string]string{
		"https://h/it's.tgz": "'https://h/it''s.tgz'", `https://h/"a.tgz`: `"https://h/\"a.tgz"`, "https://h/b.tgz": `"https:\x2F/h/b.tgz"`,
	} {
		a := entryOf(Helm, "https://h", "a", "", "1.2.3")
		a.URL = was
		file := strings.Replace(string(Lock{}.With(a).Encode()), "url: "+strings.TrimSpace(spelled(was)), "url: "+written, 1)
		to := next(a, "1.2.4")
		to.URL = "https://h/new.tgz"
		got, err := Replace([]byte(file), to)
		want := strings.NewReplacer(written, to.URL, "version: 1.2.3", "version: 1.2.4", a.Digest, to.Digest).Replace(file)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v and\n%s\nwant\n%s", written, err, got, want)
		}
	}
}

func TestReplaceRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"no entry":  {string(Lock{}.With(fromOCI).Encode()), "has no entry for https://stefanprodan.github.io/podinfo/podinfo ^6.5.0"},
		"no lock":   {"a: b\n", "line 1"},
		"a block":   {strings.Replace(golden, "version: 6.5.4", "version: >-\n      6.5.4", 1), "line 9"},
		"an anchor": {strings.Replace(golden, "version: 6.5.4", "version: &v 6.5.4", 1), "line 9"},
		"two lines": {strings.Replace(golden, "version: 6.5.4", "version: \"6.5.4\\\n      \"", 1), "line 9"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Replace([]byte(tt.file), next(podinfo, "6.6.0")); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
	wrong := next(podinfo, "6.6.0")
	wrong.Digest = "none"
	if _, err := Replace([]byte(golden), wrong); err == nil {
		t.Error("an entry without a digest was written")
	}
}

// FuzzReplace holds every line but those of the entry, whatever the file is.
func FuzzReplace(f *testing.F) {
	f.Add([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: [{constraint: ^6.5.0, name: podinfo, url: 'https://h/ü', kind: helm, repository: 'https://stefanprodan.github.io/podinfo', version: '6', digest: '"+podinfo.Digest+"'}]\n"), "6.6.0")
	f.Add([]byte(golden), "6.6.0")
	f.Add([]byte(strings.ReplaceAll(golden, "\n", "\r\n")), "7.0.0-rc.1")
	f.Add([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: [{kind: helm, repository: 'https://stefanprodan.github.io/podinfo', name: podinfo, constraint: ^6.5.0, version: '6', url: 'https://h', digest: '"+podinfo.Digest+"'}] # ü"), "true")
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		to := next(podinfo, version)
		got, err := Replace(data, to)
		if err != nil {
			return
		}
		before, _ := Parse(data)
		after, err := Parse(got)
		if err != nil || len(after.Entries()) != len(before.Entries()) {
			t.Fatalf("it is %v after\n%s", err, got)
		}
		for _, e := range after.Entries() {
			if was, _ := before.Lookup(e.Ref); e.Ref == to.Normal() && e != to || e.Ref != to.Normal() && e != was {
				t.Errorf("the entry is %+v after %+v", e, was)
			}
		}
		if was, is := bytes.Split(data, []byte("\n")), bytes.Split(got, []byte("\n")); len(was) != len(is) {
			t.Errorf("%d lines became %d", len(was), len(is))
		}
	})
}

func TestIsFixed(t *testing.T) {
	for _, tt := range []struct {
		kind       Kind
		constraint string
		want       bool
	}{
		{Helm, "1.2.3", true},
		{OCI, "v1.2.3", true},
		{OCI, podinfo.Digest, true},
		{Helm, podinfo.Digest, false}, // there it is no reference
		{OCI, "latest", false},
		{OCI, "1.2", false},
		{Helm, "^1.2.3", false},
		{Helm, "", false},
	} {
		if got := (Ref{Kind: tt.kind, Constraint: tt.constraint}).IsFixed(); got != tt.want {
			t.Errorf("%s %q is fixed: %t", tt.kind, tt.constraint, got)
		}
	}
}

func TestIsRange(t *testing.T) {
	for constraint, want := range map[string]bool{
		"": true, "1.x": true, "^6.5.0": true, ">=1.0.0 <2": true, " 1.2 ": true, "*": true,
		"1.2.3": false, "v1.2.3": false, "latest": false, podinfo.Digest: false,
	} {
		if got := IsRange(constraint); got != want {
			t.Errorf("%q is a range: %v", constraint, got)
		}
	}
}
