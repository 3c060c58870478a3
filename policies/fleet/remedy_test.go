package fleet_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// TestActionsAreInOrder holds that the actions of several remedies are one list, whatever their order.
func TestActionsAreInOrder(t *testing.T) {
	acting := func(actions ...karmada.RemedyAction) *karmada.Remedy {
		return &karmada.Remedy{Spec: karmada.RemedySpec{Actions: actions}}
	}
	got := fleet.Actions(&karmada.Cluster{}, []*karmada.Remedy{acting("c", "a"), acting("b", "a")})
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the actions are %q, want %q", got, want)
	}
}

func TestActions(t *testing.T) {
	when := func(op karmada.ClusterConditionOperator, status string) []karmada.DecisionMatch {
		return []karmada.DecisionMatch{{}, {ClusterConditionMatch: &karmada.ClusterConditionRequirement{ConditionType: karmada.ServiceDomainNameResolutionReady, Operator: op, ConditionStatus: status}}}
	}
	act := []karmada.RemedyAction{karmada.TrafficControl}
	names := func(n ...string) *karmada.RemedyClusterAffinity {
		return &karmada.RemedyClusterAffinity{ClusterNames: n}
	}
	failing := []metav1.Condition{{Type: karmada.ServiceDomainNameResolutionReady, Status: metav1.ConditionFalse}}
	for _, tt := range []struct {
		name       string
		spec       karmada.RemedySpec
		conditions []metav1.Condition
		want       bool
	}{
		{"always", karmada.RemedySpec{Actions: act}, nil, true},
		{"for another cluster", karmada.RemedySpec{Actions: act, ClusterAffinity: names("us")}, nil, false},
		{"for no cluster", karmada.RemedySpec{Actions: act, ClusterAffinity: names()}, nil, false},
		{"for this one", karmada.RemedySpec{Actions: act, ClusterAffinity: names("us", "eu")}, nil, true},
		{"no condition", karmada.RemedySpec{Actions: act, DecisionMatches: []karmada.DecisionMatch{}}, failing, false},
		{"it is not reported", karmada.RemedySpec{Actions: act, DecisionMatches: when(karmada.ClusterConditionNotEqual, "True")}, nil, false},
		{"it is as said", karmada.RemedySpec{Actions: act, DecisionMatches: when(karmada.ClusterConditionEqual, "False")}, failing, true},
		{"it is not as said", karmada.RemedySpec{Actions: act, DecisionMatches: when(karmada.ClusterConditionNotEqual, "True")}, failing, true},
		{"it is otherwise", karmada.RemedySpec{Actions: act, DecisionMatches: when(karmada.ClusterConditionEqual, "True")}, failing, false},
		{"it asks for nothing", karmada.RemedySpec{}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := karmada.Cluster{Status: karmada.ClusterStatus{Conditions: tt.conditions}}
			c.Name = "eu"
			r := &karmada.Remedy{Spec: tt.spec}
			var want []string
			if tt.want {
				want = []string{"TrafficControl"}
			}
			if got := fleet.Actions(&c, []*karmada.Remedy{r, r}); !slices.Equal(got, want) {
				t.Errorf("the actions are %q, want %q", got, want)
			}
		})
	}
}
