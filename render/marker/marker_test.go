package marker_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/marker"
)

var (
	web  = marker.Policy{Namespace: "shop", Name: "web"}
	next = marker.Image{Name: "ghcr.io/acme/web", Tag: "1.10", Digest: "sha256:" + strings.Repeat("b", 64)}
	old  = "sha256:" + strings.Repeat("a", 64)
)

// write writes next to the policy web.
func write(t *testing.T, text string) string {
	t.Helper()
	f := marker.Read("a.yaml", []byte(text))
	for _, b := range f.Bad {
		t.Error(b.Diagnostic)
	}
	data, _, err := f.Write(map[marker.Policy]marker.Image{web: next})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWrite(t *testing.T) {
	pinned := "ghcr.io/acme/web:1.10@" + next.Digest
	const m = `# {"$imagepolicy": "shop:web"}`
	const tag = `# {"$imagepolicy": "shop:web:tag"}`
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "image: ghcr.io/acme/web:1.9 " + m + "\n", "image: " + pinned + " " + m + "\n"},
		{"single quotes", "image: 'ghcr.io/acme/web:1.9'   " + m + "\n", "image: '" + pinned + "'   " + m + "\n"},
		{"double quotes", "image: \"ghcr.io/acme/web:1.9\" " + m, "image: \"" + pinned + "\" " + m},
		{"CRLF", "a: 1\r\nimage: ghcr.io/acme/web:1.9 " + m + "\r\nb: 2\r\n", "a: 1\r\nimage: " + pinned + " " + m + "\r\nb: 2\r\n"},
		{"a tag that is a number gets quotes", "tag: 1.9 " + tag + "\n", "tag: \"1.10\" " + tag + "\n"},
		{"a tag in quotes", "tag: '1.9' " + tag + "\n", "tag: '1.10' " + tag + "\n"},
		{"in a list", "images:\n- name: x\n  newTag: v1.9 " + tag + "\n", "images:\n- name: x\n  newTag: \"1.10\" " + tag + "\n"},
		{
			"three parts", "name: ghcr.io/acme/web # {\"$imagepolicy\": \"shop:web:name\"}\ntag: '1.9' " + tag + "\ndigest: " + old + " # {\"$imagepolicy\": \"shop:web:digest\"}\n",
			"name: ghcr.io/acme/web # {\"$imagepolicy\": \"shop:web:name\"}\ntag: '1.10' " + tag + "\ndigest: " + next.Digest + " # {\"$imagepolicy\": \"shop:web:digest\"}\n",
		},
		{"several documents, comments, letters", "# é\n---\nö: ü # x\n---\n\"é\": {a: b}\nimage: ghcr.io/acme/web:1.9 " + m + "\n\n# end\n---\n", "# é\n---\nö: ü # x\n---\n\"é\": {a: b}\nimage: " + pinned + " " + m + "\n\n# end\n---\n"},
		{"a byte order mark", "\ufeffimage: ghcr.io/acme/web:1.9 " + m + "\n", "\ufeffimage: " + pinned + " " + m + "\n"},
		{"another policy stays", "image: ghcr.io/acme/api:1 # {\"$imagepolicy\": \"shop:api\"}\n", "image: ghcr.io/acme/api:1 # {\"$imagepolicy\": \"shop:api\"}\n"},
		{"other words of the comment", "image: ghcr.io/acme/web:1.9 # our web {\"$imagepolicy\":\"shop:web\"} here\n", "image: " + pinned + " # our web {\"$imagepolicy\":\"shop:web\"} here\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := write(t, tt.text); got != tt.want {
				t.Errorf("written is\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// Nothing is written where the image lacks what a value is to be, and nothing changes where it says what it is to say.
func TestWhatIsNotWritten(t *testing.T) {
	const tag, digest = "tag: 1.9 # {\"$imagepolicy\": \"shop:web:tag\"}\n", " # {\"$imagepolicy\": \"shop:web:digest\"}\n"
	image := marker.Image{Name: "ghcr.io/acme/web", Tag: "1.10"} // of which no digest is known
	f := marker.Read("a.yaml", []byte(tag+"digest: "+old+digest))
	data, changed, err := f.Write(map[marker.Policy]marker.Image{web: image})
	if err == nil || !strings.Contains(err.Error(), "a.yaml:2: there is no digest") || data != nil || changed {
		t.Errorf("without a digest written is %q, %t: %v", data, changed, err)
	}
	text := "image: ghcr.io/acme/web:1.10 # {\"$imagepolicy\": \"shop:web\"}\n"
	f = marker.Read("a.yaml", []byte(text))
	for _, images := range []map[marker.Policy]marker.Image{{web: image}, {{Namespace: "shop", Name: "api"}: next}, nil} {
		if data, changed, err = f.Write(images); err != nil || changed || string(data) != text {
			t.Errorf("by %v written is %q, %t: %v", images, data, changed, err)
		}
	}
}

// A tag that some reader of YAML takes for something else than a text gets quotes: those of YAML 1.1 take on, y and 0777 for no text.
func TestATagIsWrittenAsAText(t *testing.T) {
	const text = "tag: v1 # {\"$imagepolicy\": \"shop:web:tag\"}\n"
	for tag, quote := range map[string]string{
		"v2": "", "1.2.3": "", "only": "", "2.0-rc.1": "",
		"on": `"`, "y": `"`, "NO": `"`, "true": `"`, "null": `"`, "0777": `"`, "1.10": `"`, "1e3": `"`, "2026-01-01": `"`,
	} {
		f := marker.Read("a.yaml", []byte(text))
		data, _, err := f.Write(map[marker.Policy]marker.Image{web: {Name: "ghcr.io/acme/web", Tag: tag}})
		if want := strings.Replace(text, "v1", quote+tag+quote, 1); err != nil || string(data) != want {
			t.Errorf("written is %q, %v, want %q", data, err, want)
		}
	}
}

// What a registry calls its tags is written as a value that reads as that tag, or not at all: nothing else of the file changes.
func TestATagOfAStrangerChangesNothingElse(t *testing.T) {
	const m = ` # {"$imagepolicy": "shop:web:tag"}`
	for _, tt := range []struct{ name, was, tag, want string }{ // want is empty where nothing is written
		{"with a comment", "v1", "v2 # x", ""},
		{"a comment alone", "v1", "# x", `"# x"`},
		{"with a line", "v1", "v2\nb: 3", ""},
		{"with a document", "v1", "v2\n---\n", ""},
		{"with an anchor", "v1", "&a v2", ""},
		{"an alias", "v1", "*a", `"*a"`},
		{"of a type", "v1", "!!str v2", ""},
		{"in quotes", "v1", `"v2"`, ""},
		{"a mapping", "v1", "v2: x", `"v2: x"`},
		{"a list that does not end", "v1", "[v2", `"[v2"`},
		{"with a quote", "'v1'", "v'2", ""},
		{"with two quotes", "'v1'", "v''2", ""},
		{"that ends its quotes", `"v1"`, `v2", c: "x`, ""},
		{"with an escape", `"v1"`, `v\x32`, ""},
		{"with an escape in single quotes", "'v1'", `v\x32`, `'v\x32'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "first: v1" + m + "\ntag: " + tt.was + m + "\nb: 2\n"
			f := marker.Read("a.yaml", []byte(strings.Replace(text, "shop:web", "shop:api", 1)))
			data, changed, err := f.Write(map[marker.Policy]marker.Image{
				web: {Name: "ghcr.io/acme/web", Tag: tt.tag}, {Namespace: "shop", Name: "api"}: {Name: "ghcr.io/acme/api", Tag: "v3"},
			})
			if tt.want == "" {
				if err == nil || !strings.HasPrefix(err.Error(), "a.yaml: ") || changed || data != nil {
					t.Errorf("written is %q: %v", data, err)
				}
				return
			}
			want := "first: v3" + strings.Replace(m, "web", "api", 1) + "\ntag: " + tt.want + m + "\nb: 2\n"
			if err != nil || string(data) != want {
				t.Errorf("written is %q, %v; want %q", data, err, want)
			}
		})
	}
}

func TestBad(t *testing.T) {
	const m = ` # {"$imagepolicy": "shop:web"}`
	for _, tt := range []struct {
		name, file, text string
		line             int
		code             diag.Code
		policies         int
	}{
		{"a block of text", "a.yaml", "a: 1\nimage: |" + m + "\n  ghcr.io/acme/web:1.9\n", 2, diag.MarkerNotEditable, 1},
		{"within a block of text", "a.yaml", "values: |\n  image: ghcr.io/acme/web:1.9" + m + "\n", 2, diag.MarkerNotEditable, 1},
		{"an anchor", "a.yaml", "image: &a ghcr.io/acme/web:1.9" + m + "\n", 1, diag.MarkerNotEditable, 1},
		{"within an anchor", "a.yaml", "base: &a\n  image: ghcr.io/acme/web:1.9" + m + "\nb: *a\n", 2, diag.MarkerNotEditable, 1},
		{"deep within an anchor", "a.yaml", "base: &a\n  web:\n    - image: ghcr.io/acme/web:1.9" + m + "\nb: *a\n", 3, diag.MarkerNotEditable, 1},
		{"an alias", "a.yaml", "a: &a ghcr.io/acme/web:1.9\nimage: *a" + m + "\n", 2, diag.MarkerNotEditable, 1},
		{"a tag of YAML", "a.yaml", "image: !!str ghcr.io/acme/web:1.9" + m + "\n", 1, diag.MarkerNotEditable, 1},
		{"escapes", "a.yaml", "image: \"ghcr.io/acme/web\\x3a1.9\"" + m + "\n", 1, diag.MarkerNotEditable, 1},
		{"behind a mapping", "a.yaml", "a: {image: 'ghcr.io/acme/web:1.9'}" + m + "\n", 1, diag.MarkerNotEditable, 1},
		{"on a line of its own", "a.yaml", m + "\nimage: ghcr.io/acme/web:1.9\n", 1, diag.MarkerNotEditable, 1},
		{"JSON", "a.json", "{\"a\": \"ghcr.io/acme/web:1.9" + strings.ReplaceAll(m, `"`, `\"`) + "\", \"b\": \"\"}", 0, "", 0},
		{"JSON with a comment", "a.json", "{\"a\": \"x\"" + m + "\n}", 1, diag.MarkerNotEditable, 1},
		{"sops", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + "\nsops: {mac: x}\n", 1, diag.MarkerNotEditable, 1},
		{"no YAML", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + "\nb: [\n", 1, diag.MarkerNotEditable, 1},
		{"two policies", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + ` {"$imagepolicy": "shop:api"}` + "\n", 1, diag.BadMarker, 2},
		{"no policy", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"web\"}\n", 1, diag.BadMarker, 0},
		{"no namespace", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \":web\"}\n", 1, diag.BadMarker, 0},
		{"no name", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"shop:\"}\n", 1, diag.BadMarker, 0},
		{"no part", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"shop:web:version\"}\n", 1, diag.BadMarker, 1},
		{"an empty part", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"shop:web:\"}\n", 1, diag.BadMarker, 1},
		{"more than a part", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"shop:web:tag:name\"}\n", 1, diag.BadMarker, 1},
		{"no part of the first", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": \"shop:web:version\"} {\"$imagepolicy\": \"shop:api\"}\n", 1, diag.BadMarker, 2},
		{"no marker", "a.yaml", "image: ghcr.io/acme/web:1.9 # {\"$imagepolicy\": shop}\n", 1, diag.BadMarker, 0},
		{"no image", "a.yaml", "replicas: three apples" + m + "\n", 1, diag.BadMarker, 1},
		{"no tag", "a.yaml", "tag: -x # {\"$imagepolicy\": \"shop:web:tag\"}\n", 1, diag.BadMarker, 1},
		{"no digest", "a.yaml", "digest: sha256:00 # {\"$imagepolicy\": \"shop:web:digest\"}\n", 1, diag.BadMarker, 1},
		{"more than a name", "a.yaml", "name: web:1 # {\"$imagepolicy\": \"shop:web:name\"}\n", 1, diag.BadMarker, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := marker.Read(tt.file, []byte(tt.text))
			if tt.code == "" {
				if len(f.Bad) > 0 || marker.Has(tt.file, []byte(tt.text)) {
					t.Errorf("there is %v", f.Bad)
				}
				return
			}
			if len(f.Bad) != 1 || len(f.Markers) > 0 {
				t.Fatalf("there are %d bad markers and %d others", len(f.Bad), len(f.Markers))
			}
			d := f.Bad[0].Diagnostic
			if d.Pos != (diag.Pos{File: tt.file, Line: tt.line}) || d.Code != tt.code || len(f.Bad[0].Policies) != tt.policies || d.Hint == "" {
				t.Errorf("said is %v of %v", d, f.Bad[0].Policies)
			}
		})
	}
}

// What cannot be written says why, in the words of the one obstacle that there is.
func TestWhyAMarkerIsBad(t *testing.T) {
	const m = ` # {"$imagepolicy": "shop:web"}`
	for _, tt := range []struct{ name, file, text, want string }{
		{"a block of text", "a.yaml", "image: |" + m + "\n  ghcr.io/acme/web:1.9\n", "it is a block of text"},
		{"a folded block of text", "a.yaml", "image: >" + m + "\n  ghcr.io/acme/web:1.9\n", "it is a block of text"},
		{"an anchor", "a.yaml", "image: &a ghcr.io/acme/web:1.9" + m + "\n", "it has an anchor"},
		{"an alias", "a.yaml", "a: &a ghcr.io/acme/web:1.9\nimage: *a" + m + "\n", "it is no text"},
		{"a tag of YAML", "a.yaml", "image: !!str ghcr.io/acme/web:1.9" + m + "\n", "it has a tag of YAML"},
		{"escapes", "a.yaml", "image: \"ghcr.io/acme/web\\x3a1.9\"" + m + "\n", "it is not written as it is read"},
		{"JSON", "a.json", "{\"a\": \"x\"" + m + "\n}", "JSON has no comments"},
		{"sops", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + "\nsops: {mac: x}\n", "sops encrypted the file"},
		{"sops in the second document", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + "\n---\nsops: {mac: x}\n", "sops encrypted the file"},
		{"no YAML", "a.yaml", "image: ghcr.io/acme/web:1.9" + m + "\nb: [\n", "the file cannot be read: reading YAML"},
	} {
		f := marker.Read(tt.file, []byte(tt.text))
		if len(f.Bad) != 1 || !strings.Contains(f.Bad[0].Diagnostic.Message, tt.want) {
			t.Errorf("%s: said is %+v, want %q", tt.name, f.Bad, tt.want)
		}
	}
}

// The word sops is none of sops where it is not a field of the whole document.
func TestAFileIsOfSopsByItsTop(t *testing.T) {
	const m = ` # {"$imagepolicy": "shop:web"}`
	for _, text := range []string{"a: {sops: x}\n", "a: sops\n", "- sops\n- x\n"} {
		f := marker.Read("a.yaml", []byte("image: ghcr.io/acme/web:1.9"+m+"\n---\n"+text))
		if len(f.Bad) != 0 || len(f.Markers) != 1 {
			t.Errorf("%q: said is %+v", text, f.Bad)
		}
	}
}

func TestHas(t *testing.T) {
	const with, without = `image: a # {"$imagepolicy": "shop:web"}`, "image: a # of a policy"
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"a.yaml", with, true},
		{"b/a.yml", with, true},
		{"a.json", with, true},
		{"a.yaml", without, false},
		{"a.md", with, false},
		{"yaml", with, false},
	} {
		if got := marker.Has(tt.name, []byte(tt.text)); got != tt.want {
			t.Errorf("%s with %q: %t", tt.name, tt.text, got)
		}
	}
}

// Two markers of one policy in one file, and one of another, are told apart.
func TestMarkersHavePlaces(t *testing.T) {
	f := marker.Read("a.yaml", []byte("a: web:1 # {\"$imagepolicy\": \"shop:web\"}\nb: 2\n---\nc: api # {\"$imagepolicy\": \"shop:api:name\"}\nd: 'web:2@"+old+"' # {\"$imagepolicy\": \"shop:web\"}\n"))
	if len(f.Markers) != 3 || f.Markers[0].Pos.Line != 1 || f.Markers[1].Policy.Name != "api" || f.Markers[2].Pos.Line != 5 {
		t.Fatalf("the markers are %+v", f.Markers)
	}
	if i := f.Markers[2].Image(); i != (marker.Image{Name: "web", Tag: "2", Digest: old}) {
		t.Errorf("the last image is %+v", i)
	}
	if i := (&marker.Marker{Value: "localhost:5000/web"}).Image(); i != (marker.Image{Name: "localhost:5000/web"}) {
		t.Errorf("an image without a tag is %+v", i)
	}
}

// FuzzWrite holds that every byte stays that is not of a value: what is written is the text with its values replaced,
// and reads back as them. Tabs stand for markers.
func FuzzWrite(f *testing.F) {
	f.Add("image: ghcr.io/acme/web:1.9\t\n", false)
	f.Add("# c\n---\na: {b: c} # d\nimage: 'web:1'\t\nlist: [x,\n  web:2,\t\n y]\n---\nimage: \"web:3\"\t\n", true)
	f.Add("x:\n- é: web:1\t\n  # c\n- |\n  web:1\t\n", false)
	f.Fuzz(func(t *testing.T, text string, crlf bool) {
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		text = strings.ReplaceAll(text, "\t", ` # {"$imagepolicy": "shop:web"}`)
		file := marker.Read("a.yaml", []byte(text))
		data, changed, err := file.Write(map[marker.Policy]marker.Image{web: next})
		if err != nil {
			return // nothing is written
		}
		before, after := strings.Split(text, "\n"), strings.Split(string(data), "\n")
		if len(before) != len(after) {
			t.Fatalf("there were %d lines, and now are %d", len(before), len(after))
		}
		for _, m := range file.Markers {
			if at := m.Pos.Line - 1; isWritten(before[at], m.Value, after[at]) {
				before[at] = after[at]
			} else {
				t.Fatalf("line %d\n%q\nbecame\n%q", m.Pos.Line, before[at], after[at])
			}
		}
		if !slices.Equal(before, after) {
			t.Fatalf("the text\n%q\nbecame\n%q", text, data)
		}
		if again := marker.Read("a.yaml", data); len(again.Markers) != len(file.Markers) || changed != !bytes.Equal(data, []byte(text)) {
			t.Fatalf("there were %d markers, and now are %d", len(file.Markers), len(again.Markers))
		}
	})
}

// isWritten reports whether a line became another one by its value becoming next, with quotes or without.
func isWritten(line, value, now string) bool {
	for _, q := range []string{"", "'", `"`} {
		for at := range line {
			rest, is := strings.CutPrefix(line[at:], q+value+q)
			for _, by := range []string{q, `"`} {
				if is && line[:at]+by+next.String()+by+rest == now {
					return true
				}
			}
		}
	}
	return false
}
