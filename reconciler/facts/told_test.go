package facts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// tale is a fleet of which several versions are published.
type tale struct {
	*testing.T

	repo   *twin.Repo
	r      *reconciler.Reconciler
	source twin.Tree
}

func newTale(t *testing.T) *tale {
	t.Helper()
	repo := twin.New("fleet")
	return &tale{t, repo, &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }, Allow: guard.AllowAll,
	}, twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}}
}

// has is a ConfigMap of the source, in clusters that a policy has, or none.
func (s *tale) has(name, in, value string) {
	s.source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop, labels: {in: %s}}\ndata: {k: %q}\n", name, in, value))
}

// publishes commits the source, and publishes it.
func (s *tale) publishes(message string) {
	s.Helper()
	s.repo.Write("main", message, s.source.Folder())
	if _, err := s.r.Publish(s.Context(), "main"); err != nil {
		s.Fatal(err)
	}
}

// read reads the facts anew.
func (s *tale) read() (*facts.Reader, *facts.Facts) {
	s.Helper()
	reader := &facts.Reader{Reconciler: s.r, Rev: "main"}
	f, err := reader.Look(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return reader, f
}

// Of a template is told by which publications something else was decided about it, and by which its manifest became another one, also in
// clusters that it left; of one that is gone, what it was last.
func TestWhatHappenedToATemplate(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	s.has("b", "all", "1")
	s.publishes("two, of another one")
	s.has("a", "eu", "1")
	s.publishes("three")
	s.has("a", "eu", "2")
	s.publishes("four")
	reader, f := s.read()
	a := f.Find("ConfigMap", "shop", "a")[0]
	if got, want := told(t, reader, f, a, 10), "eu us->eu by three, ->eu us by one; changed in eu by four, changed in eu by three, removed in us by three, added in eu us by one; more: false"; got != want {
		t.Errorf("it is told that\n%s\nwant\n%s", got, want)
	}
	if got, want := told(t, reader, f, a, 1), "eu us->eu by three; changed in eu by four; more: true"; got != want {
		t.Errorf("of the last it is told that\n%s\nwant\n%s", got, want)
	}
	s.source.Remove("a.yaml")
	s.publishes("five")
	s.has("c", "all", "1")
	s.publishes("six")
	reader, f = s.read()
	for _, ref := range []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, {Kind: "configmap", Namespace: "shop", Name: "a"}} {
		gone := facts.Gone(t.Context(), reader, f, ref)
		if gone == nil || !gone.Gone || len(gone.Targets) > 0 || gone.Policy != a.Policy || gone.Ref != a.Ref {
			t.Fatalf("%s is %+v", ref, gone)
		}
		want := "eu-> by five, eu us->eu by three, ->eu us by one; removed in eu by five, changed in eu by four, changed in eu by three, removed in us by three, added in eu us by one; more: false"
		if got := told(t, reader, f, gone, 10); got != want {
			t.Errorf("of what is gone it is told that\n%s\nwant\n%s", got, want)
		}
	}
	for _, none := range []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: "d"}, {Kind: "Secret", Namespace: "shop", Name: "a"}, {Kind: "ConfigMap", Namespace: "blog", Name: "a"}} {
		if gone := facts.Gone(t.Context(), reader, f, none); gone != nil {
			t.Errorf("%s, which never was, is %+v", none, gone)
		}
	}
}

// told is the history of a template, in short.
func told(t *testing.T, r *facts.Reader, f *facts.Facts, of *facts.Template, most int) string {
	t.Helper()
	past, err := facts.History(t.Context(), r, f, of, most)
	if err != nil {
		t.Fatal(err)
	}
	clusters := func(t *facts.Template) string {
		if t == nil {
			return ""
		}
		var names []string
		for _, target := range t.Targets {
			names = append(names, target.Cluster)
		}
		return strings.Join(names, " ")
	}
	by := func(c facts.Change, a *facts.Author) string {
		if a == nil || a.Message != c.Subject {
			t.Errorf("%s is by %+v", c.Subject, a)
		}
		return " by " + c.Subject
	}
	var steps, edits []string
	for _, step := range past.Steps {
		steps = append(steps, clusters(step.Was)+"->"+clusters(step.Is)+by(step.Change, step.Author))
	}
	for i := range past.Edits {
		e := &past.Edits[i]
		if e.Ref != of.Ref {
			t.Errorf("an edit is of %s", e.Ref)
		}
		edits = append(edits, e.Verb+" in "+strings.Join(e.Clusters, " ")+by(e.Change, e.Author))
	}
	return fmt.Sprintf("%s; %s; more: %t", strings.Join(steps, ", "), strings.Join(edits, ", "), past.More)
}

// A template whose unit goes out in stages has steps by which only the run went on.
func TestWhatHappenedToARun(t *testing.T) {
	s := newTale(t)
	s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n"))
	s.source["careful.yaml"] = twin.File([]byte("apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: careful}\n" +
		"spec:\n  stages:\n  - {name: all, labelSelector: {}, beforeStageTasks: [{type: Approval}]}\n"))
	s.has("a", "all", "1")
	s.publishes("one")
	s.has("e", "eu", "1")
	s.publishes("two, of another unit")
	s.has("a", "all", "2")
	s.publishes("three")
	reader, f := s.read()
	past, err := facts.History(t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 10)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, step := range past.Steps {
		target := func(r *rollouts.Rollout) string {
			if r == nil {
				return "none"
			}
			if r.Unit != (rollouts.Unit{Namespace: "shop", Name: "all"}) || len(r.Clusters) == 0 {
				t.Errorf("a run is %+v", r)
			}
			return map[bool]string{true: "to another commit", false: "to this commit"}[r.Status.Target.Commit != step.Change.Source]
		}
		steps = append(steps, fmt.Sprintf("%s: %s, %s", step.Change.Subject, target(step.RunWas), target(step.RunIs)))
	}
	if got, want := strings.Join(steps, "; "), "three: to another commit, to this commit; one: none, to this commit"; got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
	if past.More {
		t.Error("there are said to be more")
	}
	past, err = facts.History(t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 1)
	if err != nil || len(past.Steps) != 1 || !past.More || past.Steps[0].Change.Subject != "three" {
		t.Errorf("the last step is %+v, %v", past, err)
	}
}

// Where a branch has very many commits since a publication, it is not followed further, and that is said.
func TestABranchThatIsLong(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	s.has("a", "all", "2")
	s.publishes("two")
	h, _, err := s.repo.Branch(t.Context(), "waybill/cluster/eu")
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := s.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	for range 5_000 {
		s.repo.Write("waybill/cluster/eu", "later\n\nState-Commit: "+last.Commit.String()+"\n", h.Tree)
	}
	reader, f := s.read()
	c, _, err := reader.Find(t.Context(), f, last.Commit.String())
	if err != nil {
		t.Fatal(err)
	}
	for within, want := range map[string]string{"": "; ; ", "eu": "; ; ", "us": "us+0~1-0; changed a in us; "} {
		e, err := reader.Effect(t.Context(), f, c, within)
		if got := said(&e); err != nil || got != want || e.Cut != (within != "us") {
			t.Errorf("in %q: %q, cut: %t, %v", within, got, e.Cut, err)
		}
	}
	past, err := facts.History(t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 10)
	if err != nil || !past.More || len(past.Edits) != 2 || !slices.Equal(past.Edits[0].Clusters, []string{"us"}) {
		t.Errorf("it is told that %+v, %v", past.Edits, err)
	}
}

// A binding that cannot be read is no decision.
func TestADecisionThatCannotBeRead(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	h, _, err := s.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	root := twin.Of(h.Tree)
	root["bindings/shop/a-configmap.yaml"], root["bindings/shop/b-configmap.yaml"] = twin.File([]byte("spec: [")), twin.File([]byte("spec: ["))
	s.repo.Write(state.Branch, "x: two\n\nSource-Commit: s2\nState-Commit: "+h.Commit.String()+"\n", root.Folder())
	reader, f := s.read()
	c, _, err := reader.Find(t.Context(), f, f.Fleet.State.Commit.String())
	if err != nil {
		t.Fatal(err)
	}
	e, err := reader.Effect(t.Context(), f, c, "")
	if err != nil || len(e.Decisions) != 1 || e.Decisions[0].Ref.Name != "a" || e.Decisions[0].Was == nil || e.Decisions[0].Is != nil {
		t.Errorf("it is decided that %+v, %v", e.Decisions, err)
	}
}
