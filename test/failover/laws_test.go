// Package failover holds plans against the laws of failover, over fleets whose clusters fail at
// random.
//
//   - What is somewhere is not nowhere, unless its policy purges directly, and a divided workload
//     has no fewer replicas than it asks for over all clusters.
//   - A plan of the same time is the same plan, and so is one of any time before the one at which
//     it says that it may be another.
//   - A plan that is made again from what was recorded of it is the same, without evidence.
//   - What is on the branch of a cluster that was observed to be lost stays there as long as it is.
//   - While most clusters are not ready nothing moves, and no more clusters are left at a time
//     than may be.
package failover

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// workloads are what is in every fleet: what their policies say.
var workloads = map[string]string{
	"all":      "placement: {}",
	"weighted": "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}",
	"dynamic":  "placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}",
	"few":      "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}",
	"directly": "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}\n  failover: {cluster: {purgeMode: Directly}}",
	"patient":  "placement: {clusterTolerations: [{key: bad, operator: Exists, tolerationSeconds: 90}], replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}",
	"groups":   "placement: {clusterAffinities: [{affinityName: one, clusterNames: [c0, c1]}, {affinityName: two, clusterNames: [c2, c3]}]}",
	"pinned":   "placement: {clusterAffinity: {clusterNames: [c0]}}",
	"sick":     "propagateDeps: true\n  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}\n  failover: {application: {decisionConditions: {tolerationSeconds: 45}}}",
}

const replicas = 6

var runs = flag.Uint("failover.runs", 8, "fleets")

// member is a cluster.
type member struct{ bad, ready bool }

// fleet is a fleet on its way.
type fleet struct {
	t       *testing.T
	r       *rand.Rand
	members []member
	// observed reports that whether clusters are ready is observed; otherwise their files say it.
	observed bool
	now      time.Time
	in       plan.Input
	last     plan.Plan
}

func TestLaws(t *testing.T) {
	for seed := range uint64(*runs) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			f := fleet{t: t, r: rand.New(rand.NewPCG(seed, 0)), now: time.Unix(1_000_000, 0).UTC(), observed: seed%2 == 0}
			for range 3 + f.r.IntN(10) {
				f.members = append(f.members, member{ready: true})
			}
			f.load()
			f.publish()
			for range 15 {
				f.step()
			}
		})
	}
}

// TestThreeHundredOfAThousand has 300 of 1,000 clusters vanish at once: nothing moves, and it is
// said why. When most of them are back, what is left of them is moved.
func TestThreeHundredOfAThousand(t *testing.T) {
	f := fleet{t: t, r: rand.New(rand.NewPCG(1, 0)), now: time.Unix(1_000_000, 0).UTC()}
	for range 1000 {
		f.members = append(f.members, member{ready: true})
	}
	f.load()
	f.publish()
	was := f.in.Published
	for i := range 300 {
		f.members[i].ready = false
	}
	f.now = f.now.Add(time.Minute)
	f.load()
	start := time.Now()
	f.publish()
	t.Logf("planned, and planned again from its record, in %s", time.Since(start))
	for name, p := range f.in.Published {
		if p.Built.ID() != was[name].Built.ID() {
			t.Errorf("the branch of %s moves", name)
		}
	}
	said := func(code diag.Code) bool {
		return slices.ContainsFunc(f.last.Diags, func(d diag.Diagnostic) bool { return d.Code == code })
	}
	if moved := summary.ByFailover(&f.last); len(moved) > 0 || !said(diag.FailoverFrozen) {
		t.Errorf("it moves %d, and says %v", len(moved), f.last.Diags)
	}
	for i := range 290 {
		f.members[i].ready = true
	}
	f.now = f.now.Add(time.Minute)
	f.load()
	f.publish()
	if moved := summary.ByFailover(&f.last); len(moved) > 0 || !said(diag.FailoverFrozen) || !f.last.Basis.RecheckAt.Equal(f.now.Add(evict.RecoveryDelay)) {
		t.Errorf("others may be about to come back, and it moves %d, says %v, and looks again at %s", len(moved), f.last.Diags, f.last.Basis.RecheckAt)
	}
	f.now = f.last.Basis.RecheckAt
	f.load()
	f.publish()
	if moved := summary.ByFailover(&f.last); len(moved) == 0 || said(diag.FailoverFrozen) {
		t.Errorf("it moves %d, and says %v", len(moved), f.last.Diags)
	}
}

// step has something happen, and holds the plans after it against the laws.
func (f *fleet) step() {
	f.t.Helper()
	for range f.r.IntN(3) {
		m := &f.members[f.r.IntN(len(f.members))]
		switch f.r.IntN(3) {
		case 0:
			m.bad = !m.bad
		case 1:
			m.ready = false
		case 2:
			m.ready = true
		}
	}
	passes := time.Duration(1+f.r.IntN(300)) * time.Second
	if at := f.last.Basis.RecheckAt; !at.IsZero() && f.r.IntN(2) == 0 {
		passes = at.Sub(f.now)
	}
	f.now = f.now.Add(passes)
	f.load()
	f.in.Evidence = f.evidence()
	f.publish()
	f.steady()
}

// load reads the source as it is now.
func (f *fleet) load() {
	f.t.Helper()
	var b strings.Builder
	for i, m := range f.members {
		taints, conditions := "", ""
		if m.bad {
			taints = ", taints: [{key: bad, effect: NoExecute}]"
		}
		if !f.observed {
			conditions = fmt.Sprintf(", conditions: [{type: Ready, status: \"%s\"}]", m.status())
		}
		fmt.Fprintf(&b, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%d}\nspec: {syncMode: Pull%s}\nstatus: {resourceSummary: {allocatable: {pods: %d}}%s}\n---\n", i, taints, 200+10*i, conditions)
	}
	for _, name := range slices.Sorted(maps.Keys(workloads)) {
		policy := workloads[name]
		fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: a}\nspec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n---\n", name, replicas)
		fmt.Fprintf(&b, "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: %[1]s}]\n  %s\n---\n", name, policy)
	}
	b.WriteString("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: dead}\nspec:\n  addOnConditions: [{conditionType: Ready, operator: In, statusValues: [\"False\"]}]\n" +
		"  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: [\"True\"]}]\n  taints: [{key: dead, effect: NoExecute}]\n")
	texts := twin.Texts{"all.yaml": b.String(), "waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {failover: {enabled: true, gracefulEvictionTimeout: 2m}}\n"}
	src, err := render.Load(f.t.Context(), source{texts}, render.With{})
	if err != nil {
		f.t.Fatal(err)
	}
	before := f.in
	f.in = plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), State: before.State, Published: before.Published, Now: f.now}
	f.observe()
}

// observe has the state say what was observed of the clusters.
func (f *fleet) observe() {
	if !f.observed {
		return
	}
	f.in.State.Observed = map[string]*karmada.ClusterStatus{}
	for i, m := range f.members {
		f.in.State.Observed[fmt.Sprint("c", i)] = &karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: m.status()}}}
	}
}

// status is that of the condition Ready.
func (m member) status() metav1.ConditionStatus {
	if m.ready {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// source is a snapshot with a date.
type source struct{ twin.Texts }

func (source) Revision() sources.Revision {
	return sources.Revision{Repo: "fleet", Commit: "head", When: time.Unix(0, 0)}
}

// evidence is what clusters say, at random: some say nothing.
func (f *fleet) evidence() evict.Evidence {
	all := evict.Evidence{}
	for _, name := range slices.Sorted(maps.Keys(workloads)) {
		r := ref(name)
		all[r] = map[string]evict.Seen{}
		for i, m := range f.members {
			cluster := fmt.Sprint("c", i)
			if f.r.IntN(4) == 0 {
				continue
			}
			_, there := f.count(cluster, r)
			s := evict.Seen{Health: karmada.ResourceHealthy, Done: true, Since: f.now.Add(-time.Duration(f.r.IntN(100)) * time.Second), Current: there, Gone: !there}
			if !m.ready || f.r.IntN(3) == 0 {
				s.Health, s.Done = karmada.ResourceUnhealthy, false
			}
			all[r][cluster] = s
		}
	}
	return all
}

func ref(name string) object.Ref {
	return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: name}
}

// count returns the replicas that a cluster's branch has of a workload; false if it has none.
func (f *fleet) count(cluster string, r object.Ref) (int32, bool) {
	built := f.in.Published[cluster].Built
	if built == nil {
		return 0, false
	}
	e, ok := built.Lookup(tree.Path(r))
	if !ok {
		return 0, false
	}
	n, _ := f.last.Replicas(e.Blob)
	return n, true
}

// publish plans and publishes, and holds what is then published, and what a plan that is made
// again makes of it.
func (f *fleet) publish() {
	f.t.Helper()
	was := f.in
	p := plan.Build(f.in)
	f.last = p
	f.follow(&p)
	f.keeps(was.Published)
	f.stays()
	f.bounded()
	again := was
	again.Evidence, again.Memo, again.Replay = nil, plan.NewMemo(), &plan.Replay{State: f.in.State}
	if !p.Basis.Scheduled {
		again.Now = time.Time{}
	}
	q := plan.Build(again)
	for c := range files.Diff(p.State, q.State) {
		f.t.Errorf("%s: made again from what was recorded it is another plan: %s is\n%s\nand was\n%s", f.now.Format(time.TimeOnly), c.Path, text(c.New), text(c.Old))
	}
}

// text is the content of a file.
func text(e files.Entry) string {
	if e.Blob == nil {
		return "(none)"
	}
	data, err := e.Blob.Bytes()
	return fmt.Sprint(string(data), err)
}

// follow has the next plan follow one.
func (f *fleet) follow(p *plan.Plan) {
	f.t.Helper()
	var err error
	if f.in.State, err = state.Decode(p.State, &f.in.State); err != nil {
		f.t.Fatal(err)
	}
	f.in.Published = map[string]tree.Published{}
	for _, c := range p.Clusters {
		if c.Held != nil {
			f.t.Errorf("%s is held: %s", c.Name, c.Held.Reason)
		}
		f.in.Published[c.Name] = tree.Published{Built: c.Tree}
	}
	f.observe()
}

// keeps holds that clusters which were observed to be lost have lost nothing by a plan.
func (f *fleet) keeps(before map[string]tree.Published) {
	f.t.Helper()
	for i, m := range f.members {
		cluster := fmt.Sprint("c", i)
		if !f.observed || m.ready || before[cluster].Built == nil {
			continue
		}
		for c := range files.Diff(before[cluster].Built, f.in.Published[cluster].Built) {
			if c.New.Name == "" {
				f.t.Errorf("%s: %s is lost, and loses %s", f.now.Format(time.TimeOnly), cluster, c.Path)
			}
		}
	}
}

// stays holds that everything is somewhere, with all its replicas.
func (f *fleet) stays() {
	f.t.Helper()
	for name, policy := range workloads {
		if name == "directly" {
			continue
		}
		var total int32
		somewhere := false
		for i := range f.members {
			n, there := f.count(fmt.Sprint("c", i), ref(name))
			total, somewhere = total+n, somewhere || there
		}
		if !somewhere || strings.Contains(policy, "Divided") && total < replicas {
			f.t.Errorf("%s: %s is somewhere: %v, with %d replicas", f.now.Format(time.TimeOnly), name, somewhere, total)
		}
	}
}

// bounded holds that what moves is within its bounds.
func (f *fleet) bounded() {
	f.t.Helper()
	unready, left, moved := 0, map[string]bool{}, summary.ByFailover(&f.last)
	for _, m := range f.members {
		if !m.ready {
			unready++
		}
	}
	for _, d := range f.last.Decisions {
		if d.Moves == nil {
			continue
		}
		for _, t := range d.Moves.Tasks {
			if t.Producer == evict.TaintManager && len(d.Moves.Last) == 0 {
				left[t.FromCluster] = true
			}
		}
	}
	c := f.in.Source.Config.Failover.Limits
	l := evict.Limits{Unhealthy: c.UnhealthyThreshold, Large: c.LargeFleet, LargeUnhealthy: c.LargeFleetUnhealthyThreshold, OneIn: c.OneIn}
	if _, frozen := l.Frozen(unready, len(f.members)); frozen && len(moved) > 0 {
		f.t.Errorf("%s: %d of %d are not ready, and it moves: %s", f.now.Format(time.TimeOnly), unready, len(f.members), moved)
	}
	if most := l.AtOnce(len(f.members)); len(left) > most+1 { // what was a last copy may be on its way again
		f.t.Errorf("%s: %d clusters of %d are left at a time, and %d may be", f.now.Format(time.TimeOnly), len(left), len(f.members), most)
	}
}

// steady holds that a plan of the same time, and of later times until the one that it says, is
// the same.
func (f *fleet) steady() {
	f.t.Helper()
	for range 2 { // what was sent is known to be there from the second on
		f.publish()
	}
	until := f.last.Basis.RecheckAt
	if until.IsZero() {
		until = f.now.Add(time.Hour)
	}
	for _, at := range []time.Time{f.now, until.Add(-time.Second)} {
		if at.Before(f.now) {
			continue
		}
		in := f.in
		in.Now, in.Memo = at, plan.NewMemo()
		if q := plan.Build(in); q.State.ID() != f.last.State.ID() {
			f.t.Errorf("%s: %s later it is another plan, and it says that it is not before %s: %s", f.now.Format(time.TimeOnly), at.Sub(f.now), until.Sub(f.now), summary.ByFailover(&q))
		}
	}
}
