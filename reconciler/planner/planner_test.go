package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhoNamesAChart: each release once, in the order of places; a chart that only another chart asks for has nobody.
func TestWhoNamesAChart(t *testing.T) {
	web, db := lock.Ref{Repository: "https://charts.example", Name: "web"}, lock.Ref{Repository: "https://charts.example", Name: "db"}
	at := func(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line} }
	all := users([]lock.Ref{db, web}, []expand.Lack{
		{Chart: web, Pos: at("b.yaml", 1), By: "b", Verification: &flux.Verification{By: "b"}},
		{Chart: web, Pos: at("a.yaml", 9), By: "a9", Verification: &flux.Verification{By: "both"}},
		{Chart: web, Pos: at("a.yaml", 2), By: "a2", Verification: &flux.Verification{By: "both"}},
		{Chart: web, Pos: at("a.yaml", 9), By: "a9"},
		{Chart: web, Pos: at("a.yaml", 9), By: "a8"},
	})
	if len(all) != 2 || all[0].Ref != db || all[1].Ref != web || len(all[0].By) > 0 {
		t.Fatalf("the charts are %+v", all)
	}
	var by []string
	for _, c := range all[1].By {
		by = append(by, c.What)
	}
	if want := []string{"a2", "a8", "a9", "b"}; !slices.Equal(by, want) {
		t.Errorf("%s is named by %q, want %q", web, by, want)
	}
	if v := all[1].Verifications; len(v) != 2 || v[0].By != "b" || v[1].By != "both" || len(all[0].Verifications) > 0 {
		t.Errorf("who signed %s is asked by %+v", web, v)
	}
}

// older is a source of which a shallow clone lacks a commit.
type older struct {
	*twin.Repo

	lacks string
	err   error
}

// Snapshot implements published.Repository.
func (o *older) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	if rev == o.lacks {
		return nil, o.err
	}
	return o.Repo.Snapshot(ctx, rev, subdir)
}

// TestWherePathsWereLastSound: a file, or a folder, that is broken for longer was sound in a commit of its own; whatever else in the one
// that was published last. A commit that cannot be had is not another one.
func TestWherePathsWereLastSound(t *testing.T) {
	repo := twin.New("source")
	write := func(content string) string {
		return repo.Write("main", content, twin.Tree{"a.yaml": twin.File([]byte(content))}.Folder()).String()
	}
	first, second, third, lost := write("first"), write("second"), write("third"), write("lost")
	s := &state.State{Published: state.Publication{Commit: third}}
	s.LastGood.Broken = map[string]state.Part{"a.yaml": {Commit: first}, "dir/": {Commit: second}, "gone.yaml": {Commit: lost}}
	e := &earlier{planner: &Planner{Source: &older{repo, lost, errors.New("it is not there")}}, read: map[string]sources.Snapshot{}}
	by := e.by(t.Context(), s)
	for path, want := range map[string]string{"a.yaml": first, "dir": second, "dir/b.yaml": third, "c.yaml": third, "gone.yaml": ""} {
		found, ok := by(path)
		if ok != (want != "") || ok && found.Revision().Commit != want {
			t.Errorf("%s was last sound in %v, want %q", path, found, want)
		}
	}
	nothing := e.by(t.Context(), &state.State{})
	if _, ok := nothing("a.yaml"); ok {
		t.Error("before anything is published something was sound")
	}
}

// TestAShallowClone: that what is broken is held for want of a part of the history is told; that a commit cannot be had for another
// reason is not that.
func TestAShallowClone(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    lastgood.Unresolved
		err  error
		want bool
	}{
		{"nothing is out of reach", lastgood.Unresolved{}, git.ErrShallow, false},
		{"a commit that a shallow clone lacks", lastgood.Unresolved{OutOfReach: "c"}, git.ErrShallow, true},
		{"a commit that nobody has", lastgood.Unresolved{OutOfReach: "c"}, git.ErrMissing, false},
	} {
		p := &Planner{Source: &older{twin.New("source"), tt.d.OutOfReach, tt.err}}
		p.tellShallow(t.Context(), &tt.d)
		if got := len(tt.d.Diags) == 1 && tt.d.Diags[0].Code == diag.HistoryMissing && tt.d.Diags[0].Severity == diag.Error; got != tt.want {
			t.Errorf("%s: %+v", tt.name, tt.d.Diags)
		}
	}
}

// TestASchedule: one that is none is an error of the config, beside what else is wrong.
func TestASchedule(t *testing.T) {
	for schedule, wrong := range map[string]bool{`"0 8 * * *"`: false, `"8 o'clock"`: true} {
		repo := twin.New("source")
		text := fmt.Appendf(nil, "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {apply: {syncWindows: [{kind: allow, schedule: %s, duration: 1h, clusters: [\"*\"]}]}}\n", schedule)
		rev := repo.Write("main", "first", twin.Tree{"waybill.yaml": twin.File(text)}.Folder())
		p := &Planner{Source: repo, Now: time.Now}
		snapshot, err := repo.Snapshot(t.Context(), rev.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		src, err := p.Load(t.Context(), snapshot, render.With{})
		if err != nil || diag.HasErrors(src.Diags) != wrong {
			t.Errorf("%s: %v, %v", schedule, src.Diags, err)
		}
	}
}

// failing is an engine that cannot be asked.
type failing struct{ render.Engine }

// Render implements render.Engine.
func (failing) Render(context.Context, sources.Snapshot, []engine.Job) ([]engine.Rendered, error) {
	return nil, errors.New("the worker is gone")
}

// TestAnEngineThatFails is an error of ours, which stops the plan: what releases rendered to is not taken for gone.
func TestAnEngineThatFails(t *testing.T) {
	repo := twin.New("source")
	rev := repo.Write("main", "first", twin.Tree{"all.yaml": twin.File([]byte(`apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: a}
spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}
`)), "chart/Chart.yaml": twin.File([]byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"))}.Folder())
	snapshot, err := repo.Snapshot(t.Context(), rev.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	src, err := (&Planner{Source: repo, Now: time.Now}).Load(t.Context(), snapshot, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []render.Engine{nil, failing{}} {
		p := &Planner{Source: repo, Engine: e, Now: time.Now}
		obs := p.Observe(snapshot, src, plan.Branch)
		made, err := p.Build(t.Context(), &obs)
		if e != nil && err == nil {
			t.Errorf("it is planned: %v", made.Diags)
		}
		if e == nil && (err != nil || !slices.ContainsFunc(made.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.NotRendered })) {
			t.Errorf("without an engine it says %v, %v", made.Diags, err)
		}
	}
}
