package policies_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// TestPoliciesOfKubeFleet holds that what render keeps from clusters is what package kubefleet reads or
// refuses, and nothing else of its group.
func TestPoliciesOfKubeFleet(t *testing.T) {
	kinds := map[string]bool{
		"ClusterStagedUpdateStrategy": true, "StagedUpdateStrategy": true, "ClusterStagedUpdateRun": true, "StagedUpdateRun": true,
		"ClusterApprovalRequest": true, "ApprovalRequest": true,
		"ClusterResourcePlacement": false, "ResourcePlacement": false, "ClusterResourceOverride": false, "ResourceEnvelope": false,
	}
	for kind, want := range kinds {
		o := object.Decode("a.yaml", []byte("apiVersion: placement.kubernetes-fleet.io/v1\nkind: "+kind+"\nmetadata: {name: a, namespace: b}\n")).Objects[0]
		_, refused := kubefleet.Refusal(o)
		if known := refused || kubefleet.IsStrategy(o.Ref()); render.IsPolicy(o.Ref()) != want || known != want {
			t.Errorf("%s: a policy is %v, known %v; want %v", kind, render.IsPolicy(o.Ref()), known, want)
		}
		_, templates, _ := policies.Load([]*object.Object{o}, nil)
		if (len(templates) == 0) != want {
			t.Errorf("%s: %d templates", kind, len(templates))
		}
	}
}

// TestAStrategyWithAMistakeIsNotBroken holds that an earlier version of a strategy does not take the place of one
// with a mistake, which what is broken is replaced by: what is bound to it stays as it is.
func TestAStrategyWithAMistakeIsNotBroken(t *testing.T) {
	d := object.Decode("a.yaml", []byte("apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: a}\nspec: {stages: []}\n"))
	set, _, wrong := policies.Load(d.Objects, nil)
	if len(wrong) != 1 || len(set.Broken) != 0 || len(set.Strategies) != 0 || len(set.BadStrategies) != 1 || set.BadStrategies[0].Name != "a" {
		t.Errorf("%v: broken %v, strategies %v, bad %v", wrong, set.Broken, set.Strategies, set.BadStrategies)
	}
}
