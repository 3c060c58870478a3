package posts_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/status/posts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/twin"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// board is a forge in memory: what is shown by commit.
type board map[string][]forge.Status

// Statuses implements posts.Lister.
func (b board) Statuses(_ context.Context, commit string) ([]forge.Status, error) {
	if b == nil {
		return nil, &forge.Error{Host: "forge.example", Doing: "listing statuses", Status: http.StatusNotFound}
	}
	return b[commit], nil
}

func (b board) post(commit files.ID, about string, s forge.State) {
	b[commit.String()] = append(b[commit.String()], forge.Status{Context: about, State: s, Creator: forge.User{Login: "bot"}})
}

// fleet is the repository of a cluster eu, whose files are in a folder of the branch "all" or on a branch of its own.
type fleet struct {
	*testing.T

	repo   *twin.Repo
	at     render.Addresses
	built  *files.Folder
	minute int
}

// publish has the cluster hold files, each minute.
func (f *fleet) publish(root twin.Tree) files.ID {
	f.built = root.Folder()
	branch := f.at.Of("eu").Branch
	if f.at.Shared != "" {
		root = twin.Tree{"eu": files.DirEntry("eu", f.built)}
	}
	f.minute++
	at := noon.Add(time.Duration(f.minute) * time.Minute)
	return f.repo.Write(branch, "published\n\n"+publish.TrailerTime+": "+at.Format(time.RFC3339)+"\n", root.Folder())
}

// read is what is said of the cluster since it was released in a minute.
func (f *fleet) read(b board, released int) *staged.Posted {
	f.Helper()
	heads, err := f.repo.Heads(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	r := posts.Reader{Target: f.repo, Forge: b, Now: noon.Add(time.Hour), Cache: &posts.Cache{}}
	all, err := r.Read(f.Context(), &posts.Asked{
		Clusters: map[string]time.Time{"eu": noon.Add(time.Duration(released) * time.Minute)}, Creators: []string{"bot"},
		Heads: heads, Addresses: f.at, Published: map[string]tree.Published{"eu": {Built: f.built}},
	})
	if err != nil {
		f.Fatal(err)
	}
	return all["eu"]
}

// own are addresses of which each has a branch of its own.
func own() render.Addresses {
	c := render.DefaultConfig()
	return c.Publish.Addresses()
}

func content(text string) twin.Tree { return twin.Tree{"a.yaml": twin.File([]byte(text))} }

const root = "waybill/flux/eu/waybill-eu"

// Flux says what it did at the head of a branch that clusters share, also where that changed another cluster.
func TestWhatIsSaidOnASharedBranch(t *testing.T) {
	shared := render.DefaultConfig().Publish
	shared.Layout, shared.Branch = "folders", "all"
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: shared.Addresses()}, board{}
	f.publish(content("one"))
	f.publish(content("two"))
	mine := f.repo.Write(f.at.Of("eu").Branch, "another\n\n"+publish.TrailerTime+": "+noon.Add(time.Hour).Format(time.RFC3339)+"\n",
		twin.Tree{"eu": files.DirEntry("eu", f.built), "us": files.DirEntry("us", content("x").Folder())}.Folder())
	b.post(mine, root, forge.Success)
	if p := f.read(b, 2); len(p.Said) != 1 || p.Said[0].Health != stage.Healthy {
		t.Errorf("it is said %+v", p)
	}
}

// Of a failure it is asked what was there before, further back than the release and no more than once; of nothing else.
func TestWhatWasSaidBefore(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, board{}
	first := f.publish(content("zero"))
	before := f.publish(content("one"))
	released := f.publish(content("two"))
	head := f.publish(content("three"))
	b.post(head, root, forge.Pending)
	if p := f.read(b, 3); len(p.Said) != 2 || p.Said[1].Health != stage.Progressing {
		t.Errorf("while it goes on it is said %+v", p.Said)
	}
	b.post(released, root, forge.Failure)
	b.post(before, root, forge.Success)
	b.post(first, root, forge.Failure)
	p := f.read(b, 3)
	if len(p.Said) != 3 || p.Said[1].Health != stage.Failed || p.Said[1].WasUnhealthy || !strings.Contains(p.Said[1].Message, root) {
		t.Errorf("after a failure it is said %+v", p.Said)
	}
	b.post(before, root, forge.Broken)
	if p := f.read(b, 3); !p.Said[1].WasUnhealthy {
		t.Errorf("after one that was there before it is said %+v", p.Said)
	}
}

// What was said of a commit that does not say when it was planned was said before any release: it is asked for no more than once.
func TestWhatWasSaidOfACommitWithoutATime(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, board{}
	branch := f.at.Of("eu").Branch
	for _, text := range []string{"zero", "one"} { // a publisher of before, or a person
		b.post(f.repo.Write(branch, "without a time", content(text).Folder()), root, forge.Success)
	}
	b.post(f.publish(content("two")), root, forge.Pending)
	if p := f.read(b, 1); len(p.Said) != 1 || p.Said[0].Health != stage.Progressing {
		t.Errorf("it is said %+v", p.Said)
	}
}

// All that syncs a cluster has to have success; which Kustomizations these are its branch says.
func TestWhoSyncsACluster(t *testing.T) {
	f, b := &fleet{T: t, repo: twin.New("fleet"), at: own()}, board{}
	head := f.publish(twin.Tree{"flux/team/kustomization.yaml": twin.File([]byte("kind: Kustomization\n")), "flux/shop/kustomization.yaml": twin.File([]byte("kind: Kustomization\n"))})
	b.post(head, "waybill/flux/eu/waybill-eu-team", forge.Success)
	if p := f.read(b, 1); p.Said[0].Health != stage.Progressing || !strings.Contains(p.Said[0].Message, "waybill-eu-shop") || p.Said[0].LeastWait == 0 || p.Said[0].LeastSettle == 0 {
		t.Errorf("of one of two it is said %+v", p.Said)
	}
	b.post(head, "waybill/flux/eu/waybill-eu-shop", forge.Success)
	if p := f.read(b, 1); p.Said[0].Health != stage.Healthy {
		t.Errorf("of both it is said %+v", p.Said)
	}
	next := f.publish(content("one"))
	b.post(next, "waybill/argocd/eu/waybill-eu", forge.Success)
	if p := f.read(b, 2); p.Said[0].Health != stage.Healthy || p.Said[0].LeastWait+p.Said[0].LeastSettle != 0 {
		t.Errorf("of Argo CD it is said %+v", p.Said)
	}
}

// A forge that does not know the commits is another repository's.
func TestAForgeOfAnotherRepository(t *testing.T) {
	f := &fleet{T: t, repo: twin.New("fleet"), at: own()}
	f.publish(content("one"))
	if p := f.read(nil, 1); len(p.Said) != 0 || !strings.Contains(p.Failed, "is it the repository that is published to?") {
		t.Errorf("it is said %+v", p)
	}
}
