//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDeschedule runs a controller over two clusters of two nodes each, of which one takes no pods in
// eu-1, although its room counts: the replica that finds no node there moves to us-1, and once.
func TestDeschedule(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	const nodes = 2 // of 64 CPUs each
	eu, us := startCluster(t, p, etcd, filepath.Join(dir, "eu"), nodes), startCluster(t, p, etcd, filepath.Join(dir, "us"), nodes)
	eu.with(t).kubectl("taint", "node", "node-1", "reserved=true:NoSchedule")
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  descheduler: {enabled: true, unschedulableThreshold: 20s}\n")
	s.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n"+
		"  placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}\n")
	s.write("web.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"+
		"spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: \"40\"}}}]}}}\n")
	s.commit()
	if status, out := s.run("publish", s.source, "--to", s.bare); status != 1 || !strings.Contains(out, "unschedulable") {
		t.Fatalf("nothing is known of any cluster: status %d\n%s", status, out)
	}
	s.controller()

	ready := func(cluster string) string {
		return s.apis[cluster].kubectl("get", "deployment", "-n", "shop", "web", "--ignore-not-found", "-o", "jsonpath={.spec.replicas}/{.status.readyReplicas}")
	}
	eventually(t, "eu-1 is asked for more than it has nodes for", func() (bool, string) { return ready("eu-1") == "2/1", ready("eu-1") })
	eventually(t, "that it waits is recorded", func() (bool, string) {
		return strings.Contains(s.observed("eu-1"), "unschedulable: 1"), s.observed("eu-1")
	})
	eventually(t, "it runs in us-1", func() (bool, string) { return ready("us-1") == "2/2", ready("us-1") })
	eventually(t, "it left eu-1", func() (bool, string) { return ready("eu-1") == "1/1", ready("eu-1") })
	eventually(t, "nothing waits any more", func() (bool, string) {
		return !strings.Contains(s.observed("eu-1"), "unschedulable"), s.observed("eu-1")
	})
	moves := s.git(s.bare, "log", "--format=%B", "waybill/state")
	if want := "- Deployment.apps/shop/web has 1 of 2 replicas leave eu-1 for us-1 (1): no node was found there since "; strings.Count(moves, want) != 1 || strings.Count(moves, "Descheduled:") != 1 {
		t.Errorf("want one movement, %s\n%s", want, moves)
	}
	for _, branch := range []string{"waybill/cluster/eu-1", "waybill/cluster/us-1", "waybill/state"} {
		if status, out := s.run("verify", branch, "-C", s.source, "--to", s.bare); status != 0 {
			t.Errorf("verify %s: status %d\n%s", branch, status, out)
		}
	}
}
