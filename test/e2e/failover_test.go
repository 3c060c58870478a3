//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFailover has clusters fail, each in a way of its own, and work leave them. What Karmada's
// times are, they are here, so that it waits for most of its time.
func TestFailover(t *testing.T) {
	besideOthers(t)
	p := build(t)
	f := &failing{programs: p, apis: startSeven(t, p)}
	t.Run("a cluster dies", f.dies)
	t.Run("two of six are cut off, then all", f.cutOff)
	t.Run("an agent is killed", f.silent)
	t.Run("an agent loses its API server", f.unreachable)
	t.Run("two agents", f.twins)
}

// failing are API servers that clusters are made of.
type failing struct {
	programs
	apis []*api
}

// site is a site with clusters on API servers.
func (f *failing) site(t *testing.T, servers ...int) *site {
	t.Helper()
	apis := map[string]*api{}
	for _, n := range servers {
		apis[fmt.Sprint("c", n)] = f.apis[n]
	}
	return newSite(t, f.waybill, apis)
}

// dies kills an API server. Its work comes up elsewhere, the old copy stays on its branch until the
// new ones are healthy and it has been seen to be back, and what every cluster has loses nothing.
func (f *failing) dies(t *testing.T) {
	t.Parallel()
	const dead = "c6"
	w := f.site(t, 0, 1, 6).works("dies", 6)
	w.everywhere()
	w.controller()
	w.reconcile()
	w.has(map[string]int{"c0": 2, "c1": 2, dead: 2})
	for cluster := range w.apis {
		w.observes(cluster, "ClusterReady")
	}
	eventually(t, "all is well", func() (bool, string) {
		code, out := w.run("status", "-C", w.source, "--to", w.bare)
		return code == 0, out
	})
	old, _ := w.in(dead)
	data := w.data(dead)
	w.low()

	w.fall("c0", "c1") // the new replicas take their time
	w.apis[dead].process.Stop()
	killed := time.Now()
	seen := w.observes(dead, "ClusterNotReachable")
	moved := w.has(map[string]int{"c0": 3, "c1": 3})
	t.Logf("a dead cluster is recorded %.1f s after its end, and its replicas are applied elsewhere %.1f s after that", seen.Sub(killed).Seconds(), moved.Sub(seen).Seconds())
	if took := moved.Sub(seen); took > prompt() {
		t.Errorf("from its detection to new replicas elsewhere it takes %s, want less than %s", took, prompt())
	}
	if low := w.low(); low < 4 {
		t.Errorf("in the clusters that answer %d replicas were healthy, want 4", low)
	}
	time.Sleep(12 * time.Second) // a status is told every ten seconds
	b := w.bound("waybill/state")
	if got := b.where(); !slices.Equal(got, []string{"-" + dead, "c0", "c1"}) || !w.holds(dead) {
		t.Errorf("the new copies are not healthy, and it is in %v; on the branch of the old one: %t", got, w.holds(dead))
	}
	w.fall()
	w.moved("c0", "c1")
	if !w.holds(dead) {
		t.Error("a cluster that does not answer loses what left it")
	}
	w.low()

	// it is back with its old state
	back := time.Now()
	if err := w.apis[dead].process.Restart(); err != nil {
		t.Fatal(err)
	}
	var answers time.Time
	eventually(t, "it has its old state", func() (bool, string) {
		d, _ := w.in(dead)
		if d != nil && d.Metadata.UID != old.Metadata.UID {
			t.Errorf("it is another one: %+v", d)
		}
		answers = time.Now()
		return d != nil, ""
	})
	gone := w.has(map[string]int{dead: 0})
	t.Logf("a cluster that is back after %.1f s runs what left it for %.1f s more", answers.Sub(back).Seconds(), gone.Sub(answers).Seconds())
	if took := gone.Sub(answers); took > seenBack {
		t.Errorf("what left it runs for %s after its return", took)
	}
	if now := w.data(dead); now != data {
		t.Errorf("what every cluster has was there as\n%s\nand is now\n%s", data, now)
	}
	w.observes(dead, "ClusterReady")
	time.Sleep(5 * time.Second)
	w.has(map[string]int{"c0": 3, "c1": 3, dead: 0})
	if low := w.low(); low < w.replicas {
		t.Errorf("%d replicas were healthy after it had moved, want %d", low, w.replicas)
	}
	if begun, over := w.explained(); begun != 1 || over != 1 {
		t.Errorf("it left clusters %d times, and had left them %d times; want one", begun, over)
	}
}

// seenBack is how long it takes at most to record that a cluster is back.
const seenBack = time.Minute

// moved waits until the binding has the Deployment in clusters, and nothing is leaving one.
func (w *work) moved(to ...string) {
	w.t.Helper()
	eventually(w.t, "it has moved", func() (bool, string) {
		b := w.bound("waybill/state")
		return slices.Equal(b.where(), to), w.git(w.bare, "log", "-3", "waybill/state")
	})
}

// everywhere adds what every cluster has: a kind, and an object of it.
func (w *work) everywhere() {
	w.t.Helper()
	w.write("kind.yaml", `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everywhere}
spec:
  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}, {apiVersion: v1, kind: Namespace}]
  placement: {}
`)
	w.commit()
}

// data is the identity of what every cluster has, with an object that somebody made by hand.
func (w *work) data(cluster string) string {
	w.t.Helper()
	const path = "/apis/example.com/v1/gadgets"
	var all []string
	eventually(w.t, cluster+" has what every cluster has", func() (bool, string) {
		w.apis[cluster].do(http.MethodPost, path, "application/json", []byte(`{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"users"}}`))
		all = nil
		for _, p := range []string{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com", "/api/v1/namespaces/" + w.namespace, path + "/users"} {
			var o deployment
			status, body := w.apis[cluster].do(http.MethodGet, p, "", nil)
			if status != http.StatusOK || json.Unmarshal(body, &o) != nil {
				return false, p + ": " + string(body)
			}
			all = append(all, p+" "+o.Metadata.UID)
		}
		return true, ""
	})
	return strings.Join(all, "\n")
}

// holds reports whether the branch of a cluster has the Deployment.
func (w *work) holds(cluster string) bool {
	return strings.Contains(w.git(w.bare, "ls-tree", "-r", "--name-only", "waybill/cluster/"+cluster), "web")
}

// cutOff has the network swallow what goes to two clusters of six, and then to all. The work of
// two moves; when all seem to be lost nothing does, neither then nor when they are back.
func (f *failing) cutOff(t *testing.T) {
	t.Parallel()
	w := f.site(t, 0, 1, 2, 3, 4, 5).works("cut-off", 24)
	holes := map[string]*hole{}
	for cluster := range w.apis {
		holes[cluster] = w.swallow(cluster)
	}
	w.controller()
	w.reconcile()
	for cluster := range w.apis {
		w.has(map[string]int{cluster: 4})
		w.observes(cluster, "ClusterReady")
	}
	before := map[string]string{}
	for cluster := range w.apis {
		d, _ := w.in(cluster)
		before[cluster] = d.Metadata.UID
	}
	same := func(clusters ...string) {
		t.Helper()
		for _, cluster := range clusters {
			if d, _ := w.in(cluster); d == nil || d.Metadata.UID != before[cluster] {
				t.Errorf("what could not be asked was changed: %s has %+v", cluster, d)
			}
		}
	}
	w.low()

	for _, cluster := range []string{"c0", "c1"} {
		holes[cluster].set(true)
	}
	w.has(map[string]int{"c2": 6, "c3": 6, "c4": 6, "c5": 6})
	w.moved("c2", "c3", "c4", "c5")
	same("c0", "c1")
	if begun, over := w.explained(); begun != 2 || over != 0 {
		t.Errorf("it left clusters %d times, and had left them %d times; want two, and none as long as they do not answer", begun, over)
	}

	commit := w.git(w.bare, "rev-parse", "waybill/cluster/c2", "waybill/cluster/c3", "waybill/cluster/c4", "waybill/cluster/c5")
	const apart = 9 * time.Second // it is seen of one cluster after the other
	holes["c2"].set(true)
	time.Sleep(apart)
	for _, h := range holes {
		h.set(true)
	}
	for cluster := range w.apis {
		w.observes(cluster, "ClusterNotReachable")
	}
	eventually(t, "it is said why nothing moves", func() (bool, string) {
		b := w.bound("waybill/state")
		return b.waits() == "FleetNotReady", w.git(w.bare, "log", "-3", "-p", "waybill/state")
	})
	if _, out := w.run("validate", w.source, "--to", w.bare); !strings.Contains(out, "6 clusters of 6 are not ready") {
		t.Errorf("waybill diff says\n%s", out)
	}
	same("c2", "c3", "c4", "c5")
	for _, cluster := range []string{"c0", "c1", "c3"} {
		holes[cluster].set(false)
	}
	time.Sleep(apart)
	for _, h := range holes {
		h.set(false)
	}
	for cluster := range w.apis {
		w.observes(cluster, "ClusterReady")
	}
	w.has(map[string]int{"c0": 0, "c1": 0, "c2": 6, "c3": 6, "c4": 6, "c5": 6})
	time.Sleep(5 * time.Second)
	same("c2", "c3", "c4", "c5")
	if now := w.git(w.bare, "rev-parse", "waybill/cluster/c2", "waybill/cluster/c3", "waybill/cluster/c4", "waybill/cluster/c5"); now != commit {
		t.Errorf("while all were cut off, and then came back, branches moved:\n%s", w.git(w.bare, "log", "-5", "waybill/state"))
	}
	if begun, over := w.explained(); begun != 2 || over != 2 {
		t.Errorf("it left clusters %d times, and had left them %d times; want two", begun, over)
	}
	if low := w.low(); low < w.replicas {
		t.Errorf("%d replicas were healthy, want %d", low, w.replicas)
	}
}
