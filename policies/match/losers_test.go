package match_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/render/object"
)

func TestLosers(t *testing.T) {
	set, templates, diags := policies.Load(object.Decode("all.yaml", []byte(`
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: b, namespace: a}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], suspension: {dispatchingOnClusters: {clusterNames: [eu]}}, conflictResolution: Overwrite, placement: {replicaScheduling: {replicaSchedulingType: Divided}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: c, namespace: a}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], suspension: {dispatching: true}, preserveResourcesOnDeletion: true}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: a}
---
apiVersion: v1
kind: Secret
metadata: {name: x, namespace: a}
`)).Objects, nil)
	if len(templates) != 2 {
		t.Fatal(diags)
	}
	claims := match.New(set.Propagation)
	winner, losers := claims.Losers(policies.SubjectOf(templates[0]))
	if d := cmp.Diff([]match.Loser{{Policy: "PropagationPolicy a/c", Why: "its name comes after the winner's"}}, losers); d != "" || winner.String() != "PropagationPolicy a/b" {
		t.Errorf("%s wins; %s", winner, d)
	}
	if winner, losers := claims.Losers(policies.SubjectOf(templates[1])); winner != nil || losers != nil {
		t.Errorf("of what none selects: %v, %v", winner, losers)
	}
	for i, want := range []struct{ eu, us, preserves, overwrites, divides bool }{{eu: true, overwrites: true, divides: true}, {eu: true, us: true, preserves: true}} {
		p := set.Propagation[i]
		if p.Suspends("eu") != want.eu || p.Suspends("us") != want.us || p.Preserves() != want.preserves || p.Overwrites() != want.overwrites || p.Divides() != want.divides {
			t.Errorf("what %s says is not read", p)
		}
	}
}
