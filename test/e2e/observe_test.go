//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// TestObserve runs a controller over a cluster with nodes and one without: replicas go where there
// is room. What decisions can see makes one commit, and heartbeats make none.
func TestObserve(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	s.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n"+
		"  placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}\n")
	s.write("web.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: follow}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: follow}\n"+
		"spec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 500m}}}]}}}\n")
	s.node("eu-1", "one", "8")
	s.pod("eu-1", "busy", "one", "1")
	s.commit()
	if status, out := s.run("publish", s.source, "--to", s.bare); status != 1 || !strings.Contains(out, "unschedulable") {
		t.Fatalf("nothing is known of any cluster: status %d\n%s", status, out)
	}
	s.weaken("us-1")
	requests := s.counting("eu-1")
	s.controller()

	// the Deployment goes where there is room
	eventually(t, "the Deployment is in eu-1", func() (bool, string) {
		_, body := s.apis["eu-1"].do("GET", "/apis/apps/v1/namespaces/follow/deployments/web", "", nil)
		return strings.Contains(string(body), `"replicas":4`), string(body)
	})
	for _, branch := range []string{"waybill/cluster/eu-1", "waybill/state"} {
		if status, out := s.run("verify", branch, "-C", s.source, "--to", s.bare); status != 0 {
			t.Errorf("verify %s: status %d\n%s", branch, status, out)
		}
	}
	eventually(t, "us-1 is observed", func() (bool, string) { return s.observed("us-1") != "", "" })
	if seen := s.observed("us-1"); !strings.Contains(seen, "list and watch nodes and pods") || !strings.Contains(seen, "reason: ClusterReady") || strings.Contains(seen, "resourceSummary") {
		t.Errorf("of us-1, whose credential may not list nodes, there is observed\n%s", seen)
	}
	if seen := s.observed("eu-1"); !strings.Contains(seen, "groupVersion: apps/v1") || !strings.Contains(seen, "reason: ClusterReady") || !strings.Contains(seen, "totalNum: 1") {
		t.Errorf("of eu-1 there is observed\n%s", seen)
	}

	// what no decision sees makes no commit
	s.looks(requests)
	commits := s.commits()
	for i := range 3 {
		s.status("eu-1", "one", fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":"2026-01-01T00:00:0%dZ"}]}}`, i))
	}
	eu.with(t).kubectl("cordon", "one")
	eu.with(t).kubectl("taint", "node", "one", "a=b:NoExecute")
	s.pod("eu-1", "small", "one", "10m")
	s.looks(requests)
	if n := s.commits(); n != commits {
		t.Errorf("there are %d commits more\n%s", n-commits, s.git(s.bare, "log", "-p", "-3", "waybill/state"))
	}

	// room does, once
	s.node("eu-1", "two", "64")
	eventually(t, "the room of two nodes is recorded", func() (bool, string) {
		return strings.Contains(s.observed("eu-1"), `cpu: '72'`), s.observed("eu-1")
	})
	s.looks(requests)
	if n := s.commits(); n != commits+1 {
		t.Errorf("there are %d commits more, want one\n%s", n-commits, s.git(s.bare, "log", "waybill/state"))
	}

	// so does a cluster that does not answer, and one that does again
	if err := eu.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "eu-1 is not ready", func() (bool, string) {
		return strings.Contains(s.observed("eu-1"), "reason: ClusterNotReachable"), s.observed("eu-1")
	})
	if status, out := s.run("get", "clusters", "-C", s.source, "--to", s.bare, "-o", "yaml"); status != 0 || !strings.Contains(out, "cluster.karmada.io/not-ready") {
		t.Errorf("get clusters: status %d\n%s", status, out)
	}
	if err := eu.process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "eu-1 is ready again", func() (bool, string) {
		return strings.Contains(s.observed("eu-1"), "reason: ClusterReady"), s.observed("eu-1")
	})
	if n := s.commits(); n != commits+3 {
		t.Errorf("there are %d commits more, want 3\n%s", n-commits, s.git(s.bare, "log", "waybill/state"))
	}
}

// weaken has a cluster be reached with a token that may look at next to nothing.
func (s *site) weaken(cluster string) {
	s.t.Helper()
	a := s.apis[cluster]
	a.kubectl("create", "serviceaccount", "weak", "-n", "default")
	token := strings.TrimSpace(a.kubectl("create", "token", "weak", "-n", "default"))
	path := filepath.Join(s.kubeconfigs, cluster+".kubeconfig")
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(data), controlplane.Token, token)), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// node makes a node with so many CPUs.
func (s *site) node(cluster, name, cpu string) {
	s.t.Helper()
	s.apis[cluster].apply("apiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n")
	s.status(cluster, name, `{"status":{"allocatable":{"cpu":"`+cpu+`","memory":"64Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`)
}

// status changes the status of a node.
func (s *site) status(cluster, node, patch string) {
	s.t.Helper()
	if status, body := s.apis[cluster].do(http.MethodPatch, "/api/v1/nodes/"+node+"/status", "application/strategic-merge-patch+json", []byte(patch)); status != http.StatusOK {
		s.t.Fatalf("PATCH of the status of node %s: %d\n%s", node, status, body)
	}
}

// pod makes a pod on a node.
func (s *site) pod(cluster, name, node, cpu string) {
	s.t.Helper()
	s.apis[cluster].apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: default}\n" +
		"spec: {nodeName: " + node + ", containers: [{name: c, image: x, resources: {requests: {cpu: " + cpu + "}}}]}\n")
}

// observed is what the state branch says of a cluster; empty where it says nothing.
func (s *site) observed(cluster string) string {
	s.t.Helper()
	files := s.git(s.bare, "ls-tree", "-r", "--name-only", "waybill/state")
	path := "observed/" + cluster + ".yaml"
	if !strings.Contains(files, path) {
		return ""
	}
	text := s.git(s.bare, "show", "waybill/state:"+path)
	var c struct{ Metadata struct{ Name string } }
	if err := sigsyaml.Unmarshal([]byte(text), &c); err != nil || c.Metadata.Name != cluster {
		s.t.Fatalf("%s: %v\n%s", path, err, text)
	}
	return text
}

// commits counts the commits of the state branch that hold what was observed.
func (s *site) commits() int {
	s.t.Helper()
	return strings.Count(s.git(s.bare, "log", "--format=%s", "waybill/state"), "observed: ")
}

// looks waits until a cluster was looked at twice.
func (s *site) looks(requests *proxy) {
	s.t.Helper()
	before := requests.matching("GET", "/readyz")
	eventually(s.t, "it is looked at", func() (bool, string) { return requests.matching("GET", "/readyz") >= before+2, "" })
}
