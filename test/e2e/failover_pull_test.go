//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pulled is a site of two clusters: an agent serves eu-1, and the controller us-1.
type pulled struct {
	*edge
	work *work
}

// pulls divides a Deployment over a cluster that is pulled to and one that is not. The way of the
// agent to its API server goes through a hole.
func (f *failing) pulls(t *testing.T, namespace string, eu, us int) (*pulled, *hole) {
	t.Helper()
	e := newEdge(t, f.programs, f.apis[eu])
	e.apis["us-1"] = f.apis[us].with(t)
	e.write("clusters/us-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us-1}\nspec: {syncMode: Push}\n")
	e.reach("us-1", f.apis[us].kubeconfig)
	e.reach("eu-1", f.apis[eu].kubeconfig)
	p := &pulled{e, e.works(namespace, 6)}
	h := e.swallow("eu-1")
	p.hears("--apply", "--kubeconfig-dir", e.kubeconfigs)
	p.work.reconcile()
	return p, h
}

// through starts an agent whose way to its API server goes through the hole.
func (p *pulled) through(instance string) *runningAgent {
	return p.agent("--instance", instance, "--kubeconfig", filepath.Join(p.kubeconfigs, "eu-1.kubeconfig"))
}

// well waits until both clusters are as they should be, and that is told.
func (p *pulled) well() *deployment {
	p.t.Helper()
	p.work.has(map[string]int{"eu-1": 3, "us-1": 3})
	p.stands("the agent is heard", "reason: HeartbeatsCome", "reason: ClusterReady")
	p.work.observes("us-1", "ClusterReady")
	eventually(p.t, "all is well", func() (bool, string) {
		code, out := p.run("status", "-C", p.source, "--to", p.bare, "--status-repository", p.url+"/status.git")
		return code == 0, out
	})
	d, _ := p.work.in("eu-1")
	p.work.low()
	return d
}

// returned holds that the work which left eu-1 is gone from there soon, once, and for good.
func (p *pulled) returned(since time.Time) {
	p.t.Helper()
	gone := p.work.has(map[string]int{"eu-1": 0, "us-1": 6})
	p.t.Logf("what left it runs for %.1f s after its return", gone.Sub(since).Seconds())
	if took := gone.Sub(since); took > seenBack {
		p.t.Errorf("what left it runs for %s after its return", took)
	}
	p.stands("it is ready again", "reason: HeartbeatsCome", "reason: ClusterReady")
	time.Sleep(5 * time.Second)
	p.work.has(map[string]int{"eu-1": 0, "us-1": 6})
	if low := p.work.low(); low < p.work.replicas {
		p.t.Errorf("%d replicas were healthy, want %d", low, p.work.replicas)
	}
	if begun, over := p.work.explained(); begun != 1 || over != 1 {
		p.t.Errorf("it left clusters %d times, and had left them %d times; want one", begun, over)
	}
}

// silent kills an agent, whose cluster goes on without it.
func (f *failing) silent(t *testing.T) {
	t.Parallel()
	p, _ := f.pulls(t, "silent", 2, 3)
	a := p.through("edge")
	was := p.well()
	beat := func() string { return p.git(p.statuses, "for-each-ref", "refs/waybill/heartbeat") }
	for range 2 { // of the first one nobody knows how old it is
		last := beat()
		eventually(t, "it beats", func() (bool, string) { return beat() != last, last })
	}
	a.kill()
	killed := time.Now()
	seen := p.work.observes("eu-1", "ClusterStatusUnknown")
	moved := p.work.has(map[string]int{"us-1": 6})
	t.Logf("a dead agent is recorded %.1f s after its end, and its replicas are applied elsewhere %.1f s after that", seen.Sub(killed).Seconds(), moved.Sub(seen).Seconds())
	if took := moved.Sub(seen); took > prompt() {
		t.Errorf("from its detection to new replicas elsewhere it takes %s, want less than %s", took, prompt())
	}
	p.work.moved("us-1")
	if !p.work.holds("eu-1") {
		t.Error("a cluster whose agent is not heard loses what left it")
	}
	if d, _ := p.work.in("eu-1"); d == nil || d.Metadata.UID != was.Metadata.UID || d.Spec.Replicas != 3 {
		t.Errorf("nobody serves it, and it changed: %+v", d)
	}
	back := time.Now()
	p.through("edge")
	p.returned(back)
}

// unreachable has the API server of an agent not answer, while the agent lives.
func (f *failing) unreachable(t *testing.T) {
	t.Parallel()
	p, h := f.pulls(t, "unreachable", 4, 5)
	a := p.through("edge")
	was := p.well()
	h.set(true)
	cut := time.Now()
	seen := p.work.observes("eu-1", "ClusterNotReachable")
	moved := p.work.has(map[string]int{"us-1": 6})
	t.Logf("an agent says %.1f s after its API server was lost that it is, and its replicas are applied elsewhere %.1f s after that", seen.Sub(cut).Seconds(), moved.Sub(seen).Seconds())
	eventually(t, "status says so", func() (bool, string) {
		_, out := p.run("status", "-C", p.source, "--to", p.bare, "--status-repository", p.url+"/status.git")
		return strings.Contains(out, "Unreachable"), out
	})
	time.Sleep(time.Until(cut.Add(70 * time.Second))) // a lease and a half
	if now := p.observed("eu-1"); !strings.Contains(now, "reason: HeartbeatsCome") || !strings.Contains(now, "reason: ClusterNotReachable") {
		t.Errorf("the agent is there, and its API server is not; recorded is\n%s", now)
	}
	if d, _ := p.work.in("eu-1"); d == nil || d.Metadata.UID != was.Metadata.UID {
		t.Errorf("what could not be asked was changed: %+v", d)
	}
	back := time.Now()
	h.set(false)
	p.returned(back)
	a.stop()
}

// twins are two agents for one cluster. When the one that serves it loses the way to it the other
// takes over, and the fleet sees nothing of that. Two that cannot know of each other, because
// their Leases are in different namespaces, do no harm.
func (f *failing) twins(t *testing.T) {
	t.Parallel()
	p, h := f.pulls(t, "twins", 3, 2)
	first := p.through("first")
	was := p.well()
	second := p.agent("--instance", "second")
	eventually(t, "the second stands by", func() (bool, string) { said := second.said(); return strings.Contains(said, "standing by"), said })
	commits := p.commits()
	h.set(true)
	eventually(t, "the second serves", func() (bool, string) { said := second.said(); return strings.Contains(said, `"msg":"leading"`), said })
	eventually(t, "the first stands by", func() (bool, string) { said := first.said(); return strings.Contains(said, "standing by"), said })
	h.set(false)
	time.Sleep(20 * time.Second)
	if n := p.commits() - commits; n != 0 {
		t.Errorf("that made %d commits:\n%s", n, p.git(p.bare, "log", "waybill/state"))
	}
	first.kill()

	third := p.agent("--instance", "third", "--namespace", "kube-public")
	eventually(t, "the third serves, too", func() (bool, string) { said := third.said(); return strings.Contains(said, `"msg":"leading"`), said })
	p.write("more.yaml", configMap("twins", "more", "value"))
	p.write("more-policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: more, namespace: twins}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n")
	p.commit()
	p.settles("eu-1")
	told := func() string { return p.git(p.statuses, "rev-parse", "waybill/status/eu-1", "waybill/observed/eu-1") }
	time.Sleep(25 * time.Second)
	before := told()
	commits = p.commits()
	time.Sleep(25 * time.Second)
	if now := told(); now != before || p.commits() != commits {
		t.Errorf("nothing happens, and they tell\n%s", p.git(p.statuses, "log", "-4", "-p", "waybill/status/eu-1", "waybill/observed/eu-1"))
	}
	if d, _ := p.work.in("eu-1"); d == nil || d.Metadata.UID != was.Metadata.UID || d.Spec.Replicas != 3 {
		t.Errorf("it changed: %+v", d)
	}
	if code, out := p.run("status", "-C", p.source, "--to", p.bare, "--status-repository", p.url+"/status.git"); code != 0 {
		t.Errorf("status: %d\n%s", code, out)
	}
}
