package index_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
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
	if got := strings.Join(l.Matching(l.Overrides.Rules(web).List), " "); got != "\x00\x01 \x01\x01" {
		t.Errorf("in eu and us there match %q", got)
	}
	find := l.Finder()
	for _, name := range []string{"us", "eu", "us", "none", "eu"} {
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
	if first.FleetDigest != again.FleetDigest || first.Fleet.Clusters()[0] != again.Fleet.Clusters()[0] {
		t.Error("one fleet is joined twice")
	}
	if fresh := of(t, changed, &index.Memo{}); other.FleetDigest == first.FleetDigest || other.FleetDigest != fresh.FleetDigest {
		t.Error("what is remembered is not what is made")
	}
	m.Turn()
	observed := seen(t, changed, map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: "v1.35.0"}}, &m)
	if observed.FleetDigest == other.FleetDigest || observed.Fleet.Clusters()[0].Source.Status.KubernetesVersion != "v1.35.0" || observed.Set.Clusters[0].Spec.Status.KubernetesVersion != "" {
		t.Error("what was observed is not in the fleet, or is in the registration")
	}
}
