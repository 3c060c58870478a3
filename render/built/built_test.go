package built_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// edited is a snapshot of which no store knows some files, and one cannot be read.
type edited struct {
	twin.Texts

	unknown []string
	lost    string
	read    *int
}

func (e edited) Files() []sources.File {
	all := e.Texts.Files()
	for i, f := range all {
		if slices.Contains(e.unknown, f.Path) {
			all[i].Digest = ""
		}
	}
	return all
}

func (e edited) ReadFile(name string) ([]byte, error) {
	*e.read++
	if name == e.lost {
		return nil, errors.New("it is not here")
	}
	return e.Texts.ReadFile(name)
}

// TestWhatARootIsBuiltFrom: its kustomization, what that uses, and what kustomizations among that use, each with the id of its content.
func TestWhatARootIsBuiltFrom(t *testing.T) {
	texts := twin.Texts{
		"app/kustomization.yaml": "a", "app/patch.yaml": "p", "base/kustomization.yaml": "b", "base/cm.yaml": "c", "other/kustomization.yaml": "o", "other/x.yaml": "x",
	}
	reads := 0
	s := edited{Texts: texts, unknown: []string{"app/patch.yaml", "base/cm.yaml", "other/x.yaml"}, lost: "base/cm.yaml", read: &reads}
	kustomizations := map[string]string{"app": "app/kustomization.yaml", "base": "base/kustomization.yaml", "other": "other/kustomization.yaml"}
	uses := map[string][]string{"app": {"base", "app/patch.yaml", "app/none.yaml"}, "base": {"base/cm.yaml", "app"}, "other": {"other/x.yaml"}}
	id := func(text string) string { return files.NewBlob([]byte(text)).ID().String() }
	app := []built.File{{Path: "app/kustomization.yaml", Digest: id("a")}, {Path: "app/patch.yaml", Digest: id("p")}, {Path: "base/cm.yaml"}, {Path: "base/kustomization.yaml", Digest: id("b")}}
	want := map[string][]built.File{"app/kustomization.yaml": app}
	if diff := cmp.Diff(want, built.From([]string{"app"}, s, kustomizations, uses)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	reads = 0
	both := built.From([]string{"app", "base"}, s, kustomizations, uses)
	if diff := cmp.Diff(app, both["base/kustomization.yaml"]); diff != "" || len(both) != 2 {
		t.Errorf("the other one, which uses the first (-want +got):\n%s", diff)
	}
	if reads > 3 { // what can be read is read once; nobody asks for what no root uses
		t.Errorf("files were read %d times", reads)
	}
	if got := built.From(nil, s, kustomizations, uses); got != nil {
		t.Errorf("of no root it is %v", got)
	}
}

// TestReach follows paths in whatever spelling, once, and round a circle.
func TestReach(t *testing.T) {
	to := map[string][]string{"a": {"./b/", "a/../c"}, "b": {"a"}, "c": {"."}, "": {"d"}}
	asked := map[string]int{}
	next := func(p string) []string {
		asked[p]++
		return to[p]
	}
	got := slices.Sorted(maps.Keys(built.Reach(next, "a", "e/")))
	if diff := cmp.Diff([]string{"", "a", "b", "c", "d", "e"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for p, n := range asked {
		if n != 1 {
			t.Errorf("%q was asked %d times", p, n)
		}
	}
	if got := built.Reach(next); len(got) != 0 {
		t.Errorf("from nowhere it is %v", got)
	}
}
