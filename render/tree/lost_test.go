package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestLost(t *testing.T) {
	build := func(names string) *files.Folder {
		t.Helper()
		var ms []Manifest
		for name := range strings.FieldsSeq(names) {
			name, label, _ := strings.Cut(name, "=")
			o := object.Decode("x.yaml", fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a, labels: {keep: %q}}\n", name, label)).Objects[0]
			ms = append(ms, Manifest{Ref: o.Ref(), Blob: files.NewBlob(o.YAML())})
		}
		f, err := NewBuilder().LayOut(ms).Tree(Flux{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, tt := range []struct{ before, next, lost, labelled string }{
		{"a b", "a b", "", ""},
		{"a b", "a c", "b", ""},
		{"a=no b=yes c=yes d=yes", "c=yes", "a b d", "b d"},
		{"a=yes", "a=no", "", ""},
	} {
		p := Published{Built: build(tt.before)}
		l, err := p.Lost(build(tt.next), "keep", "yes")
		if err != nil {
			t.Fatal(err)
		}
		named := func(refs []object.Ref) string {
			var all []string
			for _, r := range refs {
				all = append(all, r.Name)
			}
			return strings.Join(all, " ")
		}
		if named(l.Refs) != tt.lost || named(l.Labelled) != tt.labelled || l.Before != len(strings.Fields(tt.before)) {
			t.Errorf("from %s to %s there is lost %v, with the label %v, of %d", tt.before, tt.next, l.Refs, l.Labelled, l.Before)
		}
	}
}

// TestWhatIsLostIsInTheOrderOfNames, not in that of files; what is beside the manifests is no object.
func TestWhatIsLostIsInTheOrderOfNames(t *testing.T) {
	var ms []Manifest
	var want []string
	for _, written := range []string{ // its file sorts in another place than its name
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: Shop}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: bank, annotations: {note: keep}}\n",
	} {
		o := object.Decode("x.yaml", []byte(written)).Objects[0]
		ms = append(ms, Manifest{Ref: o.Ref(), Blob: files.NewBlob(o.YAML())})
	}
	slices.SortFunc(ms, func(a, b Manifest) int { return a.Ref.Compare(b.Ref) })
	for _, m := range ms {
		want = append(want, m.Ref.String())
	}
	built, err := NewBuilder().LayOut(ms).Tree(Flux{})
	if err != nil {
		t.Fatal(err)
	}
	built = Overlay(built, map[string]files.Entry{ServicesFile: files.FileEntry(ServicesFile, files.NewBlob([]byte("{}\n")))})
	l, err := (&Published{Built: built}).Lost(files.NewFolder(nil), "keep", "yes")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range l.Refs {
		got = append(got, r.String())
	}
	if !slices.Equal(got, want) || l.Before != len(want) || len(l.Labelled) > 0 {
		t.Errorf("of %d there is lost %q, want %q; labelled are %v", l.Before, got, want, l.Labelled)
	}
}
