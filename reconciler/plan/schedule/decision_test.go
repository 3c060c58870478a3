package schedule_test

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// A decision tells where its template is held, and how it moves.
func TestWhatADecisionTells(t *testing.T) {
	const (
		byRoom     = "replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}"
		aggregated = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}"
		weighted   = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}"
		stateful   = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec: " +
			"{resourceSelectors: [{apiVersion: apps/v1, kind: StatefulSet}], placement: {" + byRoom + "}}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: a}\n" +
			"spec: {replicas: 2, serviceName: db, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n"
	)
	db := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "a", Name: "db"}
	for _, tt := range []struct {
		name, source string
		of           object.Ref
		want         string
	}{
		{"no policy claims it", "", webRef, "eu:false us:false held in: claimed: false divided: false descheduled: false"},
		{"it is in one cluster", policy("placement: {clusterAffinity: {clusterNames: [us]}}"), webRef, "eu:false us:true held in: claimed: true divided: false descheduled: false"},
		{"its policy holds one", policy("suspension: {dispatchingOnClusters: {clusterNames: [us]}}\n  placement: {}"), webRef, "eu:true us:true held in:us claimed: true divided: false descheduled: false"},
		{"its policy holds all", policy("suspension: {dispatching: true}\n  placement: {}"), webRef, "eu:true us:true held in:eu,us claimed: true divided: false descheduled: false"},
		{"it is divided by weights", policy("placement: {" + weighted + "}"), webRef, "eu:true us:true held in: claimed: true divided: true descheduled: false"},
		{"it is divided by room", policy("placement: {" + byRoom + "}"), webRef, "eu:true us:true held in: claimed: true divided: true descheduled: true"},
		{"it is aggregated", policy("placement: {" + aggregated + "}"), webRef, "eu:true us:false held in: claimed: true divided: true descheduled: true"},
		{"it is no Deployment", stateful, db, "eu:true us:true held in: claimed: true divided: true descheduled: false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := decide(t, roomy+web+tt.source, &state.State{})
			d := r.Find(tt.of)
			held, between := "", ""
			for _, c := range []string{"eu", "us"} {
				if d.Suspended(c) {
					held, between = held+between+c, ","
				}
			}
			got := fmt.Sprintf("eu:%t us:%t held in:%s claimed: %t divided: %t descheduled: %t",
				d.Targeted("eu"), d.Targeted("us"), held, schedule.IsClaimed(r.Decisions, tt.of), d.Divided(), d.Descheduled())
			if got != tt.want {
				t.Errorf("it tells %s, want %s", got, tt.want)
			}
		})
	}
}

// roomy is a fleet whose clusters have room.
const roomy = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
status: {resourceSummary: {allocatable: {pods: '100', cpu: '100', memory: 100Gi}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
status: {resourceSummary: {allocatable: {pods: '100', cpu: '100', memory: 100Gi}}}
---
`

// Decisions are found by their refs, and others take the place of some without changing those that there were.
func TestDecisionsAreReplaced(t *testing.T) {
	r := decide(t, fleet+web+policy("placement: {}"), &state.State{})
	missing := object.Ref{Kind: "Secret", Namespace: "a", Name: "settings"}
	if r.Find(missing) != nil || schedule.IsClaimed(r.Decisions, missing) {
		t.Error("what there is no decision about is found")
	}
	other := *r.Find(webRef)
	other.Outcome = schedule.Kept
	replaced := schedule.Replaced(r.Decisions, []schedule.Decision{other})
	if got := summary(&schedule.Result{Decisions: replaced}); got != "settings unclaimed; web kept eu:10 us:10" {
		t.Errorf("replaced they are %s", got)
	}
	if got := summary(&r); got != "settings unclaimed; web placed eu:10 us:10" {
		t.Errorf("those that there were are %s", got)
	}
	if same := schedule.Replaced(r.Decisions, nil); &same[0] != &r.Decisions[0] {
		t.Error("without others they are copied")
	}
}
