package reconciler_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// partial is a server that takes the branches of clusters, and loses the state.
type partial struct{ *twin.Repo }

func (p partial) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	isState := func(u git.Update) bool { return u.Branch == state.Branch }
	_, err := p.Repo.Publish(ctx, slices.DeleteFunc(slices.Clone(updates), isState))
	return nil, errors.Join(err, errors.New("the server went away"))
}

// TestWhatTheStateDoesNotKnow of clusters is what whoever published died after: which commits that are, and what the state knows of each.
// A cluster that has what the state knows is none of them, though it shares the branch.
func TestWhatTheStateDoesNotKnow(t *testing.T) {
	for name, layout := range map[string]string{"branches": "branches", "folders": render.LayoutFolders} {
		f := newFolders(t)
		f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: "+layout+"}}\n")
		config := render.DefaultConfig()
		config.Publish.Layout = layout
		content := func() *published.Content {
			t.Helper()
			heads, err := f.repo.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			is, err := f.reconciler().Published().Content(t.Context(), heads, published.Asked{
				Revision: sources.Revision{Repo: f.repo.Name()}, Publish: &config.Publish, Clusters: func() []*karmada.Cluster { return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		f.published()
		known := content()
		if len(known.Unrecorded) > 0 || len(known.Ahead) > 0 {
			t.Errorf("%s: when all is published not known are %v, and ahead is %v", name, known.Unrecorded, known.Ahead)
		}
		f.target = partial{f.repo}
		for times := 1; times <= 2; times++ {
			f.object("eu", []string{"", "second", "third"}[times])
			if err := f.publish(); err == nil {
				t.Fatal("nobody died")
			}
			is := content()
			u := is.Unrecorded["eu"]
			if got := slices.Sorted(maps.Keys(is.Unrecorded)); !slices.Equal(got, []string{"eu"}) || len(is.Ahead) == 0 {
				t.Fatalf("%s: after %d that died not known are %v, and ahead is %v", name, times, got, is.Ahead)
			}
			if u.Known.ID() != known.Clusters["eu"].Built.ID() || len(u.Commits) != times || u.Commits[0] != is.Heads.Clusters["eu"] {
				t.Errorf("%s: after %d that died of eu it knows %v, and on top are %v", name, times, u.Known, u.Commits)
			}
		}
		f.target = f.repo
		f.published()
		if is := content(); len(is.Unrecorded) > 0 || len(is.Ahead) > 0 {
			t.Errorf("%s: when that is published not known are %v, and ahead is %v", name, is.Unrecorded, is.Ahead)
		}
	}
}
