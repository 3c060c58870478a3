package tree

import (
	"fmt"
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
