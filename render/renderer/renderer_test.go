package renderer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

// asWorker, alone on the command line, makes the test binary a worker's child.
const asWorker = "renderer-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorker {
		os.Exit(worker.Main(engines.Run))
	}
	os.Exit(m.Run())
}

func workers(t *testing.T) *worker.Pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := worker.New(worker.Options{Command: []string{program, asWorker}, Trust: worker.Trusted, Memory: 256 << 20})
	t.Cleanup(p.Close)
	return p
}

// source is a chart with a file, a sub-chart and an ignore file, and a kustomization with a
// base, a patch and a generator.
func source() twin.Texts {
	return twin.Texts{
		"chart/Chart.yaml":                   "apiVersion: v2\nname: c\nversion: 1.0.0\n",
		"chart/values.yaml":                  "v: one\nsub: {w: two}\n",
		"chart/.helmignore":                  "notes\n",
		"chart/data.txt":                     "text",
		"chart/templates/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: {{ .Values.v }}, d: {{ .Files.Get \"data.txt\" }}}\n",
		"chart/charts/sub/Chart.yaml":        "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"chart/charts/sub/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\ndata: {w: {{ .Values.w | default \"none\" }}}\n",
		"app/kustomization.yaml":             "resources: [../base]\npatches: [{path: patch.yaml}]\nconfigMapGenerator: [{name: g, files: [data.txt]}]\n",
		"app/patch.yaml":                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {patched: \"yes\"}\n",
		"app/data.txt":                       "text",
		"base/kustomization.yaml":            "resources: [cm.yaml]\n",
		"base/cm.yaml":                       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {k: v}\n",
		"unrelated/values.yaml":              "nothing",
	}
}

func jobs() []engine.Job {
	return []engine.Job{
		{Helm: &engine.Helm{Chart: engine.Chart{Path: "chart"}, Release: helm.Release{Name: "r"}}},
		{Kustomize: &engine.Kustomize{Dir: "app"}},
	}
}

// text is all that results say.
func text(t *testing.T, results []engine.Rendered) string {
	t.Helper()
	var b strings.Builder
	for _, r := range results {
		for _, m := range r.Manifests {
			fmt.Fprintf(&b, "%s\n", m.Object.YAML())
		}
		data, err := json.Marshal(r.Diags)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", data)
	}
	return b.String()
}

// A budget is that of all that is rendered within it. What was rendered before costs nothing.
func TestWithin(t *testing.T) {
	r := renderer.New(workers(t), nil)
	none := func() *renderer.Renderer { return r.Within(worker.NewBudget(time.Minute, 1)) }
	if _, err := none().Render(t.Context(), source(), jobs()); !errors.Is(err, worker.ErrBudget) {
		t.Errorf("without room it is rendered: %v", err)
	}
	within := r.Within(worker.NewBudget(time.Minute, 256<<20+1000)) // of which the first takes some, and the second is too much
	first, err := within.Render(t.Context(), source(), jobs()[:1])
	if err != nil || first[0].Failed() {
		t.Fatal(err, first[0].Diags)
	}
	large := source()
	large["app/data.txt"] = strings.Repeat("x", 2000)
	if _, err := within.Render(t.Context(), large, jobs()[1:]); err != nil {
		t.Error(err) // it is known once it is done
	}
	large["app/data.txt"] = strings.Repeat("y", 2000)
	if _, err := within.Render(t.Context(), large, jobs()[1:]); !errors.Is(err, worker.ErrBudget) {
		t.Errorf("what is spent is rendered: %v", err)
	}
	again, err := none().Render(t.Context(), source(), jobs()[:1])
	if err != nil || text(t, again) != text(t, first) {
		t.Errorf("what is known is %s, %v", text(t, again), err)
	}
	if _, err := r.Render(t.Context(), large, jobs()); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}

// What is rendered apart is known to nobody else, and what was known before costs nothing.
func TestApart(t *testing.T) {
	r := renderer.New(workers(t), nil)
	nothing := func() *worker.Budget { return worker.NewBudget(time.Minute, 1) }
	if _, err := r.Render(t.Context(), source(), jobs()); err != nil {
		t.Fatal(err)
	}
	apart := r.Apart()
	if _, err := apart.Within(nothing()).Render(t.Context(), source(), jobs()); err != nil {
		t.Errorf("what is known is rendered: %v", err)
	}
	other := source()
	other["chart/data.txt"] = "of a stranger"
	if _, err := apart.Render(t.Context(), other, jobs()); err != nil {
		t.Fatal(err)
	}
	if _, err := apart.Within(nothing()).Render(t.Context(), other, jobs()); err != nil {
		t.Errorf("it does not know what it rendered: %v", err)
	}
	for name, r := range map[string]*renderer.Renderer{"the others": r, "another stranger": r.Apart()} {
		if _, err := r.Within(nothing()).Render(t.Context(), other, jobs()); !errors.Is(err, worker.ErrBudget) {
			t.Errorf("%s know it: %v", name, err)
		}
	}
}

func TestWarmIsColdWhateverChanges(t *testing.T) {
	edits := map[string]func(twin.Texts){
		"a file appears that templates read": func(c twin.Texts) {
			c["chart/templates/more.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"
		},
		"a chart gets a schema":               func(c twin.Texts) { c["chart/values.schema.json"] = `{"properties": {"v": {"type": "integer"}}}` },
		"a second kustomization file appears": func(c twin.Texts) { c["base/kustomization.yml"] = "resources: []\n" },
		"a sub-chart appears": func(c twin.Texts) {
			c["chart/charts/s2/Chart.yaml"] = "apiVersion: v2\nname: s2\nversion: 1.0.0\n"
			c["chart/charts/s2/templates/x.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s2}\n"
		},
		"everything a chart ignores disappears": func(c twin.Texts) { c["chart/.helmignore"] = "templates\n" },
	}
	for name := range source() {
		edits["other content of "+name] = func(c twin.Texts) {
			c[name] = strings.NewReplacer("one", "1", "text", "more", "two", "2", "k: v", "k: w", "yes", "no", "1.0.0", "1.0.1").Replace(c[name]) + "\n"
		}
		edits["without "+name] = func(c twin.Texts) { delete(c, name) }
	}
	same := 0
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		t.Run(name, func(t *testing.T) {
			warm := renderer.New(&worker.Local{Handler: engines.Run}, nil)
			before, err := warm.Render(t.Context(), source(), jobs())
			if err != nil {
				t.Fatal(err)
			}
			edited := source()
			edits[name](edited)
			got, err := warm.Render(t.Context(), edited, jobs())
			if err != nil {
				t.Fatal(err)
			}
			want, err := renderer.New(&worker.Local{Handler: engines.Run}, nil).Render(t.Context(), edited, jobs())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(text(t, want), text(t, got)); d != "" {
				t.Error("warm differs from cold:", d)
			}
			if text(t, before) == text(t, want) {
				same++
			}
		})
	}
	if same > 10 {
		t.Errorf("%d of %d edits change nothing, so that they show nothing", same, len(edits))
	}
}

// counting counts tasks.
type counting struct {
	renderer.Runner

	tasks int
}

func (c *counting) Do(ctx context.Context, tasks []worker.Job) []worker.Result {
	c.tasks += len(tasks)
	return c.Runner.Do(ctx, tasks)
}

func TestWhatDidNotChangeIsNotRenderedAgain(t *testing.T) {
	c := &counting{Runner: &worker.Local{Handler: engines.Run}}
	r := renderer.New(c, nil)
	edited := source()
	edited["app/patch.yaml"] += "\n"
	edited["unrelated/values.yaml"] = "something"
	for i, step := range []struct {
		of   twin.Texts
		want int
	}{{source(), 2}, {source(), 2}, {edited, 3}, {source(), 3}} {
		if _, err := r.Render(t.Context(), step.of, jobs()); err != nil {
			t.Fatal(err)
		}
		if c.tasks != step.want {
			t.Errorf("after step %d there were %d renders; want %d", i, c.tasks, step.want)
		}
	}
}

func TestADiskRemembersFromOneProcessToTheNext(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return time.Unix(1, 0) }
	render := func(of twin.Texts, most int64) (said string, tasks int) {
		t.Helper()
		disk, err := cache.OpenFolder(dir, most)
		if err != nil {
			t.Fatal(err)
		}
		c := &counting{Runner: &worker.Local{Handler: engines.Run}}
		r := renderer.New(c, nil)
		r.Remember(disk, now)
		results, err := r.Render(t.Context(), of, jobs())
		if err != nil {
			t.Fatal(err)
		}
		return text(t, results), c.tasks
	}
	want, _ := render(source(), 1<<20)
	if got, tasks := render(source(), 1<<20); tasks != 0 || got != want {
		t.Errorf("%d renders, and the same: %t", tasks, got == want)
	}
	edited := source()
	edited["chart/data.txt"] = "other"
	if got, tasks := render(edited, 1<<20); tasks != 1 || got == want {
		t.Errorf("after an edit %d renders, and the same: %t", tasks, got == want)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files { // torn by a crash
		if err := os.Truncate(f, 9); err != nil {
			t.Fatal(err)
		}
	}
	if got, tasks := render(source(), 1<<20); tasks != 2 || got != want {
		t.Errorf("with torn files %d renders, and the same: %t", tasks, got == want)
	}
}

func TestAnAppThatKillsItsWorkerFailsAlone(t *testing.T) {
	deadly := source()
	deadly["chart/templates/deadly.yaml"] = "{{ range until 200000000 }}{{ end }}\n"
	r := renderer.New(workers(t), nil)
	var said []string
	for range 3 {
		results, err := r.Render(t.Context(), deadly, jobs())
		if err != nil {
			t.Fatal(err)
		}
		if !results[0].Failed() || results[1].Failed() || len(results[1].Manifests) != 2 {
			t.Fatalf("the chart has %v, the kustomization %v and %d objects", results[0].Diags, results[1].Diags, len(results[1].Manifests))
		}
		said = append(said, messages(results[0].Diags))
	}
	if !strings.Contains(said[0], "out of memory") || !strings.Contains(said[2], "quarantined") {
		t.Errorf("it is said: %q", said)
	}
	mended := source()
	mended["chart/templates/deadly.yaml"] = "{{ range until 2 }}{{ end }}\n"
	results, err := r.Render(t.Context(), mended, jobs())
	if err != nil || results[0].Failed() {
		t.Errorf("once mended: %v, %v", results[0].Diags, err)
	}
}

func messages(ds []diag.Diagnostic) string {
	var all []string
	for _, d := range ds {
		all = append(all, d.Message)
	}
	return strings.Join(all, "; ")
}

func TestWorkersGiveWhatTheProcessItselfGives(t *testing.T) {
	want, err := renderer.New(&worker.Local{Handler: engines.Run}, nil).Render(t.Context(), source(), jobs())
	if err != nil {
		t.Fatal(err)
	}
	got, err := renderer.New(workers(t), nil).Render(t.Context(), source(), jobs())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text(t, want), text(t, got)); d != "" {
		t.Error(d)
	}
}

// away is a repository of charts that answers from the second time on.
type away struct {
	asked int
	why   error // of the first answer
}

func (*away) Resolve(context.Context, lock.Ref) (lock.Entry, error) {
	return lock.Entry{}, errors.New("nothing floats here")
}

func (a *away) Fetch(context.Context, lock.Entry) (fs.FS, error) {
	if a.asked++; a.asked == 1 {
		return nil, a.why
	}
	return sources.FS(twin.Texts{
		"Chart.yaml":        "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
	}), nil
}

// newest is a repository of charts that settles every reference, as version 1.4.2.
type newest struct{ away }

func (*newest) Resolve(_ context.Context, ref lock.Ref) (lock.Entry, error) {
	return lock.Entry{Ref: ref, Version: "1.4.2"}, nil
}

// TestWhatFloatsIsSaid: a chart that no lock settles may be another one tomorrow, unless its reference says which one it is.
func TestWhatFloatsIsSaid(t *testing.T) {
	for _, tt := range []struct {
		kind             lock.Kind
		constraint, want string
	}{
		{lock.Helm, "1.x", "https://charts.example.com/web 1.x is version 1.4.2 today"},
		{lock.OCI, "latest", "oci://charts.example.com/web latest is version 1.4.2 today"},
		{lock.Helm, "1.4.2", ""},
		{lock.OCI, "sha256:" + strings.Repeat("a", 64), ""},
	} {
		ref := lock.Ref{Kind: tt.kind, Repository: "https://charts.example.com", Name: "web", Constraint: tt.constraint}
		if tt.kind == lock.OCI {
			ref.Repository = "oci://charts.example.com"
		}
		job := engine.Job{Helm: &engine.Helm{Chart: engine.Chart{Ref: ref}, Release: helm.Release{Name: "r"}}}
		got, err := renderer.New(&worker.Local{Handler: engines.Run}, &newest{away{asked: 1}}).Render(t.Context(), source(), []engine.Job{job})
		if err != nil || messages(got[0].Diags) != tt.want || len(got[0].Manifests) != 1 {
			t.Errorf("%s: %v, %d manifests, said %q, want %q", tt.constraint, err, len(got[0].Manifests), messages(got[0].Diags), tt.want)
		}
	}
}

// TestAChartThatIsMissedLateIsAskedForAgain lists a chart in a kustomization, so that it is
// fetched while the job is under way.
func TestAChartThatIsMissedLateIsAskedForAgain(t *testing.T) {
	for name, runner := range map[string]renderer.Runner{"in a worker": workers(t), "in the process": &worker.Local{Handler: engines.Run}} {
		for _, why := range []error{
			errors.New("the host is away"),
			fmt.Errorf("opening the folder of charts: %w", fs.ErrPermission), // to the engine there is nothing that may be read
		} {
			t.Run(name+", "+why.Error(), func(t *testing.T) { missedLate(t, runner, why) })
		}
	}
}

func missedLate(t *testing.T, runner renderer.Runner, why error) {
	t.Helper()
	r := renderer.New(runner, &away{why: why})
	digest := "sha256:" + strings.Repeat("0", 64)
	ref := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: "web", Constraint: "1.0.0"}
	locked := lock.Lock{}.With(lock.Entry{Ref: ref, Version: "1.0.0", URL: "https://charts.example.com/web-1.0.0.tgz", Digest: digest})
	src := twin.Texts{
		lock.FileName:            string(locked.Encode()),
		"app/kustomization.yaml": "helmCharts: [{name: web, repo: \"https://charts.example.com\", version: 1.0.0, releaseName: web}]\n",
	}
	job := []engine.Job{{Kustomize: &engine.Kustomize{Dir: "app"}}}
	first, err := r.Render(t.Context(), src, job)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(first[0].Diags, func(d diag.Diagnostic) bool { return d.Code == diag.ChartUnavailable }) || !strings.Contains(messages(first[0].Diags), why.Error()) {
		t.Errorf("while it cannot be had: %v", first[0].Diags)
	}
	again, err := r.Render(t.Context(), src, job)
	if err != nil || again[0].Failed() || len(again[0].Manifests) != 1 {
		t.Errorf("once it can: %v, %v", again[0].Diags, err)
	}
}
