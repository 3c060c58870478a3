package index_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render/object"
)

const source = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us, labels: {tier: prod}, annotations: {note: here}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: ap, labels: {tier: prod}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
  - targetCluster: {labelSelector: {matchLabels: {tier: prod}}}
    overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}
  - overriders: {labelsOverrider: [{operator: add, value: {c: d}}]}
`

func of(t *testing.T, objs []*object.Object, m *index.Memo) *index.Policies {
	t.Helper()
	return seen(t, objs, nil, m)
}

func seen(t *testing.T, objs []*object.Object, observed map[string]*karmada.ClusterStatus, m *index.Memo) *index.Policies {
	t.Helper()
	set, _, diags := policies.Load(objs, m)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	set.Observe(observed)
	return index.Of(set, []string{"skipped"}, m)
}

func TestALawIsReadyToBeAsked(t *testing.T) {
	var m index.Memo
	objs := object.Decode("all.yaml", []byte(source)).Objects
	l := of(t, objs, &m)
	web := policies.SubjectOf(object.Decode("web.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: a}\n")).Objects[0])
	if p := l.Claims.Policy(web); p == nil || p.String() != "PropagationPolicy a/p" {
		t.Errorf("%v claims it", p)
	}
	if l.Skips.Why("v1", object.Ref{Kind: "ConfigMap", Namespace: "skipped"}, nil) == "" {
		t.Error("a namespace that is skipped is not")
	}
	rules := l.Overrides.Rules(web).List
	for range 2 {
		for _, ask := range []struct {
			of   []*override.Rule
			want string // a digit a rule, for ap, eu and us
		}{
			{rules, "11,01,11"}, {rules[:1], "1,0,1"}, {rules[1:], "1,1,1"}, {[]*override.Rule{rules[1], rules[0]}, "11,10,11"}, {nil, ",,"},
		} {
			got := strings.NewReplacer("\x00", "0", "\x01", "1").Replace(strings.Join(l.Matching(ask.of), ","))
			if got != ask.want {
				t.Errorf("of %d rules there match %q, want %q", len(ask.of), got, ask.want)
			}
		}
	}
	if l.InterpreterDigest != "" {
		t.Error("something is customized")
	}
	find := l.Finder()
	for _, name := range []string{"us", "eu", "us", "none", "eu", "ap", "eu"} {
		i, ok := l.Position(name)
		if j, found := find(name); i != j || ok != found || ok != (name != "none") || ok && l.Fleet.Clusters()[i].Name != name {
			t.Errorf("%s is cluster %d, %t, and found as %d, %t", name, i, ok, j, found)
		}
	}
	if pos := l.ClusterPos("us", "note"); pos.File != "all.yaml" || pos.Line != 4 {
		t.Errorf("the annotation stands at %s", pos)
	}
}

// TestAMemoChangesSpeedOnly asks a second index for the same fleet: it is the one before if
// its Clusters are, and another one otherwise.
func TestAMemoChangesSpeedOnly(t *testing.T) {
	var m index.Memo
	objs := object.Decode("all.yaml", []byte(source)).Objects
	first := of(t, objs, &m)
	m.Turn()
	again := of(t, objs, &m)
	changed := object.Decode("all.yaml", []byte(strings.Replace(source, "tier: prod}, ann", "tier: test}, ann", 1))).Objects
	other := of(t, changed, &m)
	if _, ok := m.Decoded(objs[len(objs)-1]); !ok {
		t.Error("what a policy decoded to is not remembered")
	}
	if first.FleetDigest != again.FleetDigest || first.Fleet.Clusters()[0] != again.Fleet.Clusters()[0] {
		t.Error("one fleet is joined twice")
	}
	if fresh := of(t, changed, &index.Memo{}); other.FleetDigest == first.FleetDigest || other.FleetDigest != fresh.FleetDigest {
		t.Error("what is remembered is not what is made")
	}
	m.Turn()
	m.Turn()
	if _, ok := m.Decoded(objs[0]); ok {
		t.Error("what two plans did not ask for is remembered")
	}
	observed := seen(t, changed, map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: "v1.35.0"}}, &m)
	if eu, _ := observed.Position("eu"); observed.FleetDigest == other.FleetDigest || observed.Fleet.Clusters()[eu].Source.Status.KubernetesVersion != "v1.35.0" || observed.Set.Clusters[eu].Spec.Status.KubernetesVersion != "" {
		t.Error("what was observed is not in the fleet, or is in the registration")
	}
}

// TestTaintsOfTheFleet: a policy taints a cluster that was observed not to be ready; where work fails over the taint lasts when the
// cluster returns, and says since when. A fleet whose taints are other ones is another fleet.
func TestTaintsOfTheFleet(t *testing.T) {
	const out = `
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: dead}
spec:
  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False"]}]
  taints: [{key: dead, effect: NoExecute}]
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: c}
spec:
  target: {apiVersion: example.com/v1, kind: Thing}
  customizations: {healthInterpretation: {luaScript: "function InterpretHealth(obj) return true end"}}
`
	objs := object.Decode("all.yaml", []byte(source+out)).Objects
	ready := func(s metav1.ConditionStatus) map[string]*karmada.ClusterStatus {
		return map[string]*karmada.ClusterStatus{"eu": {Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: s}}}}
	}
	var m index.Memo
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	var marks fleet.Marks
	of := func(failsOver bool, observed map[string]*karmada.ClusterStatus) *index.Policies {
		t.Helper()
		m.Turn()
		set, _, diags := policies.Settings{Failover: failsOver}.Load(objs, &m)
		if failsOver && len(diags) > 0 {
			t.Fatal(diags)
		}
		set.Observe(observed)
		set.Failover.Marks, set.Failover.Now = marks, now
		return index.Of(set, nil, &m)
	}
	taints := func(l *index.Policies) string {
		i, _ := l.Position("eu")
		var all []string
		for _, taint := range l.Fleet.Clusters()[i].Source.Spec.Taints {
			at := ""
			if taint.TimeAdded != nil {
				at = taint.TimeAdded.UTC().Format(" 15:04")
			}
			all = append(all, taint.Key+at)
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	notReady := ready("False")
	dead := of(true, notReady)
	if marks = dead.Marks; taints(dead) != "cluster.karmada.io/not-ready, dead 12:00" || !dead.Stamped || !dead.Lost("eu") || dead.Lost("us") {
		t.Errorf("what is dead has the taints %s, and there is remembered %v (%t)", taints(dead), marks, dead.Stamped)
	}
	if dead.InterpreterDigest == "" {
		t.Error("a customization is not told from none")
	}
	now = now.Add(time.Hour)
	if again := of(true, notReady); taints(again) != taints(dead) || again.FleetDigest != dead.FleetDigest || again.Stamped {
		t.Errorf("an hour later what is dead has the taints %s", taints(again))
	}
	remembered := marks
	if marks = nil; taints(of(true, notReady)) != "cluster.karmada.io/not-ready, dead 13:00" { // of which nobody remembers since when
		t.Error("a fleet is the one before, and its taints are not")
	}
	marks = remembered
	back := of(true, ready("True"))
	if taints(back) != "dead 12:00" || back.Stamped || back.Lost("eu") || back.FleetDigest == dead.FleetDigest {
		t.Errorf("what returned has the taints %s", taints(back))
	}
	if marks = nil; taints(of(true, ready("True"))) != "" {
		t.Error("a taint lasts that nobody remembers")
	}
	objs = object.Decode("all.yaml", []byte(source+strings.Replace(out, "NoExecute", "NoSchedule", 1))).Objects
	for _, tt := range []struct {
		name     string
		observed map[string]*karmada.ClusterStatus
		want     string
	}{{"dead", notReady, "cluster.karmada.io/not-ready, dead"}, {"back", ready("True"), ""}} {
		for range 2 { // the second time its fleet is remembered
			if l := of(false, tt.observed); taints(l) != tt.want || l.Marks != nil || l.Stamped {
				t.Errorf("where nothing fails over, what is %s has the taints %q, and there is remembered %v", tt.name, taints(l), l.Marks)
			}
		}
	}
}

// TestVirtualClusters: the index knows which cluster is a part of which.
func TestVirtualClusters(t *testing.T) {
	const part = `
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: part, annotations: {waybill.dev/virtual-of: us}}
spec: {syncMode: Pull}
`
	var m index.Memo
	for range 2 { // the second time its fleet is remembered
		l := of(t, object.Decode("all.yaml", []byte(source+part)).Objects, &m)
		at, _ := l.Position("part")
		if us, _ := l.Position("us"); l.Virtual.Host(at) != us || l.Virtual.Host(us) != us {
			t.Errorf("the part is on %d, and us on %d, want %d", l.Virtual.Host(at), l.Virtual.Host(us), us)
		}
	}
}

// TestAnEditedTaintPolicy: the fleet has the taints of a policy as it is now, where its clusters are the same, and nothing fails over.
func TestAnEditedTaintPolicy(t *testing.T) {
	const policy = `
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: t}
spec: {addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False"]}], taints: [{key: KEY, effect: NoSchedule}]}
`
	observed := map[string]*karmada.ClusterStatus{"eu": {Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: "False"}}}}
	clusters := object.Decode("all.yaml", []byte(source)).Objects
	var m index.Memo
	digests := map[string]string{}
	for _, key := range []string{"first", "second"} {
		edited := object.Decode("taints.yaml", []byte(strings.Replace(policy, "KEY", key, 1))).Objects
		l := seen(t, append(slices.Clone(clusters), edited...), observed, &m)
		i, _ := l.Position("eu")
		var keys []string
		for _, taint := range l.Fleet.Clusters()[i].Source.Spec.Taints {
			keys = append(keys, taint.Key)
		}
		if !slices.Contains(keys, key) || digests[l.FleetDigest] != "" {
			t.Errorf("with the taint %s eu has %q, and the digest of %q", key, keys, digests[l.FleetDigest])
		}
		digests[l.FleetDigest] = key
	}
}
