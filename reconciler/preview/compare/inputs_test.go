package compare

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

func TestWhichFilesOfARootWereEdited(t *testing.T) {
	const root = "apps/kustomization.yaml"
	of := func(files ...string) map[string][]built.File { // each as path=digest
		all := map[string][]built.File{}
		for _, f := range files {
			path, digest, _ := strings.Cut(f, "=")
			all[root] = append(all[root], built.File{Path: path, Digest: digest})
		}
		return all
	}
	at := func(file string) *object.Object {
		return one(t, file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n").At(diag.Pos{File: root, Line: 1}).Written(diag.Pos{File: file, Line: 3})
	}
	for _, tt := range []struct {
		name       string
		base, head map[string][]built.File
		want       string
	}{
		{"a shared file", of("a.yaml=1", "size.yaml=1"), of("a.yaml=1", "size.yaml=2"), "changed (size.yaml)"},
		{"its own file", of("a.yaml=1", "size.yaml=1"), of("a.yaml=2", "size.yaml=1"), "changed (a.yaml:3)"},
		{"its own file and a shared one", of("a.yaml=1", "size.yaml=1"), of("a.yaml=2", "size.yaml=2"), "changed (a.yaml:3)"},
		{"a shared file and that of another object", of("a.yaml=1", "b.yaml=1", "size.yaml=1"), of("a.yaml=1", "b.yaml=2", "size.yaml=2"), "changed (size.yaml)"},
		{"a shared file that is new", of("a.yaml=1", root+"=1"), of("a.yaml=1", root+"=2", "size.yaml=1"), "changed (" + root + "); changed (size.yaml)"},
		{"more than are named", of("a.yaml=1"), of("a.yaml=1", "1=1", "2=1", "3=1", "4=1"), "changed (1); changed (2); changed (3)"},
		{"nothing that is known", of("a.yaml=1", "size.yaml=1"), of("a.yaml=1", "size.yaml="), "changed (a.yaml:3)"},
		{"a root that was not there", nil, of("a.yaml=1", "size.yaml=1"), "changed (a.yaml:3)"},
		{"a root that was not there, in which it is not", nil, of("size.yaml=1"), "changed (a.yaml:3)"},
		{"a new file of which nothing is known", of("a.yaml=1"), of("a.yaml=1", "size.yaml="), "changed (size.yaml)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInputs(&plan.Plan{Source: render.Source{Built: tt.base}}, &plan.Plan{Source: render.Source{Built: tt.head, Objects: []*object.Object{at("a.yaml"), at("b.yaml")}}})
			var all []string
			for _, cause := range in.edited(at("a.yaml")) {
				all = append(all, cause.String())
			}
			if got := strings.Join(all, "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
