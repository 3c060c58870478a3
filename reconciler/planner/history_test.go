package planner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// history is a source in memory, of which versions are published, and some cannot be had.
type history struct {
	*twin.Repo

	files twin.Tree
	lacks map[string]error // by commit
	asked []string
}

// Snapshot implements published.Repository.
func (h *history) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	h.asked = append(h.asked, rev)
	if err := h.lacks[rev]; err != nil {
		return nil, err
	}
	return h.Repo.Snapshot(ctx, rev, subdir)
}

// write commits what files are now, by name and text in turns; an empty text removes one.
func (h *history) write(texts ...string) (commit string) {
	for i := 0; i < len(texts); i += 2 {
		if h.files[texts[i]] = twin.File([]byte(texts[i+1])); texts[i+1] == "" {
			delete(h.files, texts[i])
		}
	}
	return h.Write("main", "next", h.files.Folder()).String()
}

func (h *history) reconciler(e render.Engine) *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Source: h, Target: h.Repo, Engine: e, Seen: reconciler.NewCache(), Version: "test",
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
}

func (h *history) publish(t *testing.T) {
	t.Helper()
	if _, err := h.reconciler(nil).Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
}

// observed is the head of the source beside what is published.
func (h *history) observed(t *testing.T) (*planner.Planner, planner.Observation) {
	t.Helper()
	return h.observedBy(t, nil)
}

// observedBy is observed with an engine.
func (h *history) observedBy(t *testing.T, e render.Engine) (*planner.Planner, planner.Observation) {
	t.Helper()
	s, err := h.Repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	r := h.reconciler(e)
	obs, err := r.Look(t.Context(), s, plan.Branch)
	if err != nil {
		t.Fatal(err)
	}
	return r.Planner(), obs.Observation
}

const fleet = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
`

func config(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\ndata: {v: %s}\n", name, value)
}

// planned is what the ConfigMaps of a plan hold, by name, and its errors.
func planned(t *testing.T, p *plan.Plan) (all []string) {
	t.Helper()
	for _, c := range p.Clusters {
		for path, e := range c.Tree.All() {
			text, err := e.Blob.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if _, value, ok := strings.Cut(string(text), "  v: "); ok {
				value, _, _ = strings.Cut(value, "\n")
				all = append(all, path[strings.LastIndex(path, "/")+1:]+" "+value)
			}
		}
	}
	for _, d := range p.Diags {
		if d.Severity == diag.Error {
			all = append(all, string(d.Code))
		}
	}
	slices.Sort(all)
	return all
}

// TestWhatCannotBeReadIsAsItWasLastGood: each file by the commit in which it was, though others are broken since; where that cannot be
// had nothing changes, and of a shallow clone it is told.
func TestWhatCannotBeReadIsAsItWasLastGood(t *testing.T) {
	const broken = "kind: ["
	h := &history{Repo: twin.New("source"), files: twin.Tree{}, lacks: map[string]error{}}
	first := h.write("fleet.yaml", fleet, "a.yaml", config("a", "one"), "b.yaml", config("b", "one"), "c.yaml", config("c", "one"))
	h.publish(t)
	h.write("a.yaml", broken, "b.yaml", config("b", "two"))
	h.publish(t)
	second := h.write("b.yaml", config("b", "three"))
	h.publish(t)
	h.write("b.yaml", broken, "c.yaml", config("c", "two"))
	away := errors.New("it is away")
	for _, tt := range []struct {
		name  string
		lacks map[string]error
		want  []string
	}{
		{"all can be read", nil, []string{"a.yaml one", "b.yaml three", "c.yaml two", "malformed", "malformed"}},
		{"the first is away", map[string]error{first: away}, []string{"b.yaml three", "c.yaml two", "held", "malformed", "malformed"}},
		{"the first is not in a shallow clone", map[string]error{first: git.ErrShallow}, []string{"b.yaml three", "c.yaml two", "held", "history-missing", "malformed", "malformed"}},
		{"what was published last is away", map[string]error{second: away}, []string{"a.yaml one", "c.yaml two", "held", "malformed", "malformed"}},
	} {
		h.lacks = nil
		p, obs := h.observed(t)
		h.lacks, h.asked = tt.lacks, nil
		is, err := p.Build(t.Context(), &obs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, planned(t, &is)); diff != "" {
			t.Errorf("%s: planned is (-want +got):\n%s", tt.name, diff)
		}
		slices.Sort(h.asked)
		if asked := slices.Compact(slices.Clone(h.asked)); tt.lacks == nil && !slices.Equal(h.asked, asked) {
			t.Errorf("%s: a commit is asked for again: %q", tt.name, h.asked)
		}
	}
}

// TestWhatIsEdited: what is planned, once all of the source is known; an error of whoever edits is that of the plan.
func TestWhatIsEdited(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}}
	h.write("fleet.yaml", fleet, "a.yaml", config("a", "one"))
	h.publish(t)
	h.write("a.yaml", "kind: [")
	p, obs := h.observed(t)
	away := errors.New("it is away")
	var known []string
	_, err := p.BuildEdited(t.Context(), &obs, func(in *plan.Input) error {
		for _, o := range in.Source.Objects {
			known = append(known, o.Ref().Name)
		}
		return away
	})
	if slices.Sort(known); !errors.Is(err, away) || !slices.Equal(known, []string{"a", "eu", "p"}) {
		t.Errorf("known is %q: %v", known, err)
	}
}

// TestWhichOlderVersionsCanBeRead: those that are there, and in which nothing is broken; of the others it is known that they cannot.
func TestWhichOlderVersionsCanBeRead(t *testing.T) {
	h := &history{Repo: twin.New("source"), files: twin.Tree{}, lacks: map[string]error{}}
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\n" +
		"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	good := h.write("fleet.yaml", fleet)
	broken := h.write("a.yaml", "kind: [")
	lost := h.write("a.yaml", config("a", "one"))
	releases := h.write("web.yaml", release, "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	h.lacks[lost] = git.ErrMissing
	for _, tt := range []struct {
		name    string
		commits []string
		engine  render.Engine
		isAny   bool
		reads   []string
		fails   bool
	}{
		{name: "none"},
		{name: "one", commits: []string{good}, isAny: true, reads: []string{good}},
		{name: "one that is broken", commits: []string{broken}},
		{name: "one that is away", commits: []string{lost}},
		{name: "some", commits: []string{good, broken, lost, releases}, isAny: true, reads: []string{good, releases}},
		{name: "an engine that is gone", commits: []string{good, releases}, engine: gone{}, reads: []string{good}, fails: true},
	} {
		p, obs := h.observed(t)
		p.Engine = tt.engine
		isAny, err := p.ReadOlder(t.Context(), &obs, tt.commits)
		if isAny != tt.isAny || (err != nil) != tt.fails {
			t.Errorf("%s: any can be read: %t; %v", tt.name, isAny, err)
		}
		var reads, not []string
		for _, c := range tt.commits {
			if v, known := obs.Input.Staging.Versions[c]; v != nil {
				reads = append(reads, c)
			} else if known {
				not = append(not, c)
			}
		}
		if diff := cmp.Diff(tt.reads, reads); diff != "" || !tt.fails && len(reads)+len(not) != len(tt.commits) {
			t.Errorf("%s: it reads (-want +got):\n%s\nand cannot read %q", tt.name, diff, not)
		}
	}
}

// gone is an engine that cannot be asked.
type gone struct{ render.Engine }

func (gone) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	return nil, errors.New("the worker is gone")
}

// rendered is an engine that says which charts of the source it was asked for.
type rendered struct {
	render.Engine

	paths *[]string
}

func (r rendered) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	all := make([]engine.Rendered, len(jobs))
	for _, j := range jobs {
		*r.paths = append(*r.paths, j.Chart().Path)
	}
	return all, nil
}

// TestWhichChartsASourceAsksFor: those of its releases by who names them, whatever is locked, and no chart of its own; what
// cannot be read, or is suspended, may ask for more.
func TestWhichChartsASourceAsksFor(t *testing.T) {
	const repository = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: a}\nspec: {url: 'https://charts.example'}\n"
	release := func(name, chart, kind, more string) string {
		return fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: a}\n"+
			"spec: {%s chart: {spec: {chart: %s, version: 1.x, sourceRef: {kind: %s, name: charts}}}}\n", name, more, chart, kind)
	}
	both := []string{"https://charts.example web 1.x by HelmRelease.helm.toolkit.fluxcd.io/a/api for clusters like eu, " +
		"HelmRelease.helm.toolkit.fluxcd.io/a/web for clusters like eu"}
	policy := strings.ReplaceAll(fleet, "apiVersion: v1, kind: ConfigMap", "apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease")
	for _, tt := range []struct {
		name   string
		more   string
		fails  bool // the engine
		alone  bool // there is no engine
		uses   []string
		unread []diag.Code
	}{
		{name: "releases", uses: both},
		{
			name: "a file that cannot be read", more: "kind: [",
			uses:   both,
			unread: []diag.Code{diag.Malformed},
		},
		{
			name: "a release that is suspended", more: release("later", "later", "HelmRepository", "suspend: true,"),
			uses:   both,
			unread: []diag.Code{diag.ReleaseSuspended},
		},
		{name: "an engine that is gone", fails: true},
		{name: "no engine", alone: true, uses: both, unread: []diag.Code{diag.NotRendered}},
	} {
		h := &history{Repo: twin.New("source"), files: twin.Tree{}}
		h.write("fleet.yaml", policy, "charts.yaml", repository, "web.yaml", release("web", "web", "HelmRepository", ""), "api.yaml", release("api", "web", "HelmRepository", ""),
			"own.yaml", release("own", "./chart", "GitRepository", ""), "chart/Chart.yaml", "apiVersion: v2\nname: own\nversion: 1.0.0\n", "more.yaml", tt.more,
			"unplaced.yaml", config("a", "one"))
		s, err := h.Repo.Snapshot(t.Context(), "main", "")
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		p := h.reconciler(rendered{paths: &paths}).Planner()
		if tt.fails {
			p.Engine = gone{}
		}
		if tt.alone {
			p.Engine = nil
		}
		found, unread, err := p.Charts(t.Context(), s)
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.name, err)
		}
		var uses []string
		for _, u := range found {
			var by []string
			for _, c := range u.By {
				by = append(by, c.What)
			}
			uses = append(uses, fmt.Sprintf("%s %s %s by %s", u.Repository, u.Name, u.Constraint, strings.Join(by, ", ")))
		}
		var codes []diag.Code
		for _, d := range unread {
			codes = append(codes, d.Code)
		}
		if diff := cmp.Diff(tt.uses, uses) + cmp.Diff(tt.unread, codes); diff != "" {
			t.Errorf("%s: it asks for (-want +got):\n%s", tt.name, diff)
		}
		if slices.Sort(paths); !tt.fails && !tt.alone && !slices.Equal(slices.Compact(paths), []string{"chart"}) {
			t.Errorf("%s: rendered is %q", tt.name, paths)
		}
	}
}

// TestWhatIsWrongWithTheConfig: schedules and windows that are none, beside what else is wrong, in order.
func TestWhatIsWrongWithTheConfig(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want int
	}{
		{"{}", 0},
		{`{updates: {schedule: ["8 o'clock"]}}`, 1},
		{`{rollout: {windows: [{kind: allow, strategies: ["*"], schedule: "8 o'clock", duration: 1h}]}}`, 1},
		{`{apply: {syncWindows: [{kind: allow, schedule: "8 o'clock", duration: 1h, clusters: ["*"]}]}, updates: {schedule: ["9 o'clock"]}}`, 2},
	} {
		h := &history{Repo: twin.New("source"), files: twin.Tree{}}
		h.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: "+tt.spec+"\n", "broken.yaml", "kind: [")
		s, err := h.Repo.Snapshot(t.Context(), "main", "")
		if err != nil {
			t.Fatal(err)
		}
		src, err := h.reconciler(nil).Planner().Load(t.Context(), s, render.With{})
		wrong := slices.DeleteFunc(slices.Clone(src.Diags), func(d diag.Diagnostic) bool { return d.Pos.File != render.ConfigFile })
		if err != nil || len(wrong) != tt.want || len(src.Diags) != tt.want+1 || src.Diags[0].Pos.File != "broken.yaml" {
			t.Errorf("%s: it says %v: %v", tt.spec, src.Diags, err)
		}
	}
}
