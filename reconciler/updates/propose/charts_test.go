package propose_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// catalog has versions of charts, by the names of charts, and what fails.
type catalog struct {
	versions map[string][]string
	fails    error
	asked    []string
	says     string // what every chart says its version is; empty: the one that was asked for
}

func (s *catalog) Versions(_ context.Context, ref lock.Ref, known registry.Known) (registry.Known, error) {
	s.asked = append(s.asked, ref.Name)
	if s.fails != nil {
		return known, s.fails
	}
	return registry.Known{ETag: "e", Tags: s.versions[ref.Name]}, nil
}

func (s *catalog) At(_ context.Context, ref lock.Ref, version string) (lock.Entry, registry.Image, error) {
	e := entry(ref, version)
	if s.says != "" {
		e.Version = s.says
	}
	return e, registry.Image{Source: "https://example.com/chart"}, s.fails
}

// entry is what is locked of a chart at a version.
func entry(ref lock.Ref, version string) lock.Entry {
	sum := digest(map[bool]string{true: "a", false: "b"}[version == "1.0.0"])
	e := lock.Entry{Ref: ref, Version: strings.TrimPrefix(version, "v"), URL: ref.Repository + "/" + ref.Name + "-" + version + ".tgz", Digest: sum}
	if ref.Kind == lock.OCI {
		e.URL = ref.Repository + "/" + ref.Name + ":" + version + "@" + digest("c")
	}
	return e
}

var (
	podinfo = lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "podinfo", Constraint: "1.x"}
	api     = lock.Ref{Kind: lock.OCI, Repository: "oci://ghcr.io/acme/charts", Name: "api", Constraint: ">=1.0.0"}
)

// charted is a world whose source names charts, which are locked at 1.0.0, with settings below updates.
func charted(t *testing.T, settings string, refs ...lock.Ref) *world {
	t.Helper()
	source := map[string]string{
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  updates: {mode: pullRequest" + settings + "}\n",
	}
	w := begin(t, source)
	var locked lock.Lock
	for _, ref := range refs {
		w.charts.Uses = append(w.charts.Uses, planner.ChartUse{Ref: ref})
		locked = locked.With(entry(ref, "1.0.0"))
	}
	w.source[lock.FileName] = string(locked.Encode()) + "# kept\n"
	w.commit()
	return w
}

// locks puts a chart into the lock file at a version, as a merge does.
func (w *world) locks(ref lock.Ref, version string) string {
	w.t.Helper()
	data, err := lock.Replace([]byte(w.source[lock.FileName]), entry(ref, version))
	if err != nil {
		w.t.Fatal(err)
	}
	w.source[lock.FileName] = string(data)
	return w.commit().String()
}

// named are the names of the charts of a world, in the order of names.
func (w *world) named() (all []images.Name) {
	w.t.Helper()
	for i := range w.runsAnyway().Found.Verdicts {
		all = append(all, w.runsAnyway().Found.Verdicts[i].Name())
	}
	return all
}

func (w *world) runsAnyway() propose.Result {
	w.t.Helper()
	r, err := w.proposer.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

const podinfoBranch = "waybill/update/_charts/podinfo-1ea5a2d1"

// A newer version of a chart becomes one pull request, which changes its entry and nothing else of the file.
func TestAChart(t *testing.T) {
	w := charted(t, "", podinfo, api)
	w.catalog.versions = map[string][]string{"podinfo": {"1.0.0", "1.1.0", "1.2.0-rc.1", "2.0.0"}, "api": {"1.0.0"}}
	r := w.runs("Opened " + podinfoBranch)
	want := strings.Replace(w.source[lock.FileName], "version: 1.0.0\n    url: https://charts.example/podinfo-1.0.0.tgz\n    digest: "+digest("a"),
		"version: 1.1.0\n    url: https://charts.example/podinfo-1.1.0.tgz\n    digest: "+digest("b"), 1)
	if got := w.changes(podinfoBranch); len(got) != 1 || got[lock.FileName] != want || want == w.source[lock.FileName] {
		t.Errorf("the branch changes %v, want %s", got, want)
	}
	d := w.forge.drafts[0]
	for _, part := range []string{
		"`https://charts.example/podinfo`: `1.0.0` (`" + digest("a")[:19] + "`) to `1.1.0` (`" + digest("b")[:19] + "`), of the range `1.x`, locked in `waybill.lock` · [source](<https://example.com/chart>)",
		"first seen 2026-11-24", "what it does to every cluster",
	} {
		if !strings.Contains(d.Body, part) {
			t.Errorf("%q is not in\n%s", part, d.Body)
		}
	}
	if d.Title != "Update https://charts.example/podinfo to 1.1.0" || !strings.Contains(w.head(podinfoBranch).Message, "\nWaybill-Update: chart https://charts.example/podinfo 1.1.0\n") {
		t.Errorf("it is called %s, and its commit %s", d.Title, w.head(podinfoBranch).Message)
	}
	if r.Found.Verdicts[0].Why != updates.UpToDate || r.Found.Verdicts[0].Name().Namespace != updates.ChartFolder {
		t.Errorf("the other chart is %+v", r.Found.Verdicts[0])
	}
	w.runs("Stays " + podinfoBranch)
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.runs("Stays " + podinfoBranch)
	w.catalog.versions["podinfo"] = append(w.catalog.versions["podinfo"], "1.3.0")
	w.runs("Edited " + podinfoBranch)
	w.locks(podinfo, "1.3.0")
	w.forge.all[0].Open, w.forge.all[0].Merged = false, w.head("main").Commit.String()
	w.runs()
	w.locks(podinfo, "1.0.0") // somebody reverted it
	if r := w.runs(); r.Found.Takes() || !strings.Contains(fmt.Sprint(w.memory().Policies), "the source says 1.0.0 again") {
		t.Errorf("after a revert it is %+v", r.Found.Verdicts)
	}
}

// Images and charts have one limit, one schedule and one age.
func TestChartsAndImagesAreBoundTogether(t *testing.T) {
	s := sourceOf(", limits: {open: 1}")
	w := begin(t, s, "1.0.0", "1.1.0")
	w.source[lock.FileName] = string(lock.Lock{}.With(entry(podinfo, "1.0.0")).Encode())
	w.charts.Uses = []planner.ChartUse{{Ref: podinfo}}
	w.catalog.versions["podinfo"] = []string{"1.1.0"}
	w.commit()
	w.runs(waits, "Opened "+podinfoBranch)
	w = charted(t, ", minimumAge: 72h", podinfo)
	w.catalog.versions["podinfo"] = []string{"1.0.0", "1.1.0"}
	w.runs()
	w.catalog.versions["podinfo"] = append(w.catalog.versions["podinfo"], "1.2.0")
	w.now = w.now.Add(72 * time.Hour)
	w.runs("Opened " + podinfoBranch)
	if got := w.changes(podinfoBranch)[lock.FileName]; !strings.Contains(got, "version: 1.1.0") {
		t.Errorf("taken is %s", got)
	}
}

// What is not taken of charts, and why.
func TestChartsThatAreNotTaken(t *testing.T) {
	wide := podinfo
	wide.Constraint = ""
	tagged := api
	tagged.Constraint = "1.4"
	for name, tt := range map[string]struct {
		ref      lock.Ref
		versions string
		says     string
		why      updates.Why
		message  string
	}{
		"another major":              {wide, "1.0.0 2.0.0", "", updates.UpToDate, ""},
		"a prerelease":               {wide, "1.0.0 1.1.0-rc.1", "", updates.UpToDate, ""},
		"older":                      {podinfo, "1.0.0-0 0.9.0", "", updates.NothingFits, "is wanted"},
		"a range that is a tag":      {tagged, "1.4 1.4.0 1.4.1", "", updates.NothingFits, `"1.4" is no range there`},
		"a chart of another version": {podinfo, "1.1.0", "1.0.9", updates.NotAnswered, `1.1.0 is version "1.0.9" there`},
		"a loose version":            {podinfo, "1.0", "", updates.UpToDate, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := charted(t, "", tt.ref)
			w.catalog.versions[tt.ref.Name], w.catalog.says = strings.Fields(tt.versions), tt.says
			if v := w.runs().Found.Verdicts[0]; v.Why != tt.why || !strings.Contains(v.Message, tt.message) {
				t.Errorf("it is %s: %s", v.Why, v.Message)
			}
		})
	}
	exact, byDigest := podinfo, api
	exact.Constraint, byDigest.Constraint = "1.0.0", digest("a")
	w := charted(t, "", exact, byDigest)
	w.charts.Uses = append(w.charts.Uses, planner.ChartUse{Ref: podinfo}) // which is not locked
	if r := w.runs(); len(r.Found.Verdicts) > 0 || len(w.catalog.asked) > 0 {
		t.Errorf("subscribed is %+v", r.Found.Verdicts)
	}
}

// What is not known of charts closes nothing; what nobody names any more is closed.
func TestChartsThatAreNotKnown(t *testing.T) {
	for name, give := range map[string]func(*world){
		"no answer":       func(w *world) { w.catalog.fails = errors.New("429") },
		"a broken source": func(w *world) { w.charts = updates.Charts{Unsure: true} },
	} {
		t.Run(name, func(t *testing.T) {
			w := charted(t, "", podinfo)
			w.catalog.versions["podinfo"] = []string{"1.1.0"}
			w.runs("Opened " + podinfoBranch)
			give(w)
			if w.runs(); !w.forge.all[0].Open || len(w.memory().Open()) != 1 {
				t.Error("the pull request was closed")
			}
			w.charts, w.catalog.fails = updates.Charts{}, nil
			w.runs("Closed " + podinfoBranch)
		})
	}
}

// A version that was closed unmerged, at which a roll-out stopped, or that was reverted by another spelling, is kept back.
func TestAChartThatIsKeptBack(t *testing.T) {
	for name, give := range map[string]func(*world){
		"closed": func(w *world) { w.forge.all[0].Open = false },
		"stopped": func(w *world) {
			base, target := w.head("main").Commit.String(), w.locks(podinfo, "v1.1.0")
			w.locks(podinfo, "1.0.0")
			w.forge.all[0].Open, w.forge.all[0].Merged = false, target
			w.recorded = []rollouts.Rollout{{Status: rollouts.Status{Phase: rollouts.Stopped, Base: rollouts.Version{Commit: base}, Target: rollouts.Version{Commit: target}}}}
		},
		"reverted": func(w *world) {
			w.forge.all[0].Open, w.forge.all[0].Merged = false, w.locks(podinfo, "v1.1.0")
			w.runs()
			w.locks(podinfo, "1.0.0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := charted(t, "", podinfo)
			w.catalog.versions["podinfo"] = []string{"1.0.0", "v1.1.0"}
			w.runs("Opened " + podinfoBranch)
			give(w)
			w.now = w.now.Add(time.Hour)
			if r := w.runs(); r.Found.Takes() || r.Found.Verdicts[0].Choice.Newer[0].Why != "KeptBack" {
				t.Errorf("it is %+v", r.Found.Verdicts[0])
			}
			w.catalog.versions["podinfo"] = append(w.catalog.versions["podinfo"], "1.2.0")
			w.runs("Opened " + podinfoBranch)
		})
	}
}

// What verify of Flux's asks is checked for the manifest that is locked, by each who asks; what cannot be checked is not proposed.
func TestChartsThatAreSigned(t *testing.T) {
	good := &flux.Verification{By: "OCIRepository shop/api", Keys: map[string]string{"cosign.pub of Secret shop/keys": publicKey(t)}}
	for name, tt := range map[string]struct {
		ref     lock.Ref
		asked   []*flux.Verification
		fails   error
		why     updates.Why // empty: it is proposed
		message string
	}{
		"signed":            {ref: api, asked: []*flux.Verification{good}},
		"nothing is asked":  {ref: api, fails: errors.New("not asked")},
		"not signed":        {api, []*flux.Verification{good}, &registry.Error{Class: registry.Unverified, Of: "api", Err: errors.New("it has no signature")}, updates.Unverified, "OCIRepository shop/api asks who signed it: api: it has no signature"},
		"not answered":      {api, []*flux.Verification{good}, errors.New("503"), updates.NotAnswered, "503"},
		"cannot be checked": {api, []*flux.Verification{good, {By: "HelmRelease a/b", Problem: "its verify has no secretRef"}}, nil, updates.Unverified, "HelmRelease a/b asks who signed it: its verify has no secretRef"},
		"no key":            {api, []*flux.Verification{{By: "HelmRelease a/b", Keys: map[string]string{"x.pub": "no key"}}}, nil, updates.Unverified, "x.pub"},
		"over HTTP":         {podinfo, []*flux.Verification{good}, nil, updates.Unverified, "over HTTP have no signature"},
	} {
		t.Run(name, func(t *testing.T) {
			w := charted(t, "", tt.ref)
			w.catalog.versions[tt.ref.Name] = []string{"1.1.0"}
			w.charts.Uses[0].Verifications, w.registry.unkept = tt.asked, tt.fails
			v := w.runsAnyway().Found.Verdicts[0]
			if v.Why != tt.why || !strings.Contains(v.Message, tt.message) || len(w.forge.all) != map[bool]int{true: 1}[tt.why == ""] {
				t.Errorf("it is %q: %s, with %d pull requests", v.Why, v.Message, len(w.forge.all))
			}
			if want := []string{"ghcr.io/acme/charts/api@" + digest("c")}; name == "signed" && !slices.Equal(w.registry.verified, want) {
				t.Errorf("verified is %q, want %q", w.registry.verified, want)
			}
		})
	}
}

// Each reference has a branch of its own that Git takes, in whatever way it is spelled.
func TestNamesOfCharts(t *testing.T) {
	spelled, wide, dots := podinfo, podinfo, podinfo
	spelled.Repository, spelled.Constraint = "https://charts.example/", " 1.x "
	wide.Constraint, dots.Name = "", "a..b."
	w := charted(t, "", podinfo, spelled, wide, dots, api)
	got := map[string]bool{}
	for _, n := range w.named() {
		got[n.String()] = true
		if strings.Contains(n.Name, "..") || strings.HasSuffix(n.Name, ".lock") {
			t.Errorf("%s is no name of a branch", n)
		}
	}
	if len(got) != 4 || !got["_charts/podinfo-1ea5a2d1"] {
		t.Errorf("the names are %v", slices.Collect(maps.Keys(got)))
	}
}

// An entry that is written in a way that cannot be changed alone is a reason of its chart alone.
func TestALockFileThatCannotBeEdited(t *testing.T) {
	w := charted(t, "", podinfo, api)
	w.catalog.versions["podinfo"], w.catalog.versions["api"] = []string{"1.1.0"}, []string{"1.0.0", "1.1.0"}
	w.source[lock.FileName] = strings.Replace(w.source[lock.FileName], "version: 1.0.0", "version: &v 1.0.0", 1)
	w.commit()
	if v := w.runs("Opened waybill/update/_charts/api-552fe8f2").Found.Verdicts[1]; v.Why != updates.Uneditable || !strings.Contains(v.Message, "line 9") {
		t.Errorf("it is %s: %s", v.Why, v.Message)
	}
}
