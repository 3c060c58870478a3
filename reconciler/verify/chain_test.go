package verify_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

const (
	staged = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: first, labelSelector: {matchExpressions: [{key: ring, operator: Exists}]}, beforeStageTasks: [{type: Approval}]}
  - {name: second, labelSelector: {matchExpressions: [{key: ring, operator: DoesNotExist}]}}
`
	web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:1}]}}
`
	usRecord = "rollouts/shop/all/second.yaml"
)

// inStages is a site in which the run of a second version is open, and one of a third took its place: four publications.
func inStages(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n"))
	s.source["clusters.yaml"] = twin.File([]byte(strings.Replace(clusters, "{name: eu}", "{name: eu, labels: {ring: a}}", 1)))
	s.source["careful.yaml"] = twin.File([]byte(staged))
	for _, value := range []string{"first", "second", "third"} {
		s.before = s.repo.Clone()
		s.publish(value)
	}
	return s
}

// chain walks the state branch from a commit on, and says how many commits it was told of.
func (s *site) chain(from string) (c verify.Chain, told, done int, err error) {
	r := s.by("v1")
	c, err = verify.New(r.Planner(), r.Published(), "v1").Chain(s.Context(), state.Branch, from, func(n int) func() {
		told = n
		return func() { done++ }
	})
	return c, told, done, err
}

// commits are those of the state branch, the newest first.
func (s *site) commits() (ids []string) {
	h, _, err := s.repo.Branch(s.Context(), state.Branch)
	for ; err == nil; h, err = s.repo.Commit(s.Context(), h.Parent) {
		if ids = append(ids, h.Commit.String()); h.Parent.IsZero() {
			return ids
		}
	}
	s.Fatal(err)
	return nil
}

// What is published verifies commit by commit: that of the open run, from any commit on, and all of it.
func TestAChainVerifies(t *testing.T) {
	s := inStages(t)
	ids := s.commits()
	for _, tt := range []struct {
		from            string
		state, clusters int
	}{
		{"", 1, 0},              // the last run began with the last commit
		{ids[1], 2, 0},          // the one before, too
		{ids[len(ids)-1], 4, 2}, // everything: each cluster once, before there was a strategy
		{ids[len(ids)-1][:8], 4, 2},
	} {
		c, told, done, err := s.chain(tt.from)
		if err != nil || !c.Same || c.State != tt.state || c.Clusters != tt.clusters || told != tt.state || done != tt.state || c.From != ids[tt.state-1] || c.To != ids[0] {
			t.Errorf("from %q: %+v, told of %d and %d, %v", tt.from, c, told, done, err)
		}
	}
	if _, _, _, err := s.chain("0123456789"); err == nil || !strings.Contains(err.Error(), "0123456789 is no commit of waybill/state") {
		t.Errorf("a commit that is not there: %v", err)
	}
}

// asked counts what a repository is asked for.
type asked struct {
	published.Repository

	heads   int
	fetches map[string]int // by branch
}

func (a *asked) Heads(ctx context.Context) (map[string]files.ID, error) {
	a.heads++
	return a.Repository.Heads(ctx)
}

func (a *asked) Fetch(ctx context.Context, branches ...string) error {
	for _, b := range branches {
		a.fetches[b]++
	}
	return a.Repository.Fetch(ctx, branches...)
}

// divided is a site in which replicas are divided, for the values of so many publications.
func divided(t *testing.T, values ...string) *site {
	t.Helper()
	s := newSite(t)
	s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n"))
	s.source["clusters.yaml"] = twin.File([]byte(strings.NewReplacer("{name: eu}", "{name: eu, labels: {ring: a}}",
		"[{apiVersion: v1, kind: ConfigMap}], placement: {}", "[{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}], "+
			"placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}").Replace(clusters)))
	s.source["careful.yaml"] = twin.File([]byte(strings.Replace(staged, ", beforeStageTasks: [{type: Approval}]", "", 1)))
	s.source["web.yaml"] = twin.File([]byte(web))
	for _, value := range values {
		s.before = s.repo.Clone()
		s.publish(value)
	}
	return s
}

// A call asks for the heads once, and fetches each branch once, however many commits need what other clusters had: those that are not what
// they should be without it.
func TestWhatAVerificationAsksFor(t *testing.T) {
	s := divided(t, "second", "third", "fourth")
	ids := s.commits()
	const us = "waybill/cluster/us"
	cluster := func(name string) func(v *verify.Verifier) (bool, error) {
		return func(v *verify.Verifier) (bool, error) {
			is, err := v.Verify(t.Context(), name)
			return is.Same, err
		}
	}
	for _, tt := range []struct {
		name    string
		ask     func(*verify.Verifier) (isSame bool, err error)
		isSame  bool
		fetched []string
	}{
		{"a cluster", cluster("eu"), true, []string{eu}},
		{"a chain", func(v *verify.Verifier) (bool, error) {
			c, err := v.Chain(t.Context(), state.Branch, ids[len(ids)-1], func(int) func() { return func() {} })
			return c.Same, err
		}, true, []string{eu, us}},
		{"a cluster that was edited", func(v *verify.Verifier) (bool, error) {
			s.rewrite(eu, func(m string, root twin.Tree) string {
				root["manifests/b.yaml"] = twin.File([]byte("a: b\n"))
				return m
			})
			return cluster("eu")(v)
		}, false, []string{eu, us}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := s.by("v1")
			p := r.Published()
			a := &asked{Repository: p.Target, fetches: map[string]int{}}
			p.Target = a
			isSame, err := tt.ask(verify.New(r.Planner(), p, "v1"))
			want := map[string]int{state.Branch: 1}
			for _, branch := range tt.fetched {
				want[branch] = 1
			}
			if err != nil || isSame != tt.isSame || a.heads != 1 || !maps.Equal(a.fetches, want) {
				t.Errorf("the same: %v, %v; heads are asked for %d times, and branches are fetched so often: %v", isSame, err, a.heads, a.fetches)
			}
		})
	}
}

// A choice that somebody changed by hand in the state is named, by verify of the state and by its chain, also when it is not the
// newest any more; so is a run that is another one.
func TestAChoiceThatWasChangedByHand(t *testing.T) {
	for _, tt := range []struct {
		name, path, from, to, want string
	}{
		{"a cluster is to show the target before its turn", usRecord, "shows: BASE", "shows: TARGET", "rollouts/shop/all: us shows "},
		{"a cluster is to show nothing that is known", usRecord, "shows: BASE", "shows: " + strings.Repeat("e", 40), "rollouts/shop/all: us shows eeeeeeeeeeee"},
		{"a cluster was released, and does not show it", usRecord, "state: Pending", "state: Released\n    released: '2026-11-24T12:00:00Z'", "rollouts/shop/all: us was released, and shows "},
		{"the run is another one", "rollouts/shop/all.yaml", "run: RUN", "run: " + strings.Repeat("e", 32), "rollouts/shop/all: the run eeee"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := inStages(t)
			s.edit(tt.path, tt.from, tt.to)
			v, err := s.verify(state.Branch, "v1")
			if err != nil || v.Same || !slices.ContainsFunc(v.Differences, func(d string) bool { return strings.HasPrefix(d, tt.want) }) {
				t.Errorf("%+v, %v", v, err)
			}
			edited := s.commits()[0]
			s.publish("fourth")
			c, _, _, err := s.chain(edited)
			if err != nil || c.Same || len(c.Differing) == 0 || c.Differing[0].Commit != edited {
				t.Errorf("%+v, %v", c, err)
			}
			if c, _, _, err = s.chain(s.commits()[0]); err != nil || c.State != 1 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// So is how the version before is divided, of which nothing else tells where its object is removed.
func TestADivisionThatWasChangedByHand(t *testing.T) {
	s := divided(t)
	config := s.source["waybill.yaml"]
	delete(s.source, "waybill.yaml")
	s.publish("first")
	s.source["waybill.yaml"] = config
	s.publish("second")
	delete(s.source, "web.yaml")
	s.before = s.repo.Clone()
	s.publish("third")
	if v, err := s.verify(state.Branch, "v1"); err != nil || !v.Same {
		t.Errorf("as it is: %+v, %v", v, err)
	}
	const path = "rollouts/shop/all/divided.json"
	s.edit(path, `"us": 2`, `"us": 4`)
	if v, err := s.verify(state.Branch, "v1"); err != nil || v.Same || !slices.Equal(v.Differences, []string{path}) {
		t.Errorf("changed: %+v, %v", v, err)
	}
}

// A commit by hand, and one that was made from another state than the one before it, break the chain.
func TestAChainThatIsBroken(t *testing.T) {
	s := inStages(t)
	before := s.commits()[0]
	h, _, err := s.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	s.repo.Write(state.Branch, "by hand", h.Tree)
	if c, _, _, err := s.chain(before); err != nil || c.Same || len(c.Unknown) != 1 || !strings.Contains(c.Unknown[0], "Waybill did not write it") {
		t.Errorf("%+v, %v", c, err)
	}
	s.repo.Write(state.Branch, h.Message, h.Tree)
	c, _, _, err := s.chain(before)
	isOther := func(v verify.Verification) bool {
		return slices.ContainsFunc(v.Differences, func(d string) bool { return strings.Contains(d, "and was made from ") })
	}
	if err != nil || c.Same || !slices.ContainsFunc(c.Differing, isOther) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A chain goes through what somebody put on a cluster's branch in between, and does not verify what is behind too much of it.
func TestAChainBehindManyCommits(t *testing.T) {
	s := inStages(t)
	h, _, err := s.repo.Branch(t.Context(), eu)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _, err := s.chain("")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2000 {
		s.repo.Write(eu, fmt.Sprint("by hand ", n), h.Tree)
		if n == 500 {
			if c, _, _, err := s.chain(""); err != nil || c.Clusters != before.Clusters {
				t.Errorf("behind 501 commits of others %d of %d are verified: %v", c.Clusters, before.Clusters, err)
			}
		}
	}
	if c, _, _, err := s.chain(""); err == nil || !strings.Contains(err.Error(), eu+" has more than 2000 commits since the chain begins") {
		t.Errorf("behind 2,000 commits of others: %+v, %v", c, err)
	}
}

// edit has the newest commit of the state say something else in a file; BASE, TARGET and RUN are those of the run.
func (s *site) edit(path, from, to string) {
	s.Helper()
	h, _, err := s.repo.Branch(s.Context(), state.Branch)
	if err != nil {
		s.Fatal(err)
	}
	recorded, _ := state.Rollouts(h.Tree)
	is := recorded[0].Status
	unit, file := s.text(h.Tree, "rollouts/shop/all.yaml"), s.text(h.Tree, path)
	written := func(word string) string { return regexp.MustCompile("'?" + word + "'?").FindString(unit) } // quoted, where it has to be
	fill := strings.NewReplacer("BASE", written(is.Base.Commit), "TARGET", written(is.Target.Commit), "RUN", written(is.Run))
	edited := strings.Replace(file, fill.Replace(from), fill.Replace(to), 1)
	if edited == file {
		s.Fatalf("%s does not say %q:\n%s", path, fill.Replace(from), file)
	}
	root := twin.Of(h.Tree)
	root[path] = twin.File([]byte(edited))
	s.repo.SetBack(s.before)
	s.repo.Write(state.Branch, h.Message, root.Folder())
}

// text is a file of a folder.
func (s *site) text(root *files.Folder, path string) string {
	s.Helper()
	e, _ := root.Lookup(path)
	text, err := e.Blob.Bytes()
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// A chain goes through a branch that clusters share, too, and names what somebody changed there.
func TestAChainOfASharedBranch(t *testing.T) {
	s := newSite(t)
	s.repo = twin.New("https://git.example/fleet")
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	s.publish("first")
	s.publish("second")
	oldest := s.commits()[1]
	if c, _, _, err := s.chain(oldest); err != nil || !c.Same || c.State != 2 || c.Clusters != 2 || c.Err() != nil {
		t.Errorf("%+v, %v", c, err)
	}
	h, _, err := s.repo.Branch(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	root := twin.Of(h.Tree)
	root["us/"+path] = twin.File([]byte("a: b\n"))
	s.repo.Write(shared, h.Message, root.Folder()) // from the same state
	c, _, _, err := s.chain(oldest)
	if err != nil || c.Same || c.Clusters != 3 || len(c.Differing) != 1 || !slices.Equal(c.Differing[0].Differences, []string{"us/" + path}) || c.Err() != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// Only the state branch has a chain, and only where something was published; a chain that could not be rebuilt is an error, unless
// something is known to differ.
func TestWhatHasAChain(t *testing.T) {
	begin := func(int) func() { t.Error("it begins"); return func() {} }
	s := newSite(t)
	r := s.by("v1")
	if _, err := verify.New(r.Planner(), r.Published(), "v1").Chain(t.Context(), eu, "", begin); err == nil || !strings.Contains(err.Error(), "--chain goes through "+state.Branch) {
		t.Errorf("of a cluster: %v", err)
	}
	s.repo = twin.New("https://git.example/fleet")
	r = s.by("v1")
	if _, err := verify.New(r.Planner(), r.Published(), "v1").Chain(t.Context(), state.Branch, "", begin); err == nil || !strings.Contains(err.Error(), "nothing was published to https://git.example/fleet yet") {
		t.Errorf("of nothing: %v", err)
	}
	for _, tt := range []struct {
		c    verify.Chain
		want string
	}{
		{verify.Chain{}, ""},
		{verify.Chain{Unknown: []string{"gone", "old"}}, "2 commits could not be rebuilt: gone"},
		{verify.Chain{Unknown: []string{"gone"}}, "1 commit could not be rebuilt: gone"},
		{verify.Chain{Unknown: []string{"gone"}, Differing: []verify.Verification{{}}}, ""},
	} {
		if err := tt.c.Err(); (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.want)
		}
	}
}
