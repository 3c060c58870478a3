//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// rollouts is as much of Argo Rollouts' CRD as an API server needs.
const rollouts = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {kind: Rollout, listKind: RolloutList, plural: rollouts, singular: rollout}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const healthSource = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: rollouts}
spec:
  placement: {}
  resourceSelectors: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout}]
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: health}
spec: {replicas: 2, strategy: {canary: {}}}
`

// TestHealth waits on a real API server for an Argo Rollout, which Argo CD's rule judges, and for a
// Widget, which a script of the source's own ConfigMap for Argo CD does. No controllers run there: the
// test writes the status as one would.
func TestHealth(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	s := newSite(t, p.waybill, map[string]*api{"eu-1": startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))})
	s.namespace("health", "one", 1)
	s.write("definition.yaml", rollouts)
	s.write("rollout.yaml", healthSource)
	s.publish()
	s.apply(0)
	wants := func(what string, status int, wait, timeout string, texts ...string) {
		t.Helper()
		out := s.apply(status, "--wait="+wait, "--timeout", timeout)
		for _, text := range texts {
			if !strings.Contains(out, text) {
				t.Errorf("%s: it does not say %q:\n%s", what, text, out)
			}
		}
	}

	wants("a Rollout that nobody has seen", 1, "healthy", "1s", "Rollout.argoproj.io/health/web: not ready: InProgress")
	s.rollout("Healthy", "", 2)
	wants("a healthy one", 0, "healthy", "1m")
	s.rollout("Degraded", "RolloutAborted: too many errors", 1)
	wants("a degraded one", 1, "healthy", "2s", "Rollout.argoproj.io/health/web: not ready: Failed RolloutAborted: too many errors")
	s.rollout("Paused", "CanaryPauseStep", 2)
	wants("a suspended one", 1, "healthy", "2s", "suspended: CanaryPauseStep")
	wants("a suspended one that is accepted", 0, "healthy,suspended", "1m")

	s.rollout("Healthy", "", 2)
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {health: {argocdConfigMap: health/argocd-cm}}\n")
	s.write("definitions.yaml", widgets)
	s.write("scripts.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: health}
data:
  resource.customizations.health.example.com_Widget: |
    if obj.spec.size > 3 then
      return {status = "Healthy"}
    end
    return {status = "Degraded", message = "it has a size of " .. obj.spec.size}
`)
	widget := func(size int) {
		s.write("widget.yaml", fmt.Sprintf("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: health}\nspec: {size: %d}\n", size))
		s.publish()
	}
	widget(3)
	wants("a Widget that is too small", 1, "healthy", "2s", "Widget.example.com/health/w: not ready: Failed it has a size of 3")
	widget(4)
	wants("one that is not", 0, "healthy", "1m")
}

// rollout writes the status of the Rollout, as its controller would.
func (s *site) rollout(phase, message string, updated int) {
	s.t.Helper()
	path := "/apis/argoproj.io/v1alpha1/namespaces/health/rollouts/web"
	generation := s.get("eu-1", path)["metadata"].(map[string]any)["generation"]
	body := fmt.Sprintf(`{"status":{"observedGeneration":"%v","phase":%q,"message":%q,"replicas":2,"updatedReplicas":%d,"availableReplicas":2,"readyReplicas":2}}`, generation, phase, message, updated)
	if status, answer := s.apis["eu-1"].do(http.MethodPatch, path+"/status", "application/merge-patch+json", []byte(body)); status != http.StatusOK {
		s.t.Fatalf("writing the status: %d\n%s", status, answer)
	}
}
