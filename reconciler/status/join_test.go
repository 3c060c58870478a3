package status_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
)

func TestABindingIsJoinedWithWhatItsClustersSay(t *testing.T) {
	word := func(p status.Phase, state karmada.ResourceHealth, why string) *status.Report {
		return &status.Report{Objects: map[object.Ref]*status.Object{web: {
			Applied: status.Application{Phase: p, Message: why, Since: began}, Health: status.Health{State: state, Status: []byte(`{"replicas":1}`)},
		}}}
	}
	good, bad := word(status.PhaseApplied, karmada.ResourceHealthy, ""), word(status.PhaseFailed, karmada.ResourceUnhealthy, "it is not ours")
	none := &status.Report{}
	for _, tt := range []struct {
		name        string
		words       status.Reports
		want, fully string
	}{
		{
			"all of them",
			status.Reports{"a": good, "b": good, "c": good},
			`[{"clusterName":"a","status":{"replicas":1},"applied":true,"health":"Healthy"},{"clusterName":"b","status":{"replicas":1},"applied":true,"appliedMessage":"suspended","health":"Healthy"},{"clusterName":"c","status":{"replicas":1},"applied":true,"health":"Healthy"}]`,
			"True FullyAppliedSuccess",
		},
		{
			"one refuses",
			status.Reports{"a": good, "b": bad, "c": good},
			`[{"clusterName":"a","status":{"replicas":1},"applied":true,"health":"Healthy"},{"clusterName":"b","status":{"replicas":1},"appliedMessage":"suspended; it is not ours","health":"Unhealthy"},{"clusterName":"c","status":{"replicas":1},"applied":true,"health":"Healthy"}]`,
			"False FullyAppliedFailed",
		},
		{
			"one says nothing, and one nothing of the object",
			status.Reports{"a": good, "c": none},
			`[{"clusterName":"a","status":{"replicas":1},"applied":true,"health":"Healthy"},{"clusterName":"b","appliedMessage":"suspended","health":"Unknown"},{"clusterName":"c","appliedMessage":"it was not applied yet","health":"Unknown"}]`,
			"False FullyAppliedFailed",
		},
		{
			"one says nothing",
			status.Reports{"a": good, "c": good},
			`[{"clusterName":"a","status":{"replicas":1},"applied":true,"health":"Healthy"},{"clusterName":"b","appliedMessage":"suspended","health":"Unknown"},{"clusterName":"c","status":{"replicas":1},"applied":true,"health":"Healthy"}]`,
			"Unknown Untold",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &karmada.ResourceBinding{}
			b.Spec.Clusters = []karmada.TargetCluster{{Name: "c"}, {Name: "a"}}
			b.Spec.RequiredBy = []karmada.BindingSnapshot{{Name: "x", Clusters: []karmada.TargetCluster{{Name: "b"}}}}
			b.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "b", Applied: true, AppliedMessage: "suspended"}}
			b.Status.Conditions = []metav1.Condition{{Type: "Scheduled", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(began.Add(-time.Hour))}}
			before, _ := json.Marshal(b)
			got := tt.words.Join(b, web)
			items, err := json.Marshal(got.Status.AggregatedStatus)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(items)); d != "" {
				t.Error(d)
			}
			last := got.Status.Conditions[len(got.Status.Conditions)-1]
			if len(got.Status.Conditions) != 2 || last.Type != "FullyApplied" || string(last.Status)+" "+last.Reason != tt.fully || !last.LastTransitionTime.Time.Equal(began) {
				t.Errorf("conditions are %+v", got.Status.Conditions)
			}
			if after, _ := json.Marshal(b); string(after) != string(before) {
				t.Error("the binding was modified")
			}
		})
	}
}

// TestWhereABindingIsSent: one that is sent nowhere is told of no cluster; one that something else needs is told of the clusters of that, and why it is not as
// decided is said before what its cluster says.
func TestWhereABindingIsSent(t *testing.T) {
	words := status.Reports{"a": {Objects: map[object.Ref]*status.Object{}}, "b": {Objects: map[object.Ref]*status.Object{web: {
		Applied: status.Application{Phase: status.PhaseApplied, Since: began}, Health: status.Health{State: karmada.ResourceHealthy},
	}}}}
	b := &karmada.ResourceBinding{}
	if got := words.Join(b, web); len(got.Status.AggregatedStatus)+len(got.Status.Conditions) != 0 {
		t.Errorf("it is sent nowhere, and says %+v", got.Status)
	}
	b.Spec.RequiredBy = []karmada.BindingSnapshot{{Name: "x", Clusters: []karmada.TargetCluster{{Name: "a"}, {Name: "b"}}}}
	b.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "a", AppliedMessage: "suspended"}}
	items, err := json.Marshal(words.Join(b, web).Status.AggregatedStatus)
	if want := `[{"clusterName":"a","appliedMessage":"suspended","health":"Unknown"},{"clusterName":"b","applied":true,"health":"Healthy"}]`; err != nil || string(items) != want {
		t.Errorf("%s, %v, want %s", items, err, want)
	}
}
