package published

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

const (
	here   = "https://git.example/fleet" // the source of these tests
	euAt   = "waybill/cluster/eu"
	usAt   = "waybill/cluster/us"
	shared = "waybill/clusters"
)

// held is what a cluster has: the value of each ConfigMap.
type held map[string]string

// built is what Waybill lays out of it.
func (h held) built(tb testing.TB) *files.Folder {
	tb.Helper()
	var list []tree.Manifest
	for _, name := range slices.Sorted(maps.Keys(h)) {
		text := "apiVersion: v1\ndata:\n  value: " + h[name] + "\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: shop\n"
		list = append(list, tree.Manifest{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, Blob: files.NewBlob([]byte(text))})
	}
	built, err := tree.NewBuilder().LayOut(list).Tree(tree.Flux{})
	if err != nil {
		tb.Fatal(err)
	}
	return built
}

// root is what stands on a branch, with files of others.
func (h held) root(tb testing.TB, foreign ...string) *files.Folder {
	tb.Helper()
	return withMetadata(tb, h.built(tb), foreign...)
}

// withMetadata is a tree as it stands on a branch, with files of others at its root.
func withMetadata(tb testing.TB, built *files.Folder, foreign ...string) *files.Folder {
	tb.Helper()
	others := map[string]files.Entry{}
	for _, path := range foreign {
		others[path] = files.FileEntry(path, files.NewBlob([]byte("of others")))
	}
	root, err := tree.WithMetadata(built, tree.Metadata{DrySHA: "c0ffee", RepoURL: here, Version: "test"}, nil, others)
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// edited is a folder in which somebody wrote a file, or removed one: an empty text.
func edited(root *files.Folder, path, text string) *files.Folder {
	t := twin.Of(root)
	if delete(t, path); text != "" {
		t[path] = twin.File([]byte(text))
	}
	return t.Folder()
}

// folders is a branch on which each cluster has a folder.
func folders(of map[string]*files.Folder) *files.Folder {
	var entries []files.Entry
	for name, f := range of {
		entries = append(entries, files.DirEntry(name, f))
	}
	return files.NewFolder(append(entries, files.FileEntry(tree.SharedFile, tree.Shared())))
}

// publication is the message of a commit that was published from commit c of this source, with more trailers.
func publication(c string, more ...string) string {
	return message(here, "", c) + strings.Join(append(more, ""), "\n")
}

// states writes the state of a publication, which has clusters published by terms; empty: by those of no config.
func states(tb testing.TB, repo *twin.Repo, c, terms string) files.ID {
	tb.Helper()
	root := twin.Tree{"format": twin.File([]byte("2\n"))}
	if terms != "" {
		root["apply.json"] = twin.File([]byte(terms))
	}
	return repo.Write(state.Branch, publication(c), root.Folder())
}

// contentOf reads what is published of clusters eu and us.
func contentOf(ctx context.Context, r *Reader, edit func(*render.Publish)) (*Content, error) {
	config := render.DefaultConfig()
	if edit != nil {
		edit(&config.Publish)
	}
	heads, err := r.Target.Heads(ctx)
	if err != nil {
		return nil, err
	}
	return r.Content(ctx, heads, Asked{
		Revision: sources.Revision{Repo: here}, Publish: &config.Publish,
		Clusters: func() []*karmada.Cluster { return []*karmada.Cluster{registered("eu"), registered("us")} },
	})
}

// inFolders has clusters share a branch.
func inFolders(p *render.Publish) { p.Layout, p.Branch = render.LayoutFolders, shared }

func registered(name string) *karmada.Cluster {
	c := new(karmada.Cluster)
	c.Name = name
	return c
}

// readerOf reads a repository, for a source.
func readerOf(repo Repository) *Reader { return &Reader{Branches: At(repo), Source: twin.New(here)} }

var errBroken = errors.New("the connection is broken")

// counting is a repository that counts what it is asked for, and fails at one of these times.
type counting struct {
	*twin.Repo

	n, fails int
	asked    []string
}

func (c *counting) ask(what string) error {
	c.asked = append(c.asked, what)
	if c.n++; c.n == c.fails {
		return errBroken
	}
	return nil
}

// Heads implements Repository.
func (c *counting) Heads(ctx context.Context) (map[string]files.ID, error) {
	if err := c.ask("heads"); err != nil {
		return nil, err
	}
	return c.Repo.Heads(ctx)
}

// Fetch implements Repository.
func (c *counting) Fetch(_ context.Context, branches ...string) error {
	slices.Sort(branches)
	return c.ask("fetch")
}

// Branch implements Repository.
func (c *counting) Branch(ctx context.Context, name string) (git.Head, bool, error) {
	if err := c.ask("branch " + name); err != nil {
		return git.Head{}, false, err
	}
	return c.Repo.Branch(ctx, name)
}

// Commit implements Repository.
func (c *counting) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := c.ask("commit"); err != nil {
		return git.Head{}, err
	}
	return c.Repo.Commit(ctx, id)
}

// Root implements Repository.
func (c *counting) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	if err := c.ask("root"); err != nil {
		return git.Head{}, nil, err
	}
	return c.Repo.Root(ctx, id)
}

// Within implements Repository.
func (c *counting) Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error) {
	if err := c.ask("within"); err != nil {
		return git.Head{}, false, err
	}
	return c.Repo.Within(ctx, id, folder)
}

// IsAncestor implements Repository.
func (c *counting) IsAncestor(ctx context.Context, a, b files.ID) (bool, error) {
	if err := c.ask("ancestor"); err != nil {
		return false, err
	}
	return c.Repo.IsAncestor(ctx, a, b)
}

// everyFailure has a repository fail once at each thing that it is asked for, and demands that whoever asks says so.
func everyFailure(t *testing.T, name string, repo *twin.Repo, ask func(*counting) error) {
	t.Helper()
	for n := 1; ; n++ {
		c := &counting{Repo: repo, fails: n}
		err := ask(c)
		if c.n < n {
			if err != nil || n < 3 {
				t.Errorf("%s: it asks %v, and then %v", name, c.asked, err)
			}
			return
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: where %s fails (%d), it says %v", name, c.asked[n-1], n, err)
		}
	}
}
