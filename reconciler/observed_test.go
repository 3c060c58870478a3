package reconciler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestRecord records what is observed between publications: each is planned from what was
// recorded before it, and every branch verifies.
func TestRecord(t *testing.T) {
	const clusters = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n---\n" +
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Push}\n"
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n" +
		"  placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}\n"
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec: {replicas: 6, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n"
	repo := twin.New("observed")
	write := func(files map[string]string) {
		tree := twin.Tree{}
		for name, text := range files {
			tree[name] = twin.File([]byte(text))
		}
		repo.Write("main", "next", tree.Folder())
	}
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }}
	publish := func() (moved []string) {
		t.Helper()
		res, err := r.Publish(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range res.Updates {
			moved = append(moved, u.Branch)
		}
		return moved
	}
	record := func(pods map[string]int64) {
		t.Helper()
		got, err := observe.Recorder{Target: r.Target, Version: r.Version, Now: r.Now}.Record(t.Context(), func(_ map[string]*karmada.ClusterStatus, registered []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
			if len(registered) != 2 {
				t.Errorf("registered are %v", registered)
			}
			changed := map[string]*karmada.ClusterStatus{}
			for name, n := range pods {
				changed[name] = &karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{Allocatable: corev1.ResourceList{"pods": *resource.NewQuantity(n, resource.DecimalSI)}}}
			}
			return changed, "room"
		})
		if err != nil || len(got) < len(pods) {
			t.Fatalf("%v: %v", got, err)
		}
	}
	verified := func() {
		t.Helper()
		heads, err := repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name := range heads {
			if !strings.HasPrefix(name, "waybill/") {
				continue
			}
			if v, err := verify.New(r.Planner(), r.Published(), r.Version).Verify(t.Context(), name); err != nil || !v.Same {
				t.Errorf("%s: %v, %v", name, err, v.Differences)
			}
		}
	}
	branches := func(want ...string) {
		t.Helper()
		if moved := publish(); !slices.Equal(moved, want) {
			t.Errorf("there move %v, want %v", moved, want)
		}
		verified()
	}

	write(map[string]string{"clusters.yaml": clusters, "policy.yaml": policy, "web.yaml": web})
	branches("waybill/state") // no cluster has room
	record(map[string]int64{"eu": 20, "us": 10})
	verified()
	branches("waybill/cluster/eu", "waybill/cluster/us", "waybill/state")
	record(map[string]int64{"eu": 30})
	record(map[string]int64{"us": 1})
	verified()
	branches() // more room moves nothing
	record(nil)
	write(map[string]string{"clusters.yaml": clusters, "policy.yaml": policy, "web.yaml": strings.Replace(web, "replicas: 6", "replicas: 7", 1)})
	branches("waybill/cluster/eu", "waybill/state")

	head, _, err := repo.Branch(t.Context(), "waybill/state")
	if err != nil {
		t.Fatal(err)
	}
	edited := twin.Of(head.Tree)
	edited["observed/eu.yaml"] = twin.File([]byte("metadata: {name: eu}\n"))
	edited["published.json"] = twin.File([]byte("{}\n"))
	repo.Write("waybill/state", "observed: eu\n\nObserved: eu\n", edited.Folder())
	if _, err := verify.New(r.Planner(), r.Published(), r.Version).Verify(t.Context(), "waybill/state"); err == nil || !strings.Contains(err.Error(), "holds something else as well") {
		t.Errorf("what pretends to be an observation: %v", err)
	}
}
