package planner_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestClustersAreAskedOfWhatMoves: once, and the plan is made anew if they say anything; what they were asked, and said nothing of, is
// known to be so.
func TestClustersAreAskedOfWhatMoves(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	const moves = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {namespaces: none, publish: {moves: {wait: 5m, timeout: 10m}}}\n"
	us := strings.NewReplacer("{name: eu}", "{name: eu, annotations: {waybill.dev/path: clusters/eu}}", "---\n",
		"---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Push}\n---\n").Replace(fleet)
	to := func(cluster string) string {
		return strings.Replace(us, "placement: {}", "placement: {clusterAffinity: {clusterNames: ["+cluster+"]}}", 1)
	}
	h.write("fleet.yaml", to("eu"), "waybill.yaml", moves, "a.yaml", config("a", "one"), "clusters/eu/own.yaml", config("own", "one"))
	h.publish(t)
	h.write("fleet.yaml", to("us"))
	a, other := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "other"}
	healthy := map[string]evict.Seen{"eu": {Health: karmada.ResourceHealthy, Done: true, Current: true}}
	away := errors.New("it is away")
	for _, tt := range []struct {
		name  string
		isNil bool // nobody can be asked
		isNew bool // nothing is known of anything else
		said  evict.Evidence
		err   error
		way   move.Way
	}{
		{name: "nobody can be asked", isNil: true, way: move.ByTime},
		{name: "they say nothing", way: move.ByTime},
		{name: "they say how it is, and nothing else was", isNew: true, said: evict.Evidence{a: healthy}, way: move.ByHealth},
		{name: "they say how it is", said: evict.Evidence{a: healthy}, way: move.ByHealth},
		{name: "they cannot be asked", said: evict.Evidence{a: healthy}, err: away},
	} {
		p, obs := h.observed(t)
		var asked []map[object.Ref][]string
		if !tt.isNew {
			obs.Input.Evidence = evict.Evidence{other: healthy}
		}
		if obs.Ask = func(_ context.Context, of map[object.Ref][]string) (evict.Evidence, error) {
			asked = append(asked, of)
			return tt.said, tt.err
		}; tt.isNil {
			obs.Ask = nil
		}
		is, err := p.Build(t.Context(), &obs)
		if !errors.Is(err, tt.err) || err != nil && !strings.HasPrefix(err.Error(), "reading what clusters say of what moves: ") {
			t.Errorf("%s: it fails with %v", tt.name, err)
		}
		want := []map[object.Ref][]string{{a: {"eu", "us"}}}
		if tt.isNil {
			want = nil
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%s: asked is (-want +got):\n%s", tt.name, diff)
		}
		if err == nil && (len(is.Moves) != 1 || is.Moves[0].Way != tt.way) {
			t.Errorf("%s: it moves by %+v", tt.name, is.Moves)
		}
		seen, known := obs.Input.Evidence[a]
		if _, kept := obs.Input.Evidence[other]; kept == tt.isNew || known == (tt.isNil || tt.err != nil) || len(seen) != len(tt.said[a]) && tt.err == nil {
			t.Errorf("%s: known is %v", tt.name, obs.Input.Evidence)
		}
	}
}

// failing is an engine that builds a Kustomize root to a ConfigMap, and cannot be asked once after some times.
type failing struct{ times *int }

func (f failing) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	all := make([]engine.Rendered, len(jobs))
	for i, j := range jobs {
		if j.Kustomize == nil {
			continue
		}
		if *f.times--; *f.times == -1 {
			return nil, errors.New("the worker is gone")
		}
		o := object.Decode("k/a.yaml", []byte(config("built", "one"))).Objects[0]
		all[i].Manifests = []engine.Manifest{{Object: o}}
	}
	return all, nil
}

// root is a Kustomize root.
const root = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"

// TestAnErrorStopsThePlan: whichever time the source is read, what could not be built is not taken for gone. Each time has words of its
// own.
func TestAnErrorStopsThePlan(t *testing.T) {
	for _, tt := range []struct {
		name   string
		broken bool // a file that was sound before
		older  bool // what was published last read what no kustomization lists
		stages bool
		fails  []string // at the first time that the root is built, and so on; empty for what goes on without
	}{
		{name: "all can be read"},
		{name: "a file is broken", broken: true, fails: []string{"", "reading the source: "}},
		{name: "a version read more", older: true, fails: []string{"reading the source as it was read before: "}},
		{name: "a version read more, and a file is broken", older: true, broken: true, fails: []string{
			"", "reading the source: ", "reading the source as it was read before: ", "",
			"reading the source as it was read before: reading the source: ",
		}},
		{name: "older versions go out", stages: true, fails: []string{""}},
	} {
		h := &history{Repo: twin.New("source"), files: twin.Tree{}}
		h.write("fleet.yaml", fleet, "k/kustomization.yaml", root, "k/a.yaml", config("a", "one"), "k/b.yaml", config("b", "one"),
			"c.yaml", config("c", "one"))
		times := 1 << 10
		if _, err := h.reconciler(failing{&times}).Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		switch {
		case tt.broken:
			h.write("c.yaml", "kind: [")
		case tt.stages:
			h.write("c.yaml", config("c", "two"))
		}
		for n := range len(tt.fails) + 1 {
			p, obs := h.observedBy(t, failing{&times})
			if obs.Input.State.Published.Listed = !tt.older; tt.stages {
				is := rollouts.Rollout{Unit: rollouts.Unit{Name: "u"}}
				is.Status.Phase, is.Status.Base.Commit = rollouts.Updating, obs.Input.State.Published.Commit
				obs.Input.State.Rollouts = []rollouts.Rollout{is}
			}
			left := n
			p.Engine = failing{&left}
			made, err := p.Build(t.Context(), &obs)
			switch want := slices.Concat(tt.fails, []string{""})[n]; {
			case want == "" && err != nil, want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
				t.Errorf("%s: when the root was built %d times it fails with %v, want %q", tt.name, n, err, want)
			case left > 0 || n < len(tt.fails) && left == 0:
				t.Errorf("%s: the root is built at most %d times", tt.name, n)
			case tt.broken && !tt.older && n == 0 && made.Clusters[0].Held == nil:
				t.Errorf("%s: what was published last cannot be read, and c goes", tt.name)
			case tt.stages && (obs.Input.Staging.Versions[obs.Input.State.Published.Commit] == nil) != (n == 0):
				t.Errorf("%s: when the root was built %d times the older version is read: %t", tt.name, n, n == 0)
			}
		}
		none := 0
		p, obs := h.observedBy(t, failing{&times})
		p.Engine = failing{&none}
		if _, err := p.Load(t.Context(), obs.Snapshot, render.With{}); err == nil {
			t.Errorf("%s: it is read without its root", tt.name)
		}
	}
}

// TestWhatIsReadOfAnEarlierVersion: of a version published in part, too; and a Cluster that cannot be read has its directory still.
func TestWhatIsReadOfAnEarlierVersion(t *testing.T) {
	const broken = "kind: ["
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	cluster, rest, _ := strings.Cut(fleet, "---\n")
	own := func(v string) string { // of a kind that no policy selects
		return strings.Replace(config("own", v), "apiVersion: v1\nkind: ConfigMap", "apiVersion: example.com/v1\nkind: Thing", 1)
	}
	cluster = strings.Replace(cluster, "{name: eu}", "{name: eu, annotations: {waybill.dev/path: clusters/eu}}", 1)
	h.write("eu.yaml", cluster, "fleet.yaml", rest, "a.yaml", config("a", "one"), "clusters/eu/own.yaml", own("one"))
	h.publish(t)
	ahead := h.write("a.yaml", config("a", "two"), "clusters/eu/own.yaml", own("two"))
	for _, tt := range []struct {
		name   string
		ahead  []state.Publication
		broken []string
		want   []string
	}{
		{"nothing is broken", nil, nil, []string{"a.yaml two", "own.yaml two"}},
		{"a file is broken", nil, []string{"a.yaml"}, []string{"a.yaml one", "malformed", "own.yaml two"}},
		{
			"a file is broken, and a version is ahead",
			[]state.Publication{{Commit: ahead}},
			[]string{"a.yaml"},
			[]string{"a.yaml two", "malformed", "own.yaml two"},
		},
		{"the Cluster is broken", nil, []string{"eu.yaml"}, []string{"a.yaml two", "malformed", "own.yaml two"}},
	} {
		files := maps.Clone(h.files)
		for _, path := range tt.broken {
			h.write(path, broken)
		}
		p, obs := h.observed(t)
		obs.Ahead = tt.ahead
		is, err := p.Build(t.Context(), &obs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, planned(t, &is)); diff != "" {
			t.Errorf("%s: planned is (-want +got):\n%s", tt.name, diff)
		}
		h.files = files
	}
}

// TestWhatNoKustomizationLists stays where a version read it, and is known by then; of a version that did not nothing does.
func TestWhatNoKustomizationLists(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	h.write("fleet.yaml", fleet, "k/kustomization.yaml", root, "k/a.yaml", config("a", "one"), "k/b.yaml", config("b", "one"))
	times := 1 << 10
	if _, err := h.reconciler(failing{&times}).Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	b := state.Unlisted{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "b"}, File: "k/b.yaml"}
	gone := state.Unlisted{Object: b.Object, File: "k/gone.yaml"}
	for _, tt := range []struct {
		name  string
		edit  func(*state.State)
		want  []state.Unlisted
		loads int // how often the root is built
		is    string
	}{
		{"it was known", func(s *state.State) { s.Unlisted = []state.Unlisted{b, gone} }, []state.Unlisted{b}, 0, config("b", "one")},
		{"nothing was", func(*state.State) {}, nil, 0, config("b", "one")},
		{"the version read it", func(s *state.State) { s.Published.Listed = false }, []state.Unlisted{b}, 1, config("b", "one")},
		{"the version read it, and it is gone", func(s *state.State) { s.Published.Listed = false }, nil, 0, ""},
		{"nothing was published", func(s *state.State) { *s = state.State{} }, nil, 0, config("b", "one")},
	} {
		h.write("k/b.yaml", tt.is)
		p, obs := h.observedBy(t, failing{&times})
		tt.edit(&obs.Input.State)
		left := 0
		p.Engine = counting{&left}
		if _, err := p.Build(t.Context(), &obs); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, obs.Input.Unlisted, cmpopts.EquateEmpty()); diff != "" || left != tt.loads {
			t.Errorf("%s: the root is built %d times, and what stays is (-want +got):\n%s", tt.name, left, diff)
		}
	}
}

// counting is an engine that counts how often it is asked for Kustomize roots.
type counting struct{ times *int }

func (c counting) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	*c.times += len(jobs)
	left := len(jobs)
	return failing{&left}.Render(ctx, s, jobs)
}

// TestWhichChartsAKustomizationListsIsSaid: nobody is named by whom; that something is odd, and no error, is no reason for there to be more.
func TestWhichChartsAKustomizationListsIsSaid(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	const charts = "helmCharts:\n- {name: db, repo: 'https://charts.example', version: 1.2.3}\n" +
		"- {name: abe, repo: 'https://charts.example', version: 1.x}\n"
	odd := strings.Replace(fleet[strings.Index(fleet, "---\n"):], "{name: p,", "{name: odd,", 1)
	h.write("fleet.yaml", fleet, "k/a.yaml", config("built", "one"), "k/kustomization.yaml", root+charts, "odd.yaml",
		strings.Replace(odd, "ConfigMap", "Secret", 1))
	s, err := h.Repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []bool{false, true} {
		times := 1 << 10
		if fails {
			times = 0
		}
		found, unread, err := h.reconciler(failing{&times}).Planner().Charts(t.Context(), s)
		if fails {
			if err == nil || !strings.HasPrefix(err.Error(), "reading the source: ") {
				t.Errorf("it is not built, and it fails with %v", err)
			}
			continue
		}
		var charts []string
		for _, u := range found {
			charts = append(charts, u.Name+" "+u.Constraint)
			if len(u.By) > 0 {
				t.Errorf("%s is named by %v", u.Name, u.By)
			}
		}
		if err != nil || !slices.Equal(charts, []string{"abe 1.x", "db 1.2.3"}) || len(unread) > 0 {
			t.Errorf("it asks for %q, and says %v, %v", charts, unread, err)
		}
	}
}

// keeping is a cache that counts what is kept.
type keeping struct {
	render.Cache

	kept *int
}

func (k keeping) Keep(key string, d object.Decoded) {
	*k.kept++
	k.Cache.Keep(key, d)
}

// TestWhatIsReadIsRemembered: a file is decoded once, whoever reads it.
func TestWhatIsReadIsRemembered(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	h.write("fleet.yaml", fleet, "a.yaml", config("a", "one"))
	s, err := h.Repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	p, kept := h.reconciler(nil).Planner(), 0
	p.Cache = keeping{cache.Memory(), &kept}
	for n := range 2 {
		if _, err := p.Load(t.Context(), s, render.With{}); err != nil || kept != 2 {
			t.Errorf("read %d times, %d files were decoded; %v", n+1, kept, err)
		}
	}
}

// TestAnErrorOfAnOlderVersionStopsThePlan: what it rendered to is not taken for gone, though the source renders nothing any longer.
func TestAnErrorOfAnOlderVersionStopsThePlan(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\n" +
		"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	policy := strings.Replace(fleet, "apiVersion: v1, kind: ConfigMap", "apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease", 1)
	base := h.write("fleet.yaml", policy, "web.yaml", release, "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	h.write("web.yaml", "")
	p, obs := h.observed(t)
	is := rollouts.Rollout{Unit: rollouts.Unit{Name: "u"}}
	is.Status.Phase, is.Status.Base.Commit = rollouts.Updating, base
	obs.Input.State.Rollouts = []rollouts.Rollout{is}
	p.Engine = gone{}
	if _, err := p.Build(t.Context(), &obs); err == nil || err.Error() != "rendering releases: the worker is gone" {
		t.Errorf("it fails with %v", err)
	}
}

// TestWhatAnObservationBeginsWith is what the planner has: the time to the second, its memo, and where the source is.
func TestWhatAnObservationBeginsWith(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	h.write("fleet.yaml", fleet)
	s, err := h.Repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	memo, noon := plan.NewMemo(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := planner.Planner{
		Source: h, Subdir: "fleet", Memo: memo, Version: "test", Allow: guard.Allowance{Named: "some"},
		Random: plan.Random{Source: "other", Rotate: true},
		Now:    func() time.Time { return noon.Add(time.Millisecond).In(time.FixedZone("", 3600)) },
	}
	src := render.Source{Config: render.DefaultConfig()}
	in := p.Observe(s, src, plan.Branch).Input
	want := plan.Random{Source: published.SourceID(s.Revision().Repo, "fleet"), Rotate: true}
	if in.Memo != memo || in.Now != noon || in.Medium != plan.Branch || in.Random != want || in.Staging.Renderer != "test" ||
		in.Allow.Named != "some" {
		t.Errorf("it begins with %+v", in)
	}
	p.Memo = nil
	if in := p.Observe(s, src, plan.Folder).Input; in.Memo == nil || in.Medium != plan.Folder {
		t.Errorf("without a memo it begins with %+v", in)
	}
}
