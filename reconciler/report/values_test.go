package report_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/lock"
)

func deployment(name string) object.Ref {
	return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
}

func TestExplanation(t *testing.T) {
	golden(t, "explanation-of-nothing", report.Explanation(&report.Explained{Object: deployment("web"), Where: "web.yaml:1", Outcome: "unclaimed"}))
	changed := []override.Applied{{Rule: "OverridePolicy shop/images, rule 1", Where: "o.yaml:9", Changes: []override.Change{
		{Overrider: "imageOverrider[0]", Path: "/spec/image", Old: "a:1", New: "b:1"},
		{Overrider: "plaintext[0]", Path: "/metadata/labels/new", New: "x"},
	}}}
	golden(t, "explanation", report.Explanation(&report.Explained{
		Object: deployment("web"), Where: "web.yaml:1", Outcome: "placed", Message: "in two clusters", Release: "HelmRelease shop/web",
		Policy: "PropagationPolicy shop/spread", PolicyPos: "p.yaml:5", Losers: []match.Loser{{Policy: "ClusterPropagationPolicy all", Why: "lower priority"}},
		Answers:    []interpret.Answer{{Operation: "InterpretReplica", By: "native"}, {Operation: "Retain", By: "ResourceInterpreterCustomization own"}},
		RequiredBy: []karmada.BindingSnapshot{{Namespace: "shop", Name: "front-deployment", Clusters: []karmada.TargetCluster{{Name: "eu"}}}},
		Placement: &place.Report{
			Clusters: []place.ClusterReport{
				{Name: "eu", Rank: 1, Available: 40, Weight: 2, Seats: 2, Chosen: true},
				{Name: "us", Rank: 2, Available: math.MaxInt32, Weight: 1, Seats: 1, Chosen: true},
				{Name: "ap", Rank: 3, Available: 7},
				{Name: "za", Rejected: "it is tainted"},
			},
			Groups: []place.GroupReport{{Name: "north", Clusters: 2, Score: 100, Chosen: true}},
			Divisions: []place.Division{{Replicas: 3, Rounds: []place.Round{
				{Cluster: "eu", Weight: 2, Divisor: 1, Next: "us", NextWeight: 1, NextDivisor: 1},
				{Cluster: "us", Weight: 1, Divisor: 1},
			}}, {Replicas: 2, Each: true}},
			Tried: []place.Decision{{Group: "near", Message: "0/4 clusters are available"}, {Group: "far", Message: "scheduled"}},
		},
		Clusters: []report.Written{
			{Cluster: "eu", Replicas: 2, Changes: changed},
			{Cluster: "us", Replicas: 1, Changes: changed},
			{Cluster: "za", Error: "there is no /spec/image", Left: "kept", Why: "an override fails"},
			{Cluster: "ap", Left: "missed", Why: "the cluster is held"},
			{Cluster: "au", Left: "missed", Why: "the cluster is held"},
		},
	}))
}

func TestComparison(t *testing.T) {
	plain := report.Look{}
	golden(t, "comparison-of-equals", report.Comparison(&preview.Comparison{Base: "1", Head: "2"}, plain))
	broken := preview.Comparison{Diags: []diag.Diagnostic{{Code: "malformed", Severity: diag.Error, Message: "no colon"}}}
	golden(t, "comparison-with-errors", report.Comparison(&broken, plain))
	c := previewtest.Everything()
	golden(t, "comparison", report.Comparison(&c, plain))
	golden(t, "comparison-colour", report.Comparison(&c, report.Look{Colour: true}))
	golden(t, "comparison-stat", report.Comparison(&c, report.Look{Stat: true}))
}

// What has no room is counted, and what matters most is shown.
func TestComparisonHasSoMuchRoom(t *testing.T) {
	text := func(c *preview.Comparison, look report.Look) string {
		var b strings.Builder
		if err := report.Comparison(c, look).Write(&b, report.Text); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	c := previewtest.Everything()
	whole := text(&c, report.Look{})
	for _, room := range []int{1, 100, 400, 700, len(whole)} {
		said := text(&c, report.Look{Room: room})
		_, after, cut := strings.Cut(said, "not shown: there is no room")
		changes, _, _ := strings.Cut(after, "REGION")
		switch {
		case room == len(whole):
			if said != whole {
				t.Errorf("with room for all it says\n%s", said)
			}
		case !cut || len(changes) > room+200 || !strings.Contains(said, "Plan: "):
			t.Errorf("with room for %d bytes it says\n%s", room, said)
		case room >= 100 && !strings.Contains(said, "Deployment.apps/shop/old"):
			t.Errorf("with room for %d bytes what matters most is not there:\n%s", room, said)
		}
	}
	if said := text(&c, report.Look{Room: 1}); !strings.Contains(said, "8 more changes of 10 objects not shown") {
		t.Errorf("without room it says\n%s", said)
	}
	large := preview.Comparison{Changes: []preview.Change{
		{Verb: preview.Changes, Objects: []object.Ref{deployment("first")}, Changed: []preview.Content{{Clusters: []string{"eu"}}}},
		{Verb: preview.Changes, Objects: []object.Ref{deployment("second")}, Changed: []preview.Content{{Clusters: []string{"eu"}}}},
	}}
	for i := range 200_000 {
		large.Changes[0].Changed[0].Fields = append(large.Changes[0].Changed[0].Fields, fields.Field{Path: fmt.Sprintf("data.k%d", i), Op: fields.Replace, From: "a", To: "b"})
	}
	said := text(&large, report.Look{})
	if len(said) > 1<<20+2000 || !strings.Contains(said, "shop/first") || strings.Contains(said, "shop/second") ||
		!strings.Contains(said, "more lines") || !strings.Contains(said, "1 more change of 1 object not shown") {
		t.Errorf("of a large change it says %d bytes: %.300s", len(said), said)
	}
}

func TestPins(t *testing.T) {
	ref := func(name string) lock.Ref {
		return lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: name, Constraint: "1.x"}
	}
	entry := func(name, version, digest string) lock.Entry {
		return lock.Entry{Ref: ref(name), Version: version, Digest: digest}
	}
	golden(t, "pins", report.Pins([]report.Pin{
		{Ref: ref("new"), Is: entry("new", "1.0.0", "a")},
		{Ref: ref("newer"), Was: entry("newer", "1.0.0", "a"), Is: entry("newer", "1.1.0", "b")},
		{Ref: ref("other"), Was: entry("other", "1.0.0", "a"), Is: entry("other", "1.0.0", "b")},
		{Ref: ref("moved"), Was: entry("moved", "1.0.0", "a"), Is: entry("moved", "1.0.0", "a")},
		{Ref: ref("gone"), Was: entry("gone", "1.0.0", "a")},
	}))
}

func TestSandbox(t *testing.T) {
	walls := []worker.Wall{
		{Name: "user namespace", Up: true},
		{Name: "Landlock", Detail: "the kernel has none"},
		{Name: "try: TCP", Up: true},
		{Name: "try: read /etc", Detail: "it was read"},
	}
	golden(t, "sandbox-refuses", report.Sandbox(walls, false, "", nil))
	golden(t, "sandbox-renders", report.Sandbox(walls[:1], true, "0123abcd", nil))
	golden(t, "sandbox-host", report.Sandbox(walls[:1], true, "0123abcd", &probe.Host{
		Repository: "https://git.example/status.git", Bus: exchange.Branch, Unasked: true,
		Tries: []probe.Try{
			{Ref: probe.Refs + "x", Do: probe.Write, Why: "only branches"},
			{Ref: probe.Branches + "x", Do: probe.Write},
			{Ref: probe.Branches + "x", Do: probe.Read},
			{Ref: probe.Branches + "x", Do: probe.Replace},
			{Ref: probe.Branches + "x", Do: probe.Delete, Why: "deletion prohibited"},
		},
	}))
}

func TestStatusSaysThatACredentialEnds(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f := reports.Fleet{}
	for i, left := range []time.Duration{0, 300 * 24 * time.Hour, 3 * 24 * time.Hour, -time.Hour} {
		w := status.Report{At: now.Add(-time.Minute)}
		if left != 0 {
			w.Expires = now.Add(left)
		}
		f.Clusters = append(f.Clusters, reports.Cluster{ClusterHealth: status.ClusterHealth{Cluster: fmt.Sprintf("eu-%d", i), Mode: karmada.Push, State: status.Healthy, Report: &w}})
	}
	golden(t, "status-credentials", report.Fleet(&f, now))
}

// TestStatusCountsNothingThatNobodyKnows: what a cluster said of its objects too long ago is not shown as if it were so.
func TestStatusCountsNothingThatNobodyKnows(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w := status.Report{At: now.AddDate(0, -2, 0)}
	w.Counts = status.Counts{Objects: 12, Applied: 12, Healthy: 12}
	golden(t, "status-unknown", report.Fleet(&reports.Fleet{Clusters: []reports.Cluster{
		{ClusterHealth: status.ClusterHealth{Cluster: "eu", Mode: karmada.Push, State: status.Unknown, Report: &w}},
	}}, now))
}

// TestStatusCountsWhatIsNotAsItShouldBe: what failed, waits, or leaves and is there still, is one number, and how it is doing another.
func TestStatusCountsWhatIsNotAsItShouldBe(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w := status.Report{At: now.Add(-time.Minute)}
	w.Counts = status.Counts{Objects: 100, Failed: 1, Pending: 2, Leaving: 4, Unhealthy: 8, Unknown: 16, Drifting: 32}
	var b strings.Builder
	if err := report.Fleet(&reports.Fleet{Clusters: []reports.Cluster{
		{ClusterHealth: status.ClusterHealth{Cluster: "eu", Mode: karmada.Push, State: status.Healthy, Report: &w}},
	}}, now).Write(&b, report.Table); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, "- - 100 7 24 32 ") {
		t.Errorf("it prints %s", b.String())
	}
}

// TestStatusTellsWhatIsAppliedFromWhatIsPublished: a cluster that has not applied the head of its branch yet shows both commits.
func TestStatusTellsWhatIsAppliedFromWhatIsPublished(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	head, before := files.Sum("commit", []byte("head")), files.Sum("commit", []byte("before"))
	w := status.Report{At: now.Add(-time.Minute)}
	w.Commit = before
	f := reports.Fleet{Clusters: []reports.Cluster{
		{ClusterHealth: status.ClusterHealth{Cluster: "eu", Mode: karmada.Pull, State: status.Healthy, Head: head, Report: &w}},
	}}
	for format, want := range map[report.Format]string{
		report.Table: "eu Healthy " + head.String()[:12] + " " + before.String()[:12] + " ",
		report.JSON:  `"published": "` + head.String() + `", "applied": "` + before.String() + `"`,
	} {
		var b strings.Builder
		if err := report.Fleet(&f, now).Write(&b, format); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, want) {
			t.Errorf("it prints %s, want %q", b.String(), want)
		}
	}
}

func TestStatusCountsWhatIsHealthyNoMore(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w := status.Report{At: now.Add(-time.Minute)}
	w.Flipped = map[string]int{"Rollout.argoproj.io": 12, "Pod": 1}
	golden(t, "status-flipped", report.Fleet(&reports.Fleet{Clusters: []reports.Cluster{
		{ClusterHealth: status.ClusterHealth{Cluster: "eu", Mode: karmada.Push, State: status.Healthy, Report: &w}},
	}}, now))
}

// What a cluster says of objects that are not as they should be is listed in the order of their names, with the best reason that there is.
func TestStatusListsWhatIsNotWell(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	applied := status.Application{Phase: status.PhaseApplied, Commit: files.Sum("commit", []byte("c")), Since: ago(time.Hour)}
	corrected := applied
	corrected.Corrected = 3
	healthy := status.Health{State: karmada.ResourceHealthy}
	w := status.Report{At: ago(time.Minute), Objects: map[object.Ref]*status.Object{
		deployment("e-put"):   {Applied: corrected, Health: healthy},
		deployment("a-well"):  {Applied: applied, Health: healthy},
		deployment("b-fails"): {Applied: status.Application{Phase: status.PhaseFailed, Message: "quota", Since: ago(2 * time.Hour)}, Health: status.Health{State: karmada.ResourceUnknown, Since: ago(time.Minute)}},
		deployment("c-pods"): {Applied: applied, Flaps: 2, Health: status.Health{
			State: karmada.ResourceUnhealthy, By: "native", Message: "1 of 2", Since: ago(3 * time.Minute), Pods: []health.Pods{{Reason: "ImagePullBackOff", Container: "web", Count: 2}},
		}},
		deployment("d-says"):    {Applied: applied, Health: status.Health{State: karmada.ResourceUnhealthy, Reason: "Stuck", Message: "it hangs", Since: ago(4 * time.Minute)}},
		deployment("f-put-and"): {Applied: corrected, Health: status.Health{State: karmada.ResourceUnhealthy, Message: "it hangs, too", Since: ago(5 * time.Minute)}},
	}}
	w.Commit, w.Source = applied.Commit, strings.Repeat("a", 40)
	w.Counts = status.Counts{Objects: 6, Applied: 5, Failed: 1, Healthy: 2, Unhealthy: 3, Unknown: 1, Drifting: 2}
	w.Refused, w.More = []status.Refusal{{From: "us", Service: "shop/web", Message: "it is older"}, {From: "za", Message: "it is not signed"}}, 4
	f := reports.Fleet{Clusters: []reports.Cluster{
		{ClusterHealth: status.ClusterHealth{Cluster: "eu", Mode: karmada.Pull, State: status.Failing, Message: "1 object fails", Head: applied.Commit, Report: &w}, Rendered: strings.Repeat("b", 40)},
		{ClusterHealth: status.ClusterHealth{Cluster: "us", Mode: karmada.Push, State: status.Unknown, Message: "nobody said anything"}},
	}}
	f.Seen.Commit = strings.Repeat("c", 40)
	golden(t, "status-unwell", report.Fleet(&f, now))
	whole := report.Fleet(&f, now)
	for _, format := range []report.Format{report.Table, report.Wide} {
		if err := whole.Write(full{}, format); err == nil {
			t.Errorf("as %s it is written where there is no space", format)
		}
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A comparison with much of everything lists the first of each, and counts the others.
func TestComparisonOfMuch(t *testing.T) {
	many := func(n int, of string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%s%02d", of, i))
		}
		return all
	}
	var objects []object.Ref
	for _, name := range many(8, "label") {
		objects = append(objects, deployment(name))
	}
	const chart = `metadata.labels["helm.sh/chart"]`
	long := strings.Repeat("long ", 30) + "."
	c := preview.Comparison{
		Base: "1", Head: "2",
		Changes: []preview.Change{
			{Verb: preview.Stays, Objects: objects[:1], Detached: many(7, "c"), Elsewhere: 2},
			{Verb: preview.Moves, Objects: objects[1:2], Added: []string{"eu"}, Removed: []string{"us"}, Moves: []preview.Move{{From: "us", How: "at once", Nowhere: "for seconds"}}},
			{Verb: preview.Changes, Objects: objects, Changed: []preview.Content{{Clusters: []string{"eu", "us"}, Fields: []fields.Field{{Path: chart, Op: fields.Replace, From: "a-1", To: "a-2", Routine: true}}}}},
			{Verb: preview.Changes, Objects: objects[2:3], Replicas: &preview.Span{Before: 3, After: 3}, Changed: []preview.Content{
				{Clusters: []string{"eu"}, Fields: []fields.Field{
					{Path: "data.a", Op: fields.Replace, From: long, To: "short"},
					{Path: "data.b", Op: fields.Replace, From: "short", To: long},
					{Path: "data.c", Op: fields.Add, To: map[string]any{"x": "1", "y": "2"}},
				}},
				{Clusters: []string{"us"}, Fields: []fields.Field{{Path: "data.d", Op: fields.Remove, From: nil}, {Path: "data.e", Op: fields.Add, To: long[:100]}, {Path: "data.f", Op: fields.Add, To: long[:101]}}},
			}},
		},
		Guard: &preview.Guard{Command: "waybill publish --allow-prune", Holds: []preview.Hold{{Clusters: []string{"eu"}, Reason: "it would lose much"}}},
	}
	c.Services = []preview.Exchange{{Service: object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}, Exported: preview.Clusters{Added: []string{"eu"}}}}
	c.Rollouts = []preview.Rollout{{Unit: "shop/web", Strategy: "careful", Leaving: 2}}
	for _, name := range many(21, "cluster") {
		c.Clusters = append(c.Clusters, preview.Cluster{Name: name, Changed: 1})
	}
	for _, r := range objects[:6] {
		c.Guard.Holds[0].Removals = append(c.Guard.Holds[0].Removals, guard.Removal{Object: r, Cause: "it is gone"})
	}
	golden(t, "comparison-of-much", report.Comparison(&c, report.Look{}))
	golden(t, "comparison-of-much-stat", report.Comparison(&c, report.Look{Stat: true}))
	c.Clusters = c.Clusters[:20]
	c.Guard.Holds[0].Removals = c.Guard.Holds[0].Removals[:5]
	var b strings.Builder
	err := report.Comparison(&c, report.Look{}).Write(&b, report.Text)
	if err != nil || strings.Contains(b.String(), "more cluster") || strings.Contains(b.String(), "\n  and ") {
		t.Errorf("%v: what is listed is counted in\n%s", err, b.String())
	}
	if err := report.Comparison(&c, report.Look{}).Write(full{}, report.Text); err == nil {
		t.Error("it is written where there is no space")
	}
}

// Who pages a text finds where colours begin.
func TestColour(t *testing.T) {
	for text, want := range map[string]int{"": 0, "red": 0, "\x1b[0m": 4, "\x1b[1mbold": 4, "\x1b[36mcyan": 5, "\x1b[37mwhite": 0, "a\x1b[31m": 0} {
		if is := report.Colour([]byte(text)); is != want {
			t.Errorf("%q begins with a colour of %d bytes, want %d", text, is, want)
		}
	}
}
