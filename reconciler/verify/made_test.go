package verify_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/test/twin"
)

// verifies requires that what is published is what its commits name.
func (s *site) verifies(what ...string) {
	s.Helper()
	for _, one := range what {
		if v, err := s.verify(one, "v1"); err != nil || !v.Same {
			s.Errorf("%s: %+v, %v", one, v, err)
		}
	}
}

// observes records what was observed of a cluster, and what somebody else has it say.
func (s *site) observes(cluster string, more twin.Tree) (id string) {
	s.Helper()
	h, _, err := s.repo.Branch(s.Context(), state.Branch)
	if err != nil {
		s.Fatal(err)
	}
	seen, err := state.Observe(h.Tree, map[string]*karmada.ClusterStatus{cluster: {KubernetesVersion: "v1.35.0"}})
	if err != nil {
		s.Fatal(err)
	}
	root := twin.Of(seen)
	maps.Copy(root, more)
	return s.repo.Write(state.Branch, "observed: "+cluster+"\n\nState-Commit: "+h.Commit.String()+"\nObserved: "+cluster+"\n", root.Folder()).String()
}

// What comes along to another address verifies there, with what others had put beside it: what goes on, and what is not registered any more.
func TestWhatCameAlongVerifies(t *testing.T) {
	s := newSite(t)
	h, _, err := s.repo.Branch(t.Context(), eu)
	if err != nil {
		t.Fatal(err)
	}
	root := twin.Of(h.Tree)
	root["README"] = twin.File([]byte("of others\n"))
	s.repo.Write(eu, "by hand", root.Folder())
	s.publish("second")
	s.verifies("eu", "us", state.Branch)
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	s.source["clusters.yaml"] = twin.File([]byte(strings.Replace(clusters, "metadata: {name: us}\nspec: {syncMode: Push}", "metadata: {name: ap}\nspec: {syncMode: Push}", 1)))
	s.publish("third")
	v, err := s.verify(shared, "v1")
	if err != nil || !v.Same || !slices.Equal(v.Folders, []string{"ap", "eu", "us"}) {
		t.Errorf("%+v, %v", v, err)
	}
	s.verifies(shared+":eu", shared+":us", state.Branch)
	s.publish("fourth")
	s.verifies(shared, shared+":eu", shared+":us", state.Branch)
	ids := s.commits()
	if c, _, _, err := s.chain(ids[len(ids)-1]); err != nil || !c.Same || c.State != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	s.rewrite(shared, func(m string, root twin.Tree) string { root["us/"+path] = twin.File([]byte("a: b\n")); return m })
	if v, err := s.verify(shared+":us", "v1"); err == nil && v.Same {
		t.Errorf("what came along and was edited verifies: %+v", v)
	}
}

// A branch that clusters share verifies, if its head names a cluster whose folder is gone.
func TestAFolderThatIsGone(t *testing.T) {
	s := newSite(t)
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	s.repo = twin.New("https://git.example/fleet")
	s.publish("first")
	s.rewrite(shared, func(m string, _ twin.Tree) string { return m + "Cluster: ap\n" })
	if v, err := s.verify(shared, "v1"); err != nil || !v.Same || !slices.Equal(v.Folders, []string{"eu", "us"}) {
		t.Errorf("%+v, %v", v, err)
	}
}

// What was observed of clusters is no plan: what was planned before it verifies, and after it; a commit that holds something else as well
// does not count as one.
func TestObservationsVerify(t *testing.T) {
	s := newSite(t)
	s.publish("second")
	planned := s.commits()[0]
	s.observes("eu", nil)
	s.observes("us", nil)
	if v, err := s.verify(state.Branch, "v1"); err != nil || !v.Same || v.Commit != planned {
		t.Errorf("%+v, %v", v, err)
	}
	s.verifies("eu", "us")
	s.publish("third")
	s.verifies("eu", "us", state.Branch)
	ids := s.commits()
	if c, _, _, err := s.chain(ids[len(ids)-1]); err != nil || !c.Same || c.State != 5 || c.Clusters != 6 || c.From != ids[4] || c.To != ids[0] {
		t.Errorf("of %q: %+v, %v", ids, c, err)
	}
	other := s.observes("eu", twin.Tree{"published.json": twin.File([]byte("{}"))})
	if v, err := s.verify(state.Branch, "v1"); err == nil || !strings.Contains(err.Error(), "holds something else as well") {
		t.Errorf("%+v, %v", v, err)
	}
	if c, _, _, err := s.chain(other); err != nil || c.Same || len(c.Unknown) != 1 || !strings.Contains(c.Unknown[0], "holds something else as well") {
		t.Errorf("%+v, %v", c, err)
	}
}

// Where the server takes a cluster and not the state, or the state and not a cluster, each verifies, by what was recorded before.
func TestWhatAServerTookInPart(t *testing.T) {
	broken := func(s *site, value string) {
		s.source["a.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: " + value + "\n"))
		s.repo.Write("main", value, s.source.Folder())
	}
	for _, tt := range []struct {
		name  string
		steps func(s *site, tries func(refused ...string))
	}{
		{"the state is not taken", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch)
		}},
		{"and is taken the next time", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch)
			tries()
		}},
		{"and the next version cannot be read, so that the last one stays", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch)
			broken(s, "third")
			tries()
		}},
		{"and the next version is taken", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch)
			s.writes("third")
			tries()
		}},
		{"a cluster is not taken", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(eu)
		}},
		{"a cluster is not taken, and the next version cannot be read", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(eu)
			broken(s, "third")
			tries()
		}},
		{"the state is not taken, and something is observed", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch)
			s.observes("eu", nil)
		}},
		{"neither state nor one of the clusters is taken, and then the next version is", func(s *site, tries func(...string)) {
			s.writes("second")
			tries(state.Branch, eu)
			s.writes("third")
			tries(eu)
			s.observes("eu", nil)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			tt.steps(s, func(refused ...string) {
				s.repo.Refuse(refused...)
				if _, err := s.by("v1").Publish(t.Context(), "main"); (err != nil) != (len(refused) > 0) {
					t.Fatalf("refused %q, it is published: %v", refused, err)
				}
				s.repo.Refuse()
			})
			s.verifies("eu", "us", state.Branch)
		})
	}
}

// writes is a version of the source.
func (s *site) writes(value string) {
	s.source["a.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: " + value + "}\n"))
	s.repo.Write("main", value, s.source.Folder())
}

// From what cannot be read, nothing can be rebuilt: of the state before, and of the one that was recorded with it.
func TestAStateThatCannotBeRead(t *testing.T) {
	s := newSite(t)
	s.rewrite(state.Branch, func(m string, root twin.Tree) string {
		root["bindings/shop/a-configmap.yaml"] = twin.File([]byte("spec: ["))
		return m
	})
	for _, what := range []string{"eu", state.Branch} {
		if v, err := s.verify(what, "v1"); err == nil || !strings.Contains(err.Error(), "what was recorded with it cannot be read: bindings/shop/a-configmap.yaml of commit ") {
			t.Errorf("%s, which was recorded with it: %+v, %v", what, v, err)
		}
	}
	s.publish("second")
	if v, err := s.verify(state.Branch, "v1"); err == nil || !strings.Contains(err.Error(), "bindings/shop/a-configmap.yaml of commit ") ||
		strings.Contains(err.Error(), "recorded with it") {
		t.Errorf("what came after it: %+v, %v", v, err)
	}
}

// A commit says which folder of the source it is of: the one that is followed now does not matter, nor which version of Waybill asks.
func TestWhatACommitSaysOfItsSourceCounts(t *testing.T) {
	s := inStages(t)
	r := s.by("v1")
	r.Subdir = "elsewhere"
	if v, err := verify.New(r.Planner(), r.Published(), "v1").Verify(t.Context(), "eu"); err != nil || !v.Same {
		t.Errorf("another folder is followed: %+v, %v", v, err)
	}
	if v, err := s.verify(state.Branch, "v2"); err != nil || !v.Same {
		t.Errorf("another version asks: %+v, %v", v, err)
	}
}

// A chain of a fleet in which nothing goes out in stages is its newest commit, and one that is ended in between says so.
func TestAChainWithoutRuns(t *testing.T) {
	s := newSite(t)
	s.publish("second")
	c, told, _, err := s.chain("")
	if ids := s.commits(); err != nil || !c.Same || told != 1 || c.From != ids[0] || c.To != ids[0] {
		t.Errorf("%+v, told of %d, %v", c, told, err)
	}
	h, _, err := s.repo.Branch(t.Context(), eu)
	if err != nil {
		t.Fatal(err)
	}
	s.repo.Write(eu, "by hand", h.Tree)
	ids := s.commits()
	if c, _, _, err := s.chain(ids[1]); err != nil || !c.Same || c.Clusters != 4 {
		t.Errorf("with a commit by hand: %+v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := s.by("v1")
	c, err = verify.New(r.Planner(), r.Published(), "v1").Chain(ctx, state.Branch, ids[1], func(int) func() { return cancel })
	if !errors.Is(err, context.Canceled) || c.Same || c.State > 2 {
		t.Errorf("ended in between: %+v, %v", c, err)
	}
}

// What depends on a random key verifies where that key is, and nowhere else.
func TestWhatDependsOnARandomKey(t *testing.T) {
	s := newSite(t)
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEF"))
	if err != nil {
		t.Fatal(err)
	}
	s.rewrite(eu, func(m string, _ twin.Tree) string { return m + "Random-Key: " + key.Fingerprint() + "\n" })
	r := s.by("v1")
	r.Random.Key = key
	if v, err := verify.New(r.Planner(), r.Published(), "v1").Verify(t.Context(), "eu"); err != nil || !v.Same {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := s.verify("eu", "v1"); err == nil || !strings.Contains(err.Error(), "it depends on the random key "+key.Fingerprint()) {
		t.Errorf("without the key: %+v, %v", v, err)
	}
}
