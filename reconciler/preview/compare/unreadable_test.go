package compare

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatCannotBeReadIsAnError: no change is left out because a file of a branch cannot be read, and the error names the file.
func TestWhatCannotBeReadIsAnError(t *testing.T) {
	lost := func(files.ID) ([]byte, error) { return nil, errors.New("the object is lost") }
	path := tree.Path(app)
	good, other := twin.File([]byte(manifest("one"))), twin.File([]byte(manifest("two")))
	missing := files.FileEntry("", files.StoredBlob(files.NewBlob([]byte("elsewhere")).ID(), lost))
	// A manifest of two objects, and one that says its name and is cut off.
	two, cut := twin.File([]byte(manifest("one")+"---\n"+manifest("two"))), twin.File([]byte(strings.Replace(manifest("one"), "v: one", "v: [", 1)))
	const services = tree.ServicesFile
	held := func(at string, e files.Entry) *plan.Plan {
		all := twin.Tree{"README": twin.File(nil)}
		if at != "" {
			all[at] = e
		}
		return &plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Tree: all.Folder()}}}
	}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		twins      Twins
		want       string
	}{
		{"both can be read", held(path, good), held(path, other), Twins{}, ""},
		{"what comes", held("", missing), held(path, missing), Twins{}, path + ": the object is lost"},
		{"what goes", held(path, missing), held("", missing), Twins{}, path + ": the object is lost"},
		{"what it was", held(path, missing), held(path, good), Twins{}, path + ": the object is lost"},
		{"what it is", held(path, good), held(path, missing), Twins{}, path + ": the object is lost"},
		{"what it is for the twin", held(path, good), held(path, other), Twins{Base: held(path, good), Head: held(path, missing)}, path + ": the object is lost"},
		{"what it was for the twin", held(path, good), held(path, other), Twins{Base: held(path, missing), Head: held(path, good)}, path + ": the object is lost"},
		{"two objects", held("", missing), held(path, two), Twins{}, path + ": it holds 2 objects"},
		{"half an object", held(path, good), held(path, cut), Twins{}, path},
		{"half an object that was", held(path, cut), held(path, good), Twins{}, path},
		{"services that come", held("", missing), held(services, missing), Twins{}, services + ": the object is lost"},
		{"services that go", held(services, missing), held("", missing), Twins{}, services + ": the object is lost"},
		{"services in another language", held("", missing), held(services, twin.File([]byte("[}"))), Twins{}, services},
	} {
		_, err := Plans(tt.base, tt.head, Scope{}, tt.twins)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: the error is %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestWhichSecretsAnObjectHolds: those that it was rendered with in either plan.
func TestWhichSecretsAnObjectHolds(t *testing.T) {
	of := func(secrets ...string) *plan.Plan {
		o := one(t, "app.yaml", manifest("one")).RenderedWith(secrets)
		return &plan.Plan{Decisions: []plan.Decision{{Template: &template.Template{Variant: template.Variant{Object: o}}}}}
	}
	c := comparer{base: of("hunter2"), head: of("hunter3")}
	for range 2 {
		if got := strings.Join(c.secrets(app), " "); got != "hunter2 hunter3" {
			t.Errorf("the secrets are %q", got)
		}
	}
	if got := c.secrets(object.Ref{Kind: "ConfigMap", Name: "app"}); got != nil {
		t.Errorf("another object has the secrets %q", got)
	}
}
