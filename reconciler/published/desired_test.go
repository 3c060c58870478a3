package published

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsDesired is what the state says: whose it is, which clusters are registered and where they are; the rest is what the config
// says, of the source for who has one, and else of the state.
func TestWhatIsDesired(t *testing.T) {
	const window = `{"branchPrefix": "fleet/", "formerly": ["https://git.example/old prod"], "apply": {"serviceAccountName": "deployer", "syncWindows": [{"kind": "deny", "schedule": "* * * * *", "duration": "1h"}]}, "guard": {"maxRemoved": 7}}`
	const config = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  publish: {branchPrefix: fleet/, formerly: [https://git.example/older]}\n  apply: {serviceAccountName: by-config}\n"
	repo, source := twin.New("branches"), twin.New(here)
	source.Write("main", "config", twin.Tree{"waybill.yaml": twin.File([]byte(config))}.Folder())
	allowed, key := signed(t)
	root := twin.Tree{"format": twin.File([]byte("2\n"))}
	for path, text := range map[string]string{
		"apply.json": window, "clusters/eu.yaml": "kind: Cluster\nmetadata: {name: eu}\n", "clusters/us.yaml": "kind: Cluster\nmetadata: {name: us}\n",
		"health.json":         `{"configMap": "argocd/argocd-cm", "scripts": {"example.com/Widget": "return {status = 'Degraded'}"}}`,
		"interpreters/a.yaml": "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: a}\n",
	} {
		root[path] = twin.File([]byte(text))
	}
	repo.Sign = key.SignCommit
	head := repo.Write(state.Branch, message(here, "prod", "c1"), root.Folder())
	for _, tt := range []struct {
		name    string
		edit    func(*Reader)
		owner   string
		former  string
		account string
		state   files.ID
	}{
		{"for an agent", func(*Reader) {}, "git.example/fleet prod", "git.example/old prod", "deployer", files.ID{}},
		{"for an agent that asks for signatures", func(r *Reader) { r.Signers = allowed }, "git.example/fleet prod", "git.example/old prod", "deployer", head},
		{"for a controller", func(r *Reader) { r.Source, r.TakeOver = source, true }, "git.example/fleet", "git.example/older", "by-config", files.ID{}},
		{"for a controller that asks for signatures", func(r *Reader) { r.Source, r.TakeOver, r.Signers = source, true, allowed }, "git.example/fleet", "git.example/older", "by-config", files.ID{}},
	} {
		r := &Reader{Branches: At(repo)}
		tt.edit(r)
		d, err := r.Desired(t.Context(), "main", files.ID{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var names []string
		for _, c := range d.Clusters {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, []string{"eu", "us"}) || d.Address("eu").String() != "fleet/eu" || d.Head != head || d.State != tt.state {
			t.Errorf("%s: clusters are %v, one of them at %s, by %v and %v", tt.name, names, d.Address("eu"), d.Head, d.State)
		}
		if got := d.FormerOwners("eu"); d.Owner("eu") != tt.owner || !slices.Equal(got, []string{tt.former}) || d.Apply.ServiceAccountName != tt.account {
			t.Errorf("%s: it is of %q, was of %v, and is applied as %q", tt.name, d.Owner("eu"), got, d.Apply.ServiceAccountName)
		}
		if isAgent := r.Source == nil; (d.Guard.MaxRemoved == 7) != isAgent {
			t.Errorf("%s: the guard is %+v", tt.name, d.Guard)
		}
		widget := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}}
		if got := d.Judge.Of(widget, health.Moment{}); got.State != karmada.ResourceUnhealthy {
			t.Errorf("%s: by the script of the state it is %+v", tt.name, got)
		}
		everyFailure(t, tt.name, repo, func(c *counting) error {
			r := *r
			r.Branches = At(c)
			_, err := r.Desired(t.Context(), "main", files.ID{})
			return err
		})
	}
}

// TestWhatIsNotDesired: a state that is not there, that another source or nobody who may wrote, that was set back, or that cannot be read is
// an error and no empty fleet.
func TestWhatIsNotDesired(t *testing.T) {
	allowed, _ := signed(t)
	for _, tt := range []struct {
		name    string
		content map[string]string // of the state; nil: there is none
		edit    func(r *Reader, repo *twin.Repo)
		want    string
	}{
		{"no state", nil, nil, "waybill publish comes first"},
		{"a state that nobody signed", map[string]string{}, func(r *Reader, _ *twin.Repo) { r.Signers = allowed }, "does not count"},
		{"one of another source", map[string]string{}, func(r *Reader, _ *twin.Repo) { r.Source = sourceWith(t, "https://git.example/other", "") }, "was published from " + here},
		{"no such revision of the source", map[string]string{}, func(r *Reader, _ *twin.Repo) { r.Source = twin.New(here) }, "reading the source"},
		{"a config with a mistake", map[string]string{}, func(r *Reader, _ *twin.Repo) { r.Source = sourceWith(t, here, "kind: Config\nspec: {unknown: 1}\n") }, "waybill.yaml"},
		{"terms", map[string]string{"apply.json": "{"}, nil, "apply.json"},
		{"terms, for a controller", map[string]string{"apply.json": "{"}, func(r *Reader, _ *twin.Repo) { r.Source = sourceWith(t, here, "") }, "apply.json"},
		{"windows", map[string]string{"apply.json": `{"apply": {"syncWindows": [{"kind": "deny", "schedule": "never", "duration": "1h"}]}}`}, nil, "waybill.yaml: "},
		{"a cluster", map[string]string{"clusters/eu.yaml": "a: ["}, nil, "clusters/eu.yaml"},
		{"who waits", map[string]string{"descheduler.json": "{"}, nil, "descheduler.json"},
		{"books", map[string]string{"booked.json": "{"}, nil, "booked.json"},
		{"customizations", map[string]string{"interpreters/a.yaml": "a: ["}, nil, "interpreters/a.yaml"},
		{"health scripts", map[string]string{"health.json": "{"}, nil, "health.json"},
	} {
		repo := twin.New("branches")
		if tt.content != nil {
			root := twin.Tree{"format": twin.File([]byte("2\n"))}
			for path, text := range tt.content {
				root[path] = twin.File([]byte(text))
			}
			repo.Write(state.Branch, publication("c1"), root.Folder())
		}
		r := &Reader{Branches: At(repo)}
		if tt.edit != nil {
			tt.edit(r, repo)
		}
		if _, err := r.Desired(t.Context(), "main", files.ID{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	repo := twin.New("branches")
	first := states(t, repo, "c1", "")
	second := states(t, repo, "c2", "")
	before := twin.New("branches")
	states(t, before, "c1", "")
	repo.SetBack(before)
	for name, tt := range map[string]struct {
		edit func(*Reader)
		last files.ID
		want bool
	}{
		"the one that counted":                        {nil, first, true},
		"one from before it":                          {nil, second, false},
		"one from before it, where a person says so":  {func(r *Reader) { r.Rollback = true }, second, true},
		"one from before it, where there is a source": {func(r *Reader) { r.Source = sourceWith(t, here, "") }, second, true},
	} {
		r := &Reader{Branches: At(repo)}
		if tt.edit != nil {
			tt.edit(r)
		}
		_, err := r.Desired(t.Context(), "main", tt.last)
		if _, refused := errors.AsType[*ancestry.RefusedError](err); (err == nil) != tt.want || refused == tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sourceWith is a source that has a config.
func sourceWith(tb testing.TB, name, config string) *twin.Repo {
	tb.Helper()
	source := twin.New(name)
	root := twin.Tree{"README": twin.File(nil)}
	if config != "" {
		root["waybill.yaml"] = twin.File([]byte(config))
	}
	source.Write("main", "config", root.Folder())
	return source
}

// TestWhetherAStateGoesOnIsAsked of the repository: where it does not answer, nothing is taken to go on, nor refused for good; where it
// does not have what counted, that is lost, and counts where nothing is signed.
func TestWhetherAStateGoesOnIsAsked(t *testing.T) {
	repo := twin.New("branches")
	first := states(t, repo, "c1", "")
	second := states(t, repo, "c2", "")
	allowed, _ := signed(t)
	for _, signers := range []signing.Signers{{}, allowed} {
		everyFailure(t, "back", repo, func(c *counting) error {
			err := (&Reader{Branches: At(c), Signers: signers}).GoesOn(t.Context(), first, second)
			if _, refused := errors.AsType[*ancestry.RefusedError](err); refused && c.n < c.fails {
				return nil
			}
			return err
		})
		err := (&Reader{Branches: At(lossy{repo}), Signers: signers}).GoesOn(t.Context(), first, second)
		if _, refused := errors.AsType[*ancestry.RefusedError](err); refused == signers.IsZero() || (err == nil) != signers.IsZero() {
			t.Errorf("where what counted is lost, signed %v: %v", !signers.IsZero(), err)
		}
	}
}

// lossy is a repository that lost a commit.
type lossy struct{ *twin.Repo }

// IsAncestor implements Repository.
func (lossy) IsAncestor(context.Context, files.ID, files.ID) (bool, error) {
	return false, git.ErrMissing
}

// TestADesiredStateGoesOn with other heads of branches, which say where a cluster is; the one it was made of stays as it was.
func TestADesiredStateAtOtherHeads(t *testing.T) {
	repo := twin.New("branches")
	repo.Write(euAt, publication("c1", "Cluster: eu"), held{"web": "1"}.root(t))
	in := desired(t, repo, (&state.Terms{BranchPrefix: "waybill/cluster/"}).Addresses())
	was, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repo.Write(euAt, publication("c2", "Cluster: eu"), held{"web": "2"}.root(t))
	is, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{Branches: At(repo)}
	for name, tt := range map[string]struct {
		in   *Desired
		want files.ID
	}{"now": {in.At(is), is[euAt]}, "then": {in, was[euAt]}} {
		d, err := r.WithoutObjects(t.Context(), tt.in, "eu")
		if err != nil || d.Head != tt.want {
			t.Errorf("%s: the head is %v, %v", name, d.Head, err)
		}
	}
	if diff := cmp.Diff(was, in.heads); diff != "" {
		t.Errorf("it changed (-was +is):\n%s", diff)
	}
}
