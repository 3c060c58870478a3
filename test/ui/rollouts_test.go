//go:build e2e

package ui

import (
	"testing"
	"time"
)

// goOut has a new version of an app go out in stages, of which the first one is out.
func (f *served) goOut() {
	f.t.Helper()
	app := func(image string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: pay, namespace: pay}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: pay, image: \"" + image + "\"}]}}}\n"
	}
	f.put("pay.yaml", app("pay:1"))
	policy := func(strategy string) string {
		return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: pay, namespace: pay, annotations: {waybill.dev/rollout: " + strategy + "}}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  placement: {clusterTolerations: [{operator: Exists}]}\n"
	}
	f.put("pay-policy.yaml", policy("none"))
	f.now = time.Now().Add(-30 * time.Minute)
	f.publish("pay everywhere")
	f.put("pay-policy.yaml", policy("careful"))
	f.put("careful.yaml", `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: staging, labelSelector: {matchLabels: {stage: staging}}, maxConcurrency: 50%, afterStageTasks: [{type: TimedWait, waitTime: 30m}]}
  - {name: production, labelSelector: {matchLabels: {stage: production}}, maxConcurrency: 2, afterStageTasks: [{type: Approval}]}
`)
	f.publish("pay in stages")
	f.put("pay.yaml", app("pay:2"))
	f.now = time.Now().Add(-10 * time.Minute)
	f.publish("pay: the second version")
	f.ui.Changed()
}

func TestPagesOfWhatGoesOutInStagesAreForEverybody(t *testing.T) {
	f := newServed(t, 12, 2)
	f.goOut()
	ctx := browser(t)
	for name, path := range map[string]string{
		"rollouts": "/rollouts", "rollouts-none": "/rollouts?q=nothing-is-called-so", "rollout": "/rollouts/pay/pay", "rollout-one": "/rollouts/pay/pay?q=asia",
		"rollout-template": "/templates/Deployment.apps/pay/pay",
	} {
		p := f.visit(ctx, path)
		if name == "rollout" {
			p.wants("document.querySelectorAll('.stages > li').length === 2 && document.querySelectorAll('pre.command').length === 1")
		}
		usable(p, "ui-"+name)
		p.isOurs(f)
	}
}
