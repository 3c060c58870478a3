package problems_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// at is a time, in minutes from noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// how is how a cluster is; nobody reports of one without a report.
func how(name, state, message string, report *status.Report) reports.Cluster {
	return reports.Cluster{
		ClusterHealth: status.ClusterHealth{Cluster: name, State: state, Message: message, Report: report},
		Registered:    &karmada.Cluster{},
	}
}

// held has a publication hold a cluster.
func held(c reports.Cluster, why string, since int, isSo metav1.ConditionStatus) reports.Cluster {
	c.Registered.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(at(-999))},
		{Type: state.HeldCondition, Status: isSo, Message: why, LastTransitionTime: metav1.NewTime(at(since))},
	}
	return c
}

// says is a report with a verdict.
func says(reason, message string, since, heard int) *status.Report {
	r := &status.Report{At: at(heard)}
	r.Verdict, r.Since = status.Verdict{Reason: reason, Message: message}, at(since)
	return r
}

// whole is all that a list says.
func whole(l *problems.List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d more, %v unreported, since %s, of %s at %s\n", l.More, l.Unreported, clock(l.Since), l.Commit, clock(l.Checked))
	for i := range l.Problems {
		p := &l.Problems[i]
		fmt.Fprintf(&b, "%s %s, %s: %s\n", p.Kind, p.Name, p.Reason, p.Message)
		fmt.Fprintf(&b, "  in %v of %d since %s by %q of %s %q at %s:%d loses %v\n",
			p.Clusters, p.Of, clock(p.Since), p.Author, p.Commit, p.Subject, p.File, p.Line, p.Loses)
		fmt.Fprintf(&b, "  %s\n", p.Next)
	}
	return b.String()
}

func clock(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Format("15:04")
}

// isOfObject are the kinds that are about objects.
var isOfObject = map[problems.Kind]bool{
	problems.NotPlaced: true, problems.NotApplied: true, problems.Unhealthy: true, problems.Drifting: true,
}

// TestWhatIsListed: whole lists, of facts as they are read.
func TestWhatIsListed(t *testing.T) {
	well := says(status.Applied, "", -5, 0)
	unwell := says(status.Failing, "", -5, 0)
	unwell.Counts.Drifting = 1
	keeps := func(cluster, why string, kept bool) facts.Target {
		return facts.Target{Cluster: cluster, Left: why, Kept: kept}
	}
	heldBy := reason.Held.Message()
	bound := func(b facts.Bindings) func() facts.Bindings { return func() facts.Bindings { return b } }
	long := metav1.NewTime(at(-30))
	unplaced := metav1.Condition{Status: metav1.ConditionFalse, Reason: "NoClusterFit", Message: "0/3", LastTransitionTime: long}
	unwellB := status.Health{State: karmada.ResourceUnhealthy, Reason: "Crash", Since: at(-8)}
	fails := &status.Object{Applied: status.Application{Phase: status.PhaseFailed}}
	failing := func(code diag.Code, minutes int) sourceerrors.Error {
		return sourceerrors.Error{Code: code, File: "a.yaml", Line: 3, Message: "no", Hint: "do", Commit: "c0ffee", Since: at(minutes)}
	}
	nowhere := sourceerrors.Error{Code: diag.Kustomize, Message: "of no file", Commit: "beef", Since: at(-3)}
	withPods := status.Health{
		State: karmada.ResourceUnhealthy, Reason: "Crash", Message: "it says so", Since: at(-4),
		Pods: []health.Pods{{Reason: "OOMKilled", Count: 2, Container: "c"}},
	}
	unwellFleet := facts.Facts{
		Fleet: reports.Fleet{Clusters: []reports.Cluster{
			how("a", status.Failing, "", unwell), how("b", status.Failing, "", unwell), how("c", status.Healthy, "", well), how("f", status.Failing, "", unwell),
			how("d", status.Unknown, "", unwell), how("e", status.Untold, "", nil),
		}},
		Bindings: bound(facts.Bindings{Templates: []*facts.Template{{Ref: ref("api"), Targets: make([]facts.Target, 3)}}}),
	}
	unwellObjects := map[string]map[object.Ref]*status.Object{
		"a": {
			ref("api"): {Applied: status.Application{Phase: status.PhaseApplied, Source: "c1"}, Health: withPods},
			ref("web"): {Applied: status.Application{Phase: status.PhaseFailed, Message: "denied", Since: at(-6)}, Health: withPods},
			ref("db"):  {Applied: status.Application{Phase: status.PhaseApplied, Since: at(-2), Corrected: 2}},
		},
		"b": {
			ref("api"): {Applied: status.Application{Phase: status.PhaseApplied, Source: "c1"}, Health: unwellB},
			ref("web"): {Applied: status.Application{Phase: status.PhaseFailed, Message: "a denial"}},
			ref("db"):  {Applied: status.Application{Phase: "Waiting", Corrected: 2}, Health: withPods},
		},
		"c": {ref("api"): fails}, "d": {ref("api"): fails}, "f": {ref("web"): fails}, // which does not say why
	}
	for _, tt := range []struct {
		name    string
		facts   facts.Facts
		objects map[string]map[object.Ref]*status.Object
		want    string
	}{
		{"nothing is published", facts.Facts{}, nil, `
0 more, [] unreported, since never, of  at 12:00
`},
		{"clusters that do not take their branch", facts.Facts{Fleet: reports.Fleet{Clusters: []reports.Cluster{
			how("a", status.Errored, "no branch", says(status.Errored, "no branch", -7, 0)),
			how("b", status.Errored, "no branch", says(status.Errored, "no branch", -9, 0)),
			how("c", status.Errored, "no key", says(status.Errored, "no key", -8, 0)), how("d", status.NoCredential, "none", nil),
			how("e", status.Unknown, "too long", says(status.Applied, "", -90, -60)),
			how("f", status.Unknown, "another", says(status.Applied, "", -90, -50)),
			how("g", status.Unknown, "it is of another cluster", nil), how("h", status.Healthy, "", well), how("i", status.Untold, "", nil),
			held(how("j", status.Held, "1 object", says(status.Unreachable, "refused", -3, 0)), "it would lose all", -2, metav1.ConditionTrue),
		}}}, nil, `
0 more, [i] unreported, since never, of  at 12:00
ClusterFailing Error, Error: no branch
  in [a b] of 0 since 11:51 by "" of  "" at :0 loses []
  waybill status a
ClusterFailing c, Error: no key
  in [c] of 0 since 11:52 by "" of  "" at :0 loses []
  waybill status c
ClusterFailing d, NoCredential: none
  in [d] of 0 since never by "" of  "" at :0 loses []
  waybill status d
ClusterFailing j, Unreachable: refused
  in [j] of 0 since 11:57 by "" of  "" at :0 loses []
  waybill status j
Held j, Held: it would lose all
  in [j] of 0 since 11:58 by "" of  "" at :0 loses []
  waybill publish --allow-prune=j
Silent Unknown, Unknown: nobody said anything of it for too long
  in [e f] of 0 since 11:00 by "" of  "" at :0 loses []
  waybill status e
Silent g, Unknown: it is of another cluster
  in [g] of 0 since never by "" of  "" at :0 loses []
  waybill status g
`},
		{"what is held", facts.Facts{Fleet: reports.Fleet{Seen: state.Publication{Commit: "c0ffee"}, Clusters: []reports.Cluster{
			held(how("a", status.Held, "no", well), "it would lose 3", -20, metav1.ConditionTrue),
			held(how("b", status.Held, "no", nil), "it would lose 3", -30, metav1.ConditionTrue),
			held(how("c", status.Held, "1 object is held", well), "it would lose 3", -20, metav1.ConditionFalse),
			how("d", status.Held, "1 object is held", nil),
			held(how("e", status.Healthy, "", well), "it would lose 4", -10, metav1.ConditionTrue),
		}}, Bindings: bound(facts.Bindings{Templates: []*facts.Template{
			{Ref: ref("api"), Targets: []facts.Target{
				keeps("a", heldBy, true), keeps("b", heldBy, true), keeps("c", heldBy, false), keeps("e", "another", true),
			}},
			{Ref: ref("web"), Targets: []facts.Target{keeps("e", heldBy, true)}},
		}})}, nil, `
0 more, [] unreported, since never, of c0ffee at 12:00
Held held clusters, Held: 1 object is held
  in [c d] of 0 since 11:55 by "" of  "" at :0 loses []
  waybill status c
Held held clusters, Held: it would lose 3
  in [a b] of 0 since 11:30 by "" of c0ffee "" at :0 loses [Deployment.apps/shop/api]
  waybill publish --allow-prune=a,b
Held e, Held: it would lose 4
  in [e] of 0 since 11:50 by "" of c0ffee "" at :0 loses [Deployment.apps/shop/web]
  waybill publish --allow-prune=e
`},
		{"errors of the source, and what is not placed", facts.Facts{
			SourceErrors: func() sourceerrors.Record {
				return sourceerrors.Record{More: 4, Errors: []sourceerrors.Error{
					failing(diag.Unschedulable, -30), failing(diag.Unschedulable, -31), failing("x", -30), nowhere,
				}}
			},
			Bindings: bound(facts.Bindings{Unreadable: []string{"bindings/a.yaml"}, Templates: []*facts.Template{
				{Ref: ref("api"), Source: "api.yaml", Scheduled: unplaced},
				{Ref: ref("web")},
				{Ref: ref("db"), Scheduled: metav1.Condition{Status: metav1.ConditionTrue}},
				{Ref: object.Ref{Kind: "Namespace", Name: "n"}, Scheduled: unplaced},
			}}),
		}, nil, `
4 more, [] unreported, since never, of  at 12:00
SourceError a.yaml, unschedulable: no
  in [] of 0 since 11:29 by "" of c0ffee "" at a.yaml:3 loses []
  do
SourceError a.yaml, x: no
  in [] of 0 since 11:30 by "" of c0ffee "" at a.yaml:3 loses []
  do
SourceError the source, kustomize: of no file
  in [] of 0 since 11:57 by "" of beef "" at :0 loses []
  
SourceError waybill/state:bindings/a.yaml, Unreadable: what it says is not known
  in [] of 0 since never by "" of  "" at :0 loses []
  git log -p waybill/state -- bindings/a.yaml
NotPlaced Deployment.apps/shop/api, NoClusterFit: 0/3
  in [] of 0 since 11:30 by "" of c0ffee "" at api.yaml:0 loses []
  waybill explain deployment/api -n shop
NotPlaced Namespace/n, NoClusterFit: 0/3
  in [] of 0 since 11:30 by "" of c0ffee "" at :0 loses []
  waybill explain namespace/n
`},
		{"errors are more than are told", facts.Facts{
			SourceErrors: func() sourceerrors.Record { return sourceerrors.Record{More: 2} },
			Fleet:        reports.Fleet{Clusters: []reports.Cluster{how("a", status.Healthy, "", well)}},
		}, nil, `
2 more, [] unreported, since never, of  at 12:00
`},
		{"objects", unwellFleet, unwellObjects, `
0 more, [e] unreported, since never, of  at 12:00
NotApplied Deployment.apps/shop/web, Failed: a denial
  in [a b f] of 0 since 11:54 by "" of  "" at :0 loses []
  waybill explain deployment/web -n shop
Unhealthy Deployment.apps/shop/api, Crash: 
  in [b] of 3 since 11:52 by "" of c1 "" at :0 loses []
  waybill explain deployment/api -n shop
Unhealthy Deployment.apps/shop/api, OOMKilled: 2 pods OOMKilled in c; it says so
  in [a] of 3 since 11:56 by "" of c1 "" at :0 loses []
  waybill explain deployment/api -n shop
Drifting Deployment.apps/shop/db, Drifting: somebody changes it: it was put right 2 times
  in [a] of 0 since 11:58 by "" of  "" at :0 loses []
  waybill explain deployment/db -n shop
Silent d, Unknown: nobody said anything of it for too long
  in [d] of 0 since 12:00 by "" of  "" at :0 loses []
  waybill status d
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := tt.facts
			all.At = noon
			objects := func(m *reports.Cluster) map[object.Ref]*status.Object { return tt.objects[m.Cluster] }
			l := problems.Of(problems.Input{Facts: &all, Objects: objects})
			if diff := cmp.Diff(tt.want, whole(&l)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
			for i := range l.Problems {
				p := &l.Problems[i]
				if r, ok := p.Object(); ok != isOfObject[p.Kind] || ok && r.String() != p.Name {
					t.Errorf("%s is about %s, %t", p.Name, r, ok)
				}
			}
		})
	}
}

// What a publication holds came with the commit at which the hold began, where that is known; nothing else is asked about, and the list
// itself stays as it is.
func TestWhatAHoldCameWith(t *testing.T) {
	l := problems.List{Problems: []problems.Problem{
		{Kind: problems.Held, Commit: "now", Since: at(-1)},
		{Kind: problems.Held, Commit: "now", Since: at(-2)},
		{Kind: problems.Held, Since: at(-1)},
		{Kind: problems.NotPlaced, Commit: "now", Since: at(-1)},
	}}
	before := whole(&l)
	caused := l.Caused(func(since time.Time) string {
		if since.Equal(at(-1)) {
			return "began"
		}
		return ""
	})
	var commits []string
	for i := range caused.Problems {
		commits = append(commits, caused.Problems[i].Commit)
	}
	if diff := cmp.Diff([]string{"began", "now", "", "now"}, commits); diff != "" || whole(&l) != before {
		t.Errorf("(-want +is):\n%s\nand the list is %s", diff, whole(&l))
	}
	authored := l.Authored(func(commit string) *facts.Author { return map[string]*facts.Author{"now": {Name: "ann"}}[commit] })
	if authored.Problems[0].Author != "ann" || authored.Problems[2].Author != "" || whole(&l) != before {
		t.Errorf("it is %s, and the list %s", whole(&authored), whole(&l))
	}
	none := l.Authored(func(string) *facts.Author { return nil })
	if whole(&none) != before {
		t.Errorf("where nobody knows who wrote it, it is %s", whole(&none))
	}
}
