//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestMove has a Deployment go from one cluster to another by an edit of its policy, under the controller. As long as it is
// not healthy in the new cluster it stays in the old one, and at no time are fewer replicas healthy than it asks for, as
// both API servers have it.
func TestMove(t *testing.T) {
	besideOthers(t)
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{"c0": startAPI(t, p, etcd, dir+"/c0"), "c1": startAPI(t, p, etcd, dir+"/c1")}
	w := newSite(t, p.waybill, apis).works("moves", 3)
	w.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	w.placed("c0")
	w.controller()
	w.reconcile()
	w.has(map[string]int{"c0": 3, "c1": 0})
	eventually(t, "all is well", func() (bool, string) {
		code, out := w.run("status", "-C", w.source, "--to", w.bare)
		return code == 0, out
	})
	eventually(t, "its replicas are healthy", func() (bool, string) {
		d, _ := w.in("c0")
		return d != nil && d.Status.AvailableReplicas == 3, ""
	})
	time.Sleep(time.Second)
	w.low()

	w.fall("c1") // the new replicas take their time
	edited := time.Now()
	w.placed("c1")
	there := w.has(map[string]int{"c1": 3})
	time.Sleep(15 * time.Second) // a status is told every ten seconds
	if d, _ := w.in("c0"); d == nil || d.Spec.Replicas != 3 {
		t.Errorf("it is not healthy in the new cluster, and in the old one it is %+v", d)
	}
	if record := w.git(w.bare, "show", "waybill/state:leaving.json"); !strings.Contains(record, `"cluster": "c0"`) {
		t.Errorf("the record of the move is %s", record)
	}
	w.fall()
	well := time.Now()
	gone := w.has(map[string]int{"c0": 0, "c1": 3})
	t.Logf("%.1f s after the edit it is in the new cluster, and %.1f s after it is healthy there it has left the old one", there.Sub(edited).Seconds(), gone.Sub(well).Seconds())
	if low := w.low(); low < 3 {
		t.Errorf("%d replicas were healthy while it moved, want 3", low)
	}
	if message := w.git(w.bare, "log", "-1", "--format=%B", "waybill/cluster/c0"); !strings.Contains(message, "Deployment.apps/moves/web has left c0") {
		t.Errorf("the commit by which it leaves says %s", message)
	}
	if files := w.git(w.bare, "ls-tree", "--name-only", "waybill/state"); strings.Contains(files, "leaving.json") {
		t.Errorf("the move is over, and is recorded: %s", files)
	}
}

// placed has the Deployment go to a cluster.
func (w *work) placed(cluster string) {
	w.t.Helper()
	w.write("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: `+w.namespace+`}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [`+cluster+`]}}
`)
	w.commit()
}
