//go:build e2e

package e2e

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

// inStages is a source with one cluster, and a unit of which somebody has to approve the stage before it begins.
const inStages = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: all, labelSelector: {}, beforeStageTasks: [{type: Approval}]}
`

// run is what the state branch of the hub says of the unit team/web.
type run struct {
	Status struct{ Run, Phase, Reason string }
}

func runOf(t *testing.T, h *hub.Hub) (r run) {
	t.Helper()
	var file struct{ Content string }
	if h.Try(t, "waybill", http.MethodGet, "/repos/waybill/fleet/contents/rollouts/team/web.yaml?ref=waybill/state", nil, &file) != nil {
		return r
	}
	data, err := base64.StdEncoding.DecodeString(file.Content)
	if err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGiteaTakesRolloutCommands has a change that was merged wait for an approval, which a comment on its pull request gives. A
// reader's is none, nor is one about another run.
func TestGiteaTakesRolloutCommands(t *testing.T) {
	t.Parallel()
	const path = "manifests/team/configmap/two.yaml"
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: web, namespace: team}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n")
	h.Commit(t, "fleet", "main", "main", "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: team}\n")
	h.Hook(t, h.Controls(t, "--orders"))
	h.Until(t, "it is published", func() bool { return h.Published(t, "manifests/team/configmap/one.yaml") })
	h.Commit(t, "fleet", "main", "main", "careful.yaml", inStages)
	h.Commit(t, "fleet", "main", "main", "waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n")
	h.Until(t, "the unit goes out in stages", func() bool { return runOf(t, h).Status.Phase == "Done" })
	head := h.Commit(t, "fleet", "main", "two", "two.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: team}\n")
	number := h.Pull(t, "two")
	h.Merge(t, "fleet", number)
	h.Until(t, "the stage waits for an approval", func() bool { return runOf(t, h).Status.Reason == "ApprovalMissing" })
	approval := func(run string) string { return "/waybill rollout approve team/web@" + run + " all" }
	is := runOf(t, h).Status.Run
	h.Comment(t, "rob", number, approval(is)) // may not write, and is not answered
	h.Comment(t, "wendy", number, approval(strings.Repeat("0", 32)))
	h.Until(t, "a run that is none is refused", func() bool {
		return strings.HasPrefix(h.Shown(t, "fleet", head, "waybill/orders").Description, "refused: it is about the run 0000")
	})
	if h.Published(t, path) {
		t.Error("it is released by whom nobody asked")
	}
	h.Comment(t, "wendy", number, approval(is))
	h.Until(t, "wendy's approval is taken", func() bool { return h.Shown(t, "fleet", head, "waybill/orders").State == forge.Success })
	h.Until(t, "it is released", func() bool { return h.Published(t, path) })
}
