//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// federated is a FederatedHPA of a Deployment.
func federated(name string, least, most int) string {
	return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: %[1]s, namespace: shop}\n"+
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}, minReplicas: %[2]d, maxReplicas: %[3]d}\n", name, least, most)
}

// scaledDeployment is a Deployment with replicas, which are not said if that is empty.
func scaledDeployment(name, image, replicas string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: shop}\nspec: {%[3]sselector: {matchLabels: {app: %[1]s}}, "+
		"template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: %[2]q, resources: {requests: {cpu: 1m}}}]}}}\n", name, image, replicas)
}

// lowest watches a Deployment from now on, and returns how to ask for the fewest replicas that it ever had.
func lowest(t *testing.T, a *api, name string) func() int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), a.path, "--kubeconfig", a.kubeconfig, "get", "deployment", "-n", "shop", name, "-w", "-o", `jsonpath={.spec.replicas}{"\n"}`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // its context has ended
	var least, seen atomic.Int64
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			n, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err == nil && (seen.Add(1) == 1 || n < least.Load()) {
				least.Store(n)
			}
		}
	}()
	eventually(t, "the watch has begun", func() (bool, string) { return seen.Load() > 0, "nothing was seen" })
	return func() int {
		time.Sleep(time.Second) // for what is on its way
		t.Logf("%s: %d events, the lowest has %d replicas", name, seen.Load(), least.Load())
		return int(least.Load())
	}
}

// TestAutoscaling hands the replicas of a Deployment over to HorizontalPodAutoscalers and takes them back, in a cluster whose
// autoscaler runs, without metrics, and in one where none does. No watch ever sees fewer replicas than before.
func TestAutoscaling(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	s := newSite(t, p.waybill, map[string]*api{
		"eu-1": startCluster(t, p, etcd, filepath.Join(dir, "eu"), 1), "us-1": startAPI(t, p, etcd, filepath.Join(dir, "us")),
	})
	replicas := func(cluster, name string) string {
		return s.apis[cluster].kubectl("get", "deployment", "-n", "shop", name, "-o", "jsonpath={.spec.replicas}")
	}
	have := func(step, eu, us string) {
		t.Helper()
		if e, u := replicas("eu-1", "api"), replicas("us-1", "api"); e != eu || u != us {
			t.Errorf("%s: eu-1 has %s replicas and us-1 %s, want %s and %s", step, e, u, eu, us)
		}
	}
	next := func() {
		t.Helper()
		s.publish()
		s.apply(0)
	}
	s.write("shop.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	s.write("api.yaml", scaledDeployment("api", "api:1", "replicas: 7, "))
	next()
	have("before", "7", "7")
	eu, us := lowest(t, s.apis["eu-1"], "api"), lowest(t, s.apis["us-1"], "api")

	s.write("hpa.yaml", federated("api", 2, 20))
	s.write("new.yaml", scaledDeployment("new", "new:1", "")+"---\n"+federated("new", 2, 4))
	next()
	have("handed over", "7", "7")
	s.check("eu-1")
	eventually(t, "a new Deployment is raised to its least, without metrics", func() (bool, string) {
		n := replicas("eu-1", "new")
		return n == "2", n
	})
	s.apis["eu-1"].kubectl("patch", "hpa", "-n", "shop", "api", "--type=merge", "-p", `{"spec":{"minReplicas":9}}`) // nobody applies: it scales
	eventually(t, "the autoscaler scales while nobody applies", func() (bool, string) { n := replicas("eu-1", "api"); return n == "9", n })
	s.apply(0)
	have("applied again", "9", "7")
	s.write("api.yaml", scaledDeployment("api", "api:2", "replicas: 7, "))
	next()
	have("with another image", "9", "7")
	s.policy("  conflictResolution: Overwrite\n")
	s.write("api.yaml", scaledDeployment("api", "api:3", "replicas: 7, "))
	next()
	have("taking over what others own", "9", "7")
	if n := replicas("eu-1", "new"); n != "2" {
		t.Errorf("the new Deployment has %s replicas", n)
	}

	s.remove("hpa.yaml")
	next()
	have("taken back", "9", "7")
	if got := s.apis["eu-1"].kubectl("get", "hpa", "-n", "shop", "-o", "name"); strings.Contains(got, "/api") {
		t.Errorf("eu-1 has %s", got)
	}
	s.apply(0)
	have("taken back, and applied again", "9", "7")
	s.write("api.yaml", scaledDeployment("api", "api:4", "replicas: 8, "))
	next()
	have("Git says more in one cluster", "9", "8")
	if e, u := eu(), us(); e != 7 || u != 7 {
		t.Errorf("the lowest was %d in eu-1 and %d in us-1, want 7", e, u)
	}
	s.apis["eu-1"].kubectl("annotate", "deployment", "-n", "shop", "api", "waybill.dev/lowers-replicas-at-") // somebody does not wait for five minutes
	s.apply(0)
	have("when nobody waits", "8", "8")
	if marks := s.apis["eu-1"].kubectl("get", "deployment", "-n", "shop", "api", "-o", "jsonpath={.metadata.annotations}"); strings.Contains(marks, "lowers") || strings.Contains(marks, "autoscaler") {
		t.Errorf("it is marked still: %s", marks)
	}
	s.check("eu-1")
	s.check("us-1")
}
