package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	rules "github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// leaves is how work leaves clusters at a time, by what clusters say.
func leaves(at time.Time, enabled bool, last failover.Record, seen evict.Evidence) *failover.Settings {
	r := evict.Rules{Timeout: 10 * time.Minute, Rate: 1, Limits: evict.Limits{Unhealthy: 55, Large: 50, LargeUnhealthy: 50, OneIn: 1}}
	return &failover.Settings{Enabled: enabled, Rules: r, Record: last, Evidence: &failover.Live{Seen: seen, Rules: r, Now: at}}
}

// tainted is a fleet whose named clusters drive work out.
func tainted(names ...string) string {
	text := fleet
	for _, n := range names {
		text = strings.Replace(text, "name: "+n+"}\nspec: {syncMode: Pull}", "name: "+n+"}\nspec: {syncMode: Pull, taints: [{key: k, effect: NoExecute}]}", 1)
	}
	return text
}

// moves prints how a template leaves clusters, and where it is then.
func moves(d *schedule.Decision) string {
	if d == nil {
		return "none"
	}
	words := []string{d.Outcome.String()}
	for _, c := range d.Targets {
		words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
	}
	if m := d.Moves; m != nil {
		for _, t := range m.Tasks {
			words = append(words, "leaves "+t.FromCluster)
		}
		for _, t := range m.Over {
			words = append(words, "left "+t.FromCluster)
		}
		if m.Begins() {
			words = append(words, "for "+strings.Join(d.Gaining(), "+"))
		}
		for _, c := range m.With {
			words = append(words, "with "+c)
		}
		if m.Waits != "" {
			words = append(words, "waits for "+string(m.Waits))
		}
	}
	if d.Binding != nil && len(d.Binding.Spec.GracefulEvictionTasks) > 0 {
		words = append(words, fmt.Sprintf("recorded %d", len(d.Binding.Spec.GracefulEvictionTasks)))
	}
	return strings.Join(words, " ")
}

// What drives work out of a cluster moves it, and what it pulled along and what its FederatedHPA becomes with it; the next plan goes on
// from there.
func TestWorkLeavesClusters(t *testing.T) {
	const (
		single = "propagateDeps: true\n  placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}"
		fails  = "failover: {application: {decisionConditions: {tolerationSeconds: 0}}}\n  "
		both   = "propagateDeps: true\n  placement: {}"
		inEU   = "propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [eu]}}"
		waits  = "dependentOverrides: [o]\n  "
	)
	healthy := evict.Evidence{webRef: {"us": {Health: karmada.ResourceHealthy, Done: true, Current: true}}}
	failing := evict.Evidence{webRef: {"eu": {Health: karmada.ResourceUnhealthy, Since: noon}}}
	type plan struct {
		source string
		at     time.Duration
		off    bool
		seen   evict.Evidence
	}
	for _, tt := range []struct {
		name                  string
		plans                 []plan
		web, settings, scaler string
		says                  string
		moved                 bool // something began or ended in the last plan
		again                 time.Duration
	}{
		{
			"nothing drives it out",
			[]plan{{source: fleet + web + policy(single)}, {source: fleet + web + policy(single)}},
			"placed eu:10", "placed eu:10", "none", "", false, 0,
		},
		{
			"a taint drives it out, and what it needs goes with it",
			[]plan{{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}},
			"placed us:10 leaves eu for us recorded 1", "placed us:10 with eu", "none", "", true, time.Second,
		},
		{
			"its FederatedHPA leaves with it",
			[]plan{{source: fleet + web + scaler(4, 20) + policy(single)}, {source: tainted("eu") + web + scaler(4, 20) + policy(single)}},
			"placed us:10 leaves eu for us recorded 1", "placed us:10 with eu", "placed us:0 with eu", "", true, time.Second,
		},
		{
			"it leaves still",
			[]plan{
				{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}, {source: tainted("eu") + web + policy(single), at: time.Minute},
			},
			"placed us:10 leaves eu recorded 1", "placed us:10 with eu", "none", "", false, 9 * time.Minute,
		},
		{
			"its new copy is healthy, and it left",
			[]plan{
				{source: fleet + web + policy(single)},
				{source: tainted("eu") + web + policy(single)},
				{source: tainted("eu") + web + policy(single), at: time.Minute},
				{source: tainted("eu") + web + policy(single), at: 2 * time.Minute, seen: healthy},
			},
			"placed us:10 left eu", "placed us:10 with eu", "none", "", true, time.Second,
		},
		{
			"its time is over, and it left",
			[]plan{
				{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}, {source: tainted("eu") + web + policy(single), at: 11 * time.Minute},
			},
			"placed us:10 left eu", "placed us:10 with eu", "none", "", true, time.Second,
		},
		{
			"it is switched off, and what is under way ends only",
			[]plan{
				{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}, {source: tainted("eu", "us") + web + policy(single), at: time.Minute, off: true},
			},
			"placed us:10 leaves eu recorded 1", "placed us:10 with eu", "none", "", false, 9 * time.Minute,
		},
		{
			"it is switched off, and nothing begins",
			[]plan{{source: fleet + web + policy(both)}, {source: tainted("eu") + web + policy(both), off: true}},
			"placed eu:10 us:10", "placed eu:10 us:10", "none", "", false, 0,
		},
		{
			"its policy waits, and it leaves still",
			[]plan{
				{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}, {source: tainted("eu") + web + policy(waits+single), at: 11 * time.Minute},
			},
			"kept us:10 leaves eu recorded 1", "placed us:10 with eu", "none", "", false, 0,
		},
		{
			"no policy claims it any longer, while it leaves",
			[]plan{
				{source: fleet + web + policy(single)}, {source: tainted("eu") + web + policy(single)}, {source: tainted("eu") + web, at: time.Minute},
			},
			"unclaimed", "unclaimed", "none", "", false, 0,
		},
		{
			"it fails in a cluster, and leaves it",
			[]plan{{source: fleet + web + policy(fails+single)}, {source: fleet + web + policy(fails+single), at: time.Minute, seen: failing}},
			"placed us:10 leaves eu for us recorded 1", "placed us:10 with eu", "none", "", true, time.Second,
		},
		{
			"nobody says whether it fails",
			[]plan{{source: fleet + web + policy(fails+single)}, {source: fleet + web + policy(fails+single), seen: evict.Evidence{webRef: {}}}},
			"placed eu:10", "placed eu:10", "none", "health-unknown", false, 0,
		},
		{
			"nobody asks whether it fails",
			[]plan{{source: fleet + web + policy(single)}, {source: fleet + web + policy(single), seen: evict.Evidence{webRef: {}}}},
			"placed eu:10", "placed eu:10", "none", "", false, 0,
		},
		{
			"it is elsewhere as well, and gains nothing",
			[]plan{{source: fleet + web + policy(both)}, {source: tainted("eu") + web + policy(both)}},
			"placed us:10 leaves eu for  recorded 1", "placed us:10 with eu", "none", "", true, time.Second,
		},
		{
			"there is nowhere else",
			[]plan{{source: fleet + web + policy(inEU)}, {source: tainted("eu") + web + policy(inEU)}},
			"placed leaves eu for  recorded 1", "unclaimed with eu", "none", "unschedulable", true, time.Second,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st, record := &state.State{}, failover.Record{}
			var r schedule.Result
			var at time.Time
			for _, p := range tt.plans {
				in := input(t, decode(t, p.source), st)
				at = noon.Add(p.at)
				in.Now, in.Failover = at, leaves(at, !p.off, record, p.seen)
				r = schedule.Decide(in)
				st, record = after(&r), r.Record
			}
			settings := r.Find(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "settings"})
			if got := moves(r.Find(webRef)); got != tt.web {
				t.Errorf("web is %s, want %s", got, tt.web)
			}
			if got := moves(settings); got != tt.settings {
				t.Errorf("what it needs is %s, want %s", got, tt.settings)
			}
			if got := moves(r.Find(scalerRef)); got != tt.scaler {
				t.Errorf("what its FederatedHPA becomes is %s, want %s", got, tt.scaler)
			}
			if got := strings.Join(said(r.Diags), " "); got != tt.says {
				t.Errorf("it says %s, want %s", r.Diags, tt.says)
			}
			if moved := r.Record.Moved.Equal(at); moved != tt.moved {
				t.Errorf("it records that something moved at %s, and it is %s", r.Record.Moved, at)
			}
			if want := at.Add(tt.again); tt.again > 0 && !r.Recheck.At.Equal(want) || tt.again == 0 && !r.Recheck.At.IsZero() {
				t.Errorf("it may be another one at %s, want %s", r.Recheck.At, want)
			}
		})
	}
}

// While a plan knows nothing of what fails, it passes on what the plan before recorded.
func TestARecordIsPassedOn(t *testing.T) {
	last := failover.Record{Moved: noon, Pace: noon.Add(time.Minute)}
	in := input(t, decode(t, fleet+web+policy("placement: {}")), &state.State{})
	in.Now, in.Failover = noon.Add(time.Hour), leaves(noon.Add(time.Hour), false, last, nil)
	if r := schedule.Decide(in); r.Record != last {
		t.Errorf("it records %+v, want %+v", r.Record, last)
	}
	in.Failover = nil
	if r := schedule.Decide(in); r.Record != (failover.Record{}) {
		t.Errorf("without settings it records %+v", r.Record)
	}
}

// At most three leave at once; the fourth waits for the pace, which the next plan knows.
func TestThePaceHoldsOverAllTemplates(t *testing.T) {
	deployment, _, _ := strings.Cut(web, "---")
	var documents []string
	for _, name := range []string{"v", "w", "x", "y", "z"} {
		documents = append(documents, strings.Replace(deployment, "name: web", "name: "+name, 1))
	}
	all := strings.Join(documents, "---") + policy("placement: {}")
	first := decide(t, fleet+all, &state.State{})
	in := input(t, decode(t, tainted("eu")+all), after(&first))
	in.Now, in.Failover = noon, leaves(noon, true, failover.Record{}, nil)
	r := schedule.Decide(in)
	leaving := 0
	for _, d := range r.Decisions {
		if d.Moves.IsLeaving("eu") {
			leaving++
		}
	}
	if leaving != 3 || !r.Record.Pace.After(noon) || r.Decisions[4].Moves.Waits != state.WaitsForPace {
		t.Errorf("%d leave, and the last %s; the record is %+v", leaving, moves(&r.Decisions[4]), r.Record)
	}
}

// What a release renders to leaves where the release leaves, and with it.
func TestWhatAReleaseRendersLeavesWithIt(t *testing.T) {
	for _, tt := range []struct {
		fleet, want string
	}{
		{fleet, "placed eu:10"},
		{tainted("eu"), "placed us:10 leaves eu for us recorded 1"},
		{tainted("us"), "placed eu:10"},
	} {
		const releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
			"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], " +
			"placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}}\n"
		release := decode(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\nspec: {interval: 5m}\n")[0]
		deployment, _, _ := strings.Cut(web, "---")
		rendered := decode(t, deployment)[0]
		st := &state.State{}
		var r schedule.Result
		for _, source := range []string{fleet, tt.fleet} {
			set, _, diags := policies.Load(decode(t, source+releases), nil)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			memo := &template.Memo{}
			part := template.New(rendered, memo)
			part.Part = &template.Part{Release: release, Policy: set.Propagation[0], Groups: []int{0, 0}, Failed: map[string]bool{}}
			part.Part.Add(rendered, 0, memo)
			r = schedule.Decide(schedule.Input{
				Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Now: noon, Memo: &schedule.Memo{},
				Templates: []*template.Template{part, template.New(release, memo)}, Failover: leaves(noon, true, failover.Record{}, nil),
			})
			st = after(&r)
		}
		if got := moves(r.Find(webRef)); got != tt.want {
			t.Errorf("what it renders to is %s, want %s", got, tt.want)
		}
		web := r.Find(webRef).Moves
		if b := r.Find(release.Ref()).Moves.Begins(); b != web.Begins() || b && web.Begun[0].Message != r.Find(release.Ref()).Moves.Begun[0].Message {
			t.Errorf("the release is %s", moves(r.Find(release.Ref())))
		}
	}
}

// Replicas that find no node move to where there is room, and the next plans remember which cluster they left.
func TestReplicasFindANode(t *testing.T) {
	const byRoom = "placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}"
	const weighted = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"
	waiting := func(ready, waits int) string {
		return strings.Replace(roomy, "memory: 100Gi}}", fmt.Sprintf("memory: 100Gi}}, waybill: {unschedulable: [{apiVersion: apps/v1, kind: Deployment, namespace: a, "+
			"name: web, pods: 5, ready: %d, unschedulable: %d, since: '2026-11-21T11:50:00Z', seen: '2026-11-21T12:00:00Z'}]}", ready, waits), 1)
	}
	without := func(fleet, room string) string {
		before, after, _ := strings.Cut(fleet, "name: "+room)
		return before + "name: " + room + strings.Replace(after, "pods: '100'", "pods: '0'", 1)
	}
	for _, tt := range []struct {
		name         string
		first, fleet string
		policy       string
		off          bool
		want         string // the decision, what leaves, and which clusters get no more
		recorded     int
		says         string
		again        time.Duration
	}{
		{"none waits", roomy, roomy, policy(byRoom), false, "eu:5 us:5", 0, "", 0},
		{"some wait, and others have room", roomy, waiting(2, 3), policy(byRoom), false, "eu:2 us:8 3 leave eu for us:3 full eu", 1, "", 5 * time.Minute},
		{"some wait, and none has room", roomy, without(waiting(2, 3), "us"), policy(byRoom), false, "eu:5 us:5 full eu", 0, "no-room-elsewhere", 0},
		{"some wait, and nobody moves them", roomy, waiting(2, 3), policy(byRoom), true, "eu:5 us:5", 0, "", 0},
		{"some wait, and weights divide them", roomy, waiting(2, 3), policy(weighted), false, "eu:5 us:5", 0, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := decide(t, tt.first+web+tt.policy, &state.State{})
			in := input(t, decode(t, tt.fleet+web+tt.policy), after(&first))
			in.Now = noon
			if !tt.off {
				in.Descheduler = &rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}
			}
			r := schedule.Decide(in)
			d := r.Find(webRef)
			var words []string
			for _, c := range d.Targets {
				words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
			}
			if d.Shift != nil {
				for _, f := range d.Shift.From {
					words = append(words, fmt.Sprintf("%d leave %s for", f.Replicas, f.From))
					for _, c := range f.Destination {
						words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
					}
				}
				words = append(words, "full "+strings.Join(d.Shift.Full, "+"))
			}
			if got := strings.Join(words, " "); got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it is %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
			if lately := state.DescheduledFrom(d.Binding); len(lately) != tt.recorded {
				t.Errorf("it records %+v", lately)
			}
			if want := noon.Add(tt.again); tt.again > 0 && !r.Recheck.At.Equal(want) || tt.again == 0 && !r.Recheck.At.IsZero() {
				t.Errorf("it may be another one at %s, want %s", r.Recheck.At, want)
			}
		})
	}
}

// What a quota does not allow keeps its clusters and replicas, as far as it is not leaving them.
func TestAQuotaTakesBack(t *testing.T) {
	asks := strings.Replace(web, "image: x, ", "image: x, resources: {requests: {cpu: '1'}}, ", 1)
	more := strings.Replace(asks, "replicas: 10", "replicas: 20", 1)
	quota := func(namespace, cpu string) string {
		return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: q, namespace: " + namespace + "}\nspec: {overall: {cpu: '" + cpu + "'}}\n"
	}
	const both, inEU = "placement: {}", "placement: {clusterAffinity: {clusterNames: [eu]}}"
	for _, tt := range []struct{ name, first, second, want, says string }{
		{"it is within", "", asks + policy(inEU) + quota("a", "10"), "placed eu:10 Success", ""},
		{"it is over from the first", "", asks + policy(inEU) + quota("a", "9"), "placed QuotaExceeded", "quota-exceeded"},
		{"it grows beyond", asks + policy(inEU), more + policy(inEU) + quota("a", "19"), "placed eu:10 QuotaExceeded", "quota-exceeded"},
		{"it is over in both clusters together", asks + policy(inEU), asks + policy(both) + quota("a", "19"), "placed eu:10 QuotaExceeded", "quota-exceeded"},
		{"the quota is of another namespace", asks + policy(inEU), more + policy(inEU) + quota("b", "1"), "placed eu:20 Success", ""},
		{"it asks for nothing", web + policy(inEU), web + policy(inEU) + quota("a", "1"), "placed eu:10 Success", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			if tt.first != "" {
				r := decide(t, fleet+tt.first, st)
				st = after(&r)
			}
			r := decide(t, fleet+tt.second, st)
			d := r.Find(webRef)
			c, _ := state.Scheduled(d.Binding)
			if got := moves(d) + " " + c.Reason; got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it is %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
			if fits := c.Reason == "Success"; (c.Status == metav1.ConditionTrue) != fits || !fits && !strings.HasPrefix(c.Message, "exceeded quota q: ") {
				t.Errorf("its binding says %+v", c)
			}
			if !slices.Equal(d.Binding.Spec.Clusters, d.Targets) {
				t.Errorf("its binding has %v", d.Binding.Spec.Clusters)
			}
		})
	}
}
