package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/test/shown"
)

// careful has changes of shop/everywhere reach eu first, which has to stay healthy for half an hour, and then the others
// once somebody approves it.
const careful = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, afterStageTasks: [{type: TimedWait, waitTime: 30m}, {type: Approval}]}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}}
`

// goingOut is a fleet in which the second version of web goes out in stages: eu has it, and us waits.
func goingOut(t *testing.T) *fleet {
	t.Helper()
	f := newFleet(t)
	f.put("clusters.yaml", `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, labels: {ring: canary}}
spec: {syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us, labels: {ring: prod}}
spec: {syncMode: Push}
`)
	const policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: everywhere, namespace: shop, annotations: {waybill.dev/rollout: %s}}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {}
`
	f.put("policy.yaml", fmt.Sprintf(policy, "none"))
	f.put("web.yaml", webText(2, "web:1"))
	f.publish("first")
	f.put("policy.yaml", fmt.Sprintf(policy, "careful"))
	f.put("careful.yaml", careful)
	f.publish("in stages")
	f.put("web.yaml", webText(2, "web:2"))
	f.publish("web: the second version")
	return f
}

func TestPagesShowWhatGoesOutInStages(t *testing.T) {
	f := goingOut(t)
	shows := func(when, path string, want ...string) {
		t.Helper()
		w := f.get(http.MethodGet, path)
		text := shown.Words(w.Body.String())
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) || w.Code != http.StatusOK {
				t.Errorf("%s: %s: %d, want %q in\n%s", when, path, w.Code, s, text)
			}
		}
	}
	const web = "/rollouts/shop/everywhere"
	old, target := f.head("main").Parent.String()[:12], f.head("main").Commit.String()[:12]
	shows("begun", "/rollouts", "1 ↓ Updating", "shop/everywhere careful ↓ Updating canary waits for eu to be healthy canary 1 out; prod 1 behind 1 in 30m when they are healthy canary has to stay so for 30m")
	shows("begun", web, "canary ↓ Updating", "0 of 1 cluster: 1 out", "prod – Its turn has not come", "eu canary ↓ Released it has to be healthy in 30m "+target,
		"us prod – Pending prod waits for canary, which is updating "+old, "waybill rollout stop shop/everywhere@")
	shows("begun", "/templates/Deployment.apps/shop/web", "Goes out in stages shop/everywhere ↓ Updating")
	shows("another phase", "/rollouts?phase=Stopped", "No unit is like that.")
	shows("another phase", "/rollouts?q=careful", "shop/everywhere")
	shows("one cluster", web+"?q=us", "us prod", "!eu canary")

	f.now = f.now.Add(10 * time.Minute)
	f.say("eu", healthy())
	f.publishes(&reconciler.Reconciler{})
	shows("soaking", web, "canary ↓ Soaking", "1 of 1 cluster: 1 healthy", "eu canary ✓ Healthy", "waybill/status/eu@", "canary waits for an approval in 30m")
	f.now = f.now.Add(31 * time.Minute)
	f.say("eu", healthy())
	f.publishes(&reconciler.Reconciler{})
	shows("approving", web, "? Approving", "with an approval prod begins", "waybill rollout approve shop/everywhere@", " canary waybill rollout stop")

	f.say("eu", &status.Object{
		Applied: status.Application{Phase: status.PhaseApplied},
		Health:  status.Health{State: karmada.ResourceUnhealthy, Reason: "Failed", Message: "ProgressDeadlineExceeded", Since: f.now},
	})
	f.now = f.now.Add(time.Minute)
	f.publishes(&reconciler.Reconciler{})
	f.now = f.now.Add(2 * time.Minute)
	f.publishes(&reconciler.Reconciler{})
	shows("stopped", "/rollouts", "1 ✕ Stopped", "canary: eu failed, 1 of 1; 0 are tolerated")
	shows("stopped", web, "canary ✕ Stopped", "eu canary ✕ Failed", "ProgressDeadlineExceeded", "us prod – Pending prod waits for canary, which stopped: eu failed",
		"waybill rollout return shop/everywhere@", "waybill rollout resume shop/everywhere@")
	shows("stopped", "/templates/Deployment.apps/shop/web", "✕ Roll-out: Stopped", "the run is Stopped: canary: eu failed", "takes it from "+old+" to "+target,
		"stage canary: Updating", "stage canary: Soaking", "image web:1 → web:2 in eu")
}

func TestPagesOfNothingThatGoesOut(t *testing.T) {
	f := newFleet(t)
	f.publish("first")
	if text := shown.Words(f.get(http.MethodGet, "/rollouts").Body.String()); !strings.Contains(text, "Nothing goes out in stages.") {
		t.Error(text)
	}
	for _, path := range []string{"/rollouts/shop/web", "/rollouts/_group/%3Cscript%3E", "/rollouts/shop/a%2Fb"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body.String())
		}
	}
}
