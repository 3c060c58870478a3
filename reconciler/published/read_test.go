package published

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsReadIsOfThisSource: no branch counts that another source published, be it of a cluster, of the state, or one that clusters
// share; that a person committed to it since changes nothing about that.
func TestWhatIsReadIsOfThisSource(t *testing.T) {
	const here, elsewhere = "https://git.example/fleet", "https://git.example/other"
	const cluster, shared = "waybill/cluster/eu", "waybill/clusters"
	theirs := files.Sum("commit", []byte("theirs")).String()
	published := func(repository string) string { return message(repository, "", theirs) + "Cluster: eu\n" }
	for _, tt := range []struct {
		name, branch string
		messages     []string // of commits, the newest last
		ours         bool
	}{
		{"a cluster's", cluster, []string{published(here)}, true},
		{"a cluster's, of another source", cluster, []string{published(elsewhere)}, false},
		{"the state", state.Branch, []string{published(here)}, true},
		{"the state, of another source", state.Branch, []string{published(elsewhere)}, false},
		{"shared", shared, []string{published(here)}, true},
		{"shared, of another source", shared, []string{published(elsewhere)}, false},
		{"shared, and a person's", shared, []string{published(here), "by hand"}, true},
		{"shared, of another source, and a person's", shared, []string{published(elsewhere), "by hand"}, false},
		{"shared, of another source, and two of a person's", shared, []string{published(elsewhere), "by hand", "by hand"}, false},
		{"shared, a person's only", shared, []string{"by hand"}, true},
	} {
		repo, config := twin.New("branches"), render.DefaultConfig()
		if tt.branch == shared {
			config.Publish.Layout, config.Publish.Branch = render.LayoutFolders, shared
		}
		for _, m := range tt.messages {
			repo.Write(tt.branch, m, twin.Tree{}.Folder())
		}
		r := &Reader{Branches: At(repo), Source: twin.New(here)}
		heads, err := repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Content(t.Context(), heads, Asked{
			Revision: sources.Revision{Repo: here}, Publish: &config.Publish, Clusters: func() []*karmada.Cluster { return nil },
		})
		if _, other := errors.AsType[*OtherSourceError](err); other == tt.ours || err != nil && !other {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
