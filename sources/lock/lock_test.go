package lock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func entryOf(kind Kind, repository, name, constraint, version string) Entry {
	e := Entry{
		Ref:     Ref{Kind: kind, Repository: repository, Name: name, Constraint: constraint},
		Version: version, URL: repository + "/" + name + "-" + version + ".tgz",
		Digest: "sha256:" + strings.Repeat("0123456789abcdef", 4),
	}
	if kind == OCI {
		e.URL = repository + "/" + name + ":" + version + "@" + e.Digest
	}
	return e
}

var (
	podinfo = entryOf(Helm, "https://stefanprodan.github.io/podinfo", "podinfo", "^6.5.0", "6.5.4")
	fromOCI = entryOf(OCI, "oci://ghcr.io/stefanprodan/charts", "podinfo", "", "6.5.4")
)

const golden = `# Written by waybill update: which archive each reference to a chart stands for.
apiVersion: waybill.dev/v1alpha1
kind: Lock
charts:
  - kind: helm
    repository: https://stefanprodan.github.io/podinfo
    name: podinfo
    constraint: ^6.5.0
    version: 6.5.4
    url: https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz
    digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  - kind: oci
    repository: oci://ghcr.io/stefanprodan/charts
    name: podinfo
    constraint: ""
    version: 6.5.4
    url: oci://ghcr.io/stefanprodan/charts/podinfo:6.5.4@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    digest: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
`

func TestEncodeIsCanonical(t *testing.T) {
	if d := cmp.Diff(golden, string(Lock{}.With(fromOCI, podinfo).Encode())); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
}

func TestParseReadsWhatEncodeWrites(t *testing.T) {
	for _, l := range []Lock{{}, Lock{}.With(podinfo), Lock{}.With(podinfo, fromOCI, entryOf(Helm, "http://h", "a", "1.10", "1.10"))} {
		got, err := Parse(l.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l.Entries(), got.Entries()); d != "" {
			t.Errorf("entries (-want +got):\n%s", d)
		}
	}
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	replace := func(old, now string) string { return strings.Replace(golden, old, now, 1) }
	for _, tt := range []struct {
		name, file string
		line       int
		want       string
	}{
		{"an empty file", "", 1, "is empty"},
		{"comments only", "# nothing\n", 1, "is empty"},
		{"no YAML", "a: b: c\n", 1, "no YAML"},
		{"no YAML further down", replace("    name: podinfo", "  \tname: podinfo"), 6, "no YAML"},
		{"a list", "- a\n", 1, "no mapping"},
		{"another version", replace("v1alpha1", "v2"), 2, `"waybill.dev/v2"`},
		{"another kind", replace("kind: Lock", "kind: Loch"), 3, `"Loch"`},
		{"no charts", replace("charts:", "other:"), 4, `no field "other"`},
		{"charts missing", "apiVersion: waybill.dev/v1alpha1\nkind: Lock\n", 1, `"charts" is missing`},
		{"a missing first field", "kind: Lock\ncharts: []\n", 1, `"apiVersion" is missing`},
		{"charts that are no list", "apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: {}\n", 3, "no list"},
		{"an unknown field", replace("    version:", "    more: x\n    version:"), 9, `no field "more"`},
		{"a field twice", replace("    version:", "    name: podinfo\n    version:"), 9, `"name" is given twice`},
		{"a missing field", replace("    version: 6.5.4\n", ""), 5, `"version" is missing`},
		{"a number for a string", replace("version: 6.5.4", "version: 6.5"), 9, `"6.5" is no string`},
		{"nothing for a string", replace(`constraint: ""`, "constraint:"), 15, "is no string"},
		{"a second document", golden + "---\na: b\n", 19, "second document"},
		{"an anchor used", replace("^6.5.0", "&a ^6.5.0") + "  - *a\n", 19, "no mapping"},
		{"a merge", replace("    version: 6.5.4", "    <<: {version: 6.5.4}"), 9, `no field "<<"`},
		{"a reference twice", golden + strings.Split(golden, "charts:\n")[1], 19, "is there already, on line 5"},
		{"a reference twice, once with a slash at its end", golden + strings.Replace(strings.Split(golden, "charts:\n")[1], "github.io/podinfo\n", "github.io/podinfo/\n", 1), 19, "is there already, on line"},
		{"a digest in capitals", replace("0123456789abcdef\n", "0123456789ABCDEF\n"), 5, "is not sha256:"},
		{"a digest of another kind", replace("digest: sha256", "digest: sha512"), 5, "is not sha256:"},
		{"a third kind", replace("kind: oci", "kind: git"), 12, `kind "git"`},
		{"a scheme of the other kind", replace("oci://ghcr.io/stefanprodan/charts\n", "https://ghcr.io/stefanprodan/charts\n"), 12, `its scheme is "https", not oci`},
		{"a name with a way up", replace("name: podinfo", "name: ../podinfo"), 5, "is no chart name"},
		{"a hidden name", replace("name: podinfo", "name: .."), 5, "is no chart name"},
		{"a password", replace("https://stefan", "https://me:hush@stefan"), 5, "user name or password"},
		{"a query", replace(".tgz", ".tgz?token=hush"), 5, "query or a fragment"},
		{"no URL", replace("url: https://", "url: https:hush//"), 5, "names no host"},
		{"a URL with a line break", replace("url: https://", `url: "https://hush\n"  #`), 5, "no URL has"},
		{"no version", replace("version: 6.5.4", `version: ""`), 5, `version "" is no version`},
		{"a version with a letter that nobody sees", replace("version: 6.5.4", `version: "6.5.4\u00a0"`), 5, "is no version"},
		{"a version that is too long", replace("version: 6.5.4", "version: v"+strings.Repeat("6", 256)), 5, "is no version"},
		{"a constraint with a line break", replace("constraint: ^6.5.0", `constraint: "^6.5.0\n"`), 5, "is no version, range or tag"},
		{"a constraint that is too long", replace("constraint: ^6.5.0", "constraint: v"+strings.Repeat("6", 256)), 5, "is no version, range or tag"},
		{"a URL that is too long", replace(".tgz", strings.Repeat("x", 2048)), 5, "is too long"},
		{"a URL with a space", replace("url: https://stefan", "url: https://hush stefan"), 5, "a space, a backslash"},
		{"a URL with a backslash", replace("url: https://stefan", `url: https://hush\stefan`), 5, "a space, a backslash"},
		{"a URL that is none", replace("url: https://stefan", "url: https://[stefan"), 5, "it is no URL"},
		{"a query of nothing", replace(".tgz", `.tgz?`), 5, "query or a fragment"},
		{"a fragment of nothing", replace("url: https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz", `url: "https://stefanprodan.github.io/podinfo/podinfo-6.5.4.tgz#"`), 5, "query or a fragment"},
		{"a key that is a list", replace("    version:", "    ? [version]\n    : x\n    version:"), 9, "no field"},
		{"a file that is too large", golden + "#" + strings.Repeat("x", 8<<20), 1, "8388608 are read"},
		{"what follows and is no YAML", golden + "---\n\ta: b: c\n", 20, "no YAML: found character"},
		{"an archive of another chart", replace("charts/podinfo:", "charts/podinfo-other:"), 12, "is not of"},
		{"an archive of another repository", replace("url: oci://ghcr.io", "url: oci://evil.example"), 12, "is not of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.file))
			e, ok := errors.AsType[*ParseError](err)
			if !ok || e.Line != tt.line || !strings.Contains(e.Message, tt.want) {
				t.Errorf("the error is %v, want line %d: …%s…", err, tt.line, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "hush") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// A file that is as large as one may be is read.
func TestParseReadsALargeFile(t *testing.T) {
	if l, err := Parse([]byte(golden + "#" + strings.Repeat("x", maxFile-len(golden)-1))); err != nil || len(l.Entries()) != 2 {
		t.Errorf("it has %d entries: %v", len(l.Entries()), err)
	}
}

// TestEntriesThatAreValid: as long as what is written may be, and what stands for a manifest alone.
func TestEntriesThatAreValid(t *testing.T) {
	of := func(edit func(*Entry)) Entry {
		e := fromOCI
		edit(&e)
		return e
	}
	for name, e := range map[string]Entry{
		"a digest alone":     of(func(e *Entry) { e.URL = e.Repository + "/" + e.Name + "@" + e.Digest }),
		"a named manifest":   of(func(e *Entry) { e.Constraint = e.Digest }),
		"a long constraint":  of(func(e *Entry) { e.Constraint = strings.Repeat("6", 256) }),
		"a long version":     of(func(e *Entry) { e.Version = strings.Repeat("6", 256) }),
		"the last character": of(func(e *Entry) { e.Constraint = "~" }),
	} {
		if err := e.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := of(func(e *Entry) { e.URL = e.Repository + "/" + e.Name + e.Digest }); e.Validate() == nil {
		t.Error("a URL in which the digest is part of the name is taken")
	}
}

func TestARefIsShown(t *testing.T) {
	for want, r := range map[string]Ref{
		"https://h/a":        {Helm, "https://h", "a", ""},
		"https://h/a ^1.2.0": {Helm, "https://h", "a", "^1.2.0"},
	} {
		if got := r.String(); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	l := Lock{}.With(podinfo, fromOCI)
	for _, tt := range []struct {
		name string
		ref  Ref
		want bool
	}{
		{"the reference itself", podinfo.Ref, true},
		{"a slash at the end", Ref{Helm, podinfo.Repository + "/", "podinfo", "^6.5.0"}, true},
		{"spaces around the constraint", Ref{Helm, podinfo.Repository, "podinfo", " ^6.5.0 "}, true},
		{"another constraint, even if the version fits", Ref{Helm, podinfo.Repository, "podinfo", "6.5.4"}, false},
		{"another name", Ref{Helm, podinfo.Repository, "pod", "^6.5.0"}, false},
		{"another kind", Ref{OCI, podinfo.Repository, "podinfo", "^6.5.0"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if e, ok := l.Lookup(tt.ref); ok != tt.want || ok && e != podinfo {
				t.Errorf("Lookup = %+v, %v", e, ok)
			}
		})
	}
	if _, ok := (Lock{}).Lookup(podinfo.Ref); ok {
		t.Error("the empty lock has something")
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	l := Lock{}.With(podinfo)
	newer := podinfo
	newer.Version, newer.Repository = "6.6.0", podinfo.Repository+"/"
	got := l.With(fromOCI, fromOCI, newer)
	if e, _ := got.Lookup(podinfo.Ref); len(got.Entries()) != 2 || e.Version != "6.6.0" {
		t.Errorf("the new lock is %+v", got)
	}
	if e, _ := l.Lookup(podinfo.Ref); len(l.Entries()) != 1 || e.Version != "6.5.4" {
		t.Errorf("the old lock became %+v", l)
	}
}

func TestPick(t *testing.T) {
	all := []string{"0.9.0", "1.2.0", "1.10.0", "1.9.9", "v1.3.0", "2.0.0-alpha.1", "2.0.0-rc.1", "nightly", "1.2.3+b1", "1.2.3+b2", "1.2"}
	for _, tt := range []struct {
		name, constraint, want, wrong string
	}{
		{"nothing is the latest release", "", "1.10.0", ""},
		{"a star too", "*", "1.10.0", ""},
		{"a caret", "^1.2", "1.10.0", ""},
		{"a tilde", "~1.9.0", "1.9.9", ""},
		{"an x", "1.9.x", "1.9.9", ""},
		{"a range in two parts", ">=1.2.0 <1.9", "v1.3.0", ""},
		{"alternatives", "0.x || 1.9.x", "1.9.9", ""},
		{"a hyphen", "0.8 - 1.2.1", "1.2.0", ""},
		{"a pre-release has to be named", ">=1.0.0-0", "2.0.0-rc.1", ""},
		{"or spelled", "2.0.0-alpha.1", "2.0.0-alpha.1", ""},
		{"a spelling counts before a range", "1.2", "1.2", ""},
		{"also of what is no version", "nightly", "nightly", ""},
		{"a version without its v", "1.3.0", "v1.3.0", ""},
		{"spaces are nothing", " 1.2.0 ", "1.2.0", ""},
		{"and around what is no version", " nightly ", "nightly", ""},
		{"equal versions do not depend on the order", "1.2.3", "1.2.3+b2", ""},
		{"none fits", ">=3", "", `none of the versions (2.0.0-rc.1, 2.0.0-alpha.1, 1.10.0 and 8 more) is in the range ">=3"`},
		{"no range", "stable", "", `"stable" is neither one of the versions`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reversed := slices.Clone(all)
			slices.Reverse(reversed)
			for _, versions := range [][]string{all, reversed} {
				got, err := Pick(versions, tt.constraint)
				if got != tt.want || (err == nil) != (tt.wrong == "") {
					t.Errorf("Pick = %q, %v", got, err)
				}
				if err != nil && !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("the error is %q, want %q in it", err, tt.wrong)
				}
			}
		})
	}
	for _, none := range [][]string{nil, {"nightly"}} {
		if _, err := Pick(none, ""); err == nil || !strings.Contains(err.Error(), "(there are none)") {
			t.Errorf("of %v picked is nothing: %v", none, err)
		}
	}
	if got, err := Pick([]string{"", "1.0.0"}, ""); err != nil || got != "1.0.0" {
		t.Errorf("no constraint picks %q, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(golden))
	f.Add(Lock{}.Encode())
	f.Add([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Lock\ncharts: []\n"))
	f.Add([]byte("# \n--- \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			if _, ok := errors.AsType[*ParseError](err); !ok {
				t.Errorf("the error is a %T", err)
			}
			return
		}
		again, err := Parse(l.Encode())
		if err != nil {
			t.Fatalf("what was encoded is not read: %v\n%s", err, l.Encode())
		}
		if d := cmp.Diff(l.Entries(), again.Entries()); d != "" {
			t.Errorf("entries (-first +again):\n%s", d)
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add("podinfo", ">=1.0.0-0", "1.0.0", "x/y")
	f.Add("true", "1.10", "0x10", "~")
	f.Fuzz(func(t *testing.T, name, constraint, version, path string) {
		e := entryOf(Helm, "https://charts.example", name, constraint, version)
		e.URL = "https://charts.example/" + path
		if e.Validate() != nil {
			return
		}
		l := Lock{}.With(e)
		got, err := Parse(l.Encode())
		if err != nil {
			t.Fatalf("%v in\n%s", err, l.Encode())
		}
		if d := cmp.Diff(l.Entries(), got.Entries()); d != "" {
			t.Errorf("entries (-want +got):\n%s", d)
		}
	})
}
