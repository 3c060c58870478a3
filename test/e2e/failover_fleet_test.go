//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"
)

// work is a Deployment that is divided over the clusters of a site, and leaves those that are not
// ready. The test stands for the controllers of Deployments, which no API server has by itself:
// where a cluster is well a Deployment becomes healthy, and where it is not it stays as it was.
type work struct {
	*site

	namespace string
	replicas  int

	mu     sync.Mutex
	ill    map[string]bool
	lowest int // of the healthy replicas over the clusters that answer, since that was said
}

// works has a site divide a Deployment over its clusters, in a namespace of its own.
func (s *site) works(namespace string, replicas int) *work {
	s.t.Helper()
	w := &work{site: s, namespace: namespace, replicas: replicas, ill: map[string]bool{}}
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  failover: {enabled: true}\n")
	s.write("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: `+namespace+`}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: dead}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: dead, effect: NoExecute}]
`)
	s.write("web.yaml", fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %[1]s}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: %[1]s}\n"+
		"spec: {replicas: %[2]d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n", namespace, replicas))
	s.commit()
	return w
}

// deployment is as much of it as the test looks at.
type deployment struct {
	Metadata struct {
		UID        string
		Generation int64
	}
	Spec   struct{ Replicas int }
	Status struct {
		ObservedGeneration int64
		AvailableReplicas  int
	}
}

func (w *work) path() string { return at("Deployment", w.namespace, "web") }

// in is the Deployment in a cluster; nil if it is not there. A cluster that does not answer is not
// asked for long.
func (w *work) in(cluster string) (d *deployment, answers bool) {
	status, body := w.apis[cluster].do(http.MethodGet, w.path(), "", nil)
	if status != http.StatusOK {
		return nil, status == http.StatusNotFound
	}
	d = &deployment{}
	if err := json.Unmarshal(body, d); err != nil {
		w.t.Errorf("%s: %v", cluster, err)
	}
	return d, true
}

// reconcile makes Deployments healthy until the test ends, and counts.
func (w *work) reconcile() {
	done, ended := make(chan struct{}), make(chan struct{})
	w.t.Cleanup(func() { close(done); <-ended })
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(200 * time.Millisecond):
				w.once()
			}
		}
	}()
}

func (w *work) once() {
	healthy := 0
	for cluster := range w.apis {
		d, _ := w.in(cluster)
		if d == nil {
			continue
		}
		w.mu.Lock()
		isIll := w.ill[cluster]
		w.mu.Unlock()
		healthy += d.Status.AvailableReplicas
		if n := d.Spec.Replicas; !isIll && (d.Status.ObservedGeneration != d.Metadata.Generation || d.Status.AvailableReplicas != n) {
			status := fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":%[2]d,"updatedReplicas":%[2]d,"readyReplicas":%[2]d,"availableReplicas":%[2]d,`+
				`"conditions":[{"type":"Available","status":"True","reason":"MinimumReplicasAvailable"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, d.Metadata.Generation, n)
			w.apis[cluster].do(http.MethodPatch, w.path()+"/status", "application/merge-patch+json", []byte(status))
		}
	}
	w.mu.Lock()
	w.lowest = min(w.lowest, healthy)
	w.mu.Unlock()
}

// fall says in which clusters nothing becomes healthy from now on.
func (w *work) fall(ill ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ill = map[string]bool{}
	for _, cluster := range ill {
		w.ill[cluster] = true
	}
}

// low returns how few replicas were healthy in the clusters that answered since it was asked last.
func (w *work) low() (lowest int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lowest, w.lowest = w.lowest, w.replicas*len(w.apis)
	return lowest
}

// besideOthers has a test that holds Waybill to seconds run beside others with -short, where it allows for
// them, and alone without.
func besideOthers(t *testing.T) {
	if testing.Short() {
		t.Parallel()
	}
}

// prompt is how long it may take from the detection of a loss to new replicas elsewhere.
func prompt() time.Duration {
	if testing.Short() {
		return healed
	}
	return 3 * time.Second
}

// has waits until clusters have so many replicas, and returns when they had.
func (w *work) has(wanted map[string]int) time.Time {
	w.t.Helper()
	for _, cluster := range slices.Sorted(maps.Keys(wanted)) {
		eventually(w.t, fmt.Sprintf("%s has %d replicas", cluster, wanted[cluster]), func() (bool, string) {
			d, answers := w.in(cluster)
			if d == nil {
				return answers && wanted[cluster] == 0, "it is not there"
			}
			return d.Spec.Replicas == wanted[cluster], fmt.Sprintf("%+v\n%s", d, w.git(w.bare, "log", "-3", "waybill/state"))
		})
	}
	return time.Now()
}

// observes waits until something is recorded of a cluster.
func (w *work) observes(cluster, reason string) time.Time {
	w.t.Helper()
	eventually(w.t, cluster+": "+reason, func() (bool, string) {
		seen := w.observed(cluster)
		return strings.Contains(seen, "reason: "+reason), seen
	})
	return time.Now()
}

// binding is what a commit of the state branch says of the Deployment.
type binding struct {
	Spec struct {
		Clusters              []struct{ Name string }
		GracefulEvictionTasks []struct{ FromCluster string }
	}
	Status struct {
		Conditions []struct{ Type, Reason string }
	}
}

func (w *work) bound(commit string) (b binding) {
	w.t.Helper()
	out, err := exec.Command("git", "-C", w.bare, "show", commit+":bindings/"+w.namespace+"/web-deployment.yaml").Output()
	if err == nil {
		err = sigsyaml.Unmarshal(out, &b)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", commit, err)
	}
	return b
}

// waits is why the Deployment does not leave a cluster that it should leave.
func (b *binding) waits() string {
	for _, c := range b.Status.Conditions {
		if c.Type == "waybill.dev/EvictionWaits" {
			return c.Reason
		}
	}
	return ""
}

// where are the clusters of a binding, and those that it leaves, with a dash.
func (b *binding) where() (names []string) {
	for _, c := range b.Spec.Clusters {
		names = append(names, c.Name)
	}
	for _, t := range b.Spec.GracefulEvictionTasks {
		names = append(names, "-"+t.FromCluster)
	}
	slices.Sort(names)
	return names
}

// explained holds that every movement since the first plan is explained in Git, and returns how
// many there were: that something began to leave a cluster, or that its old copy went.
func (w *work) explained() (begun, over int) {
	w.t.Helper()
	commits := strings.Fields(w.git(w.bare, "log", "--reverse", "--format=%H", "waybill/state", "--", "bindings/"+w.namespace))
	before := w.bound(commits[0])
	for _, commit := range commits[1:] {
		b, message := w.bound(commit), w.git(w.bare, "log", "-1", "--format=%B", commit)
		leaves, left := strings.Count(message, "/web leaves "), strings.Count(message, "/web has left ")
		begun, over = begun+leaves, over+left
		if !slices.Equal(before.where(), b.where()) && leaves+left == 0 && !strings.Contains(message, "/web is elsewhere") {
			w.t.Errorf("it is in %v, and was in %v, and nothing says why:\n%s", b.where(), before.where(), message)
		}
		before = b
	}
	return begun, over
}

// startSeven starts API servers for all tests of failover; the last one is to be killed.
func startSeven(t *testing.T, p programs) []*api {
	t.Helper()
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	var apis []*api
	for i := range 7 {
		a := startAPI(t, p, etcd, fmt.Sprintf("%s/c%d", dir, i))
		a.http.Timeout = 5 * time.Second
		apis = append(apis, a)
	}
	return apis
}
