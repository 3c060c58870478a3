//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// agentGitPoints are requests to Git's server, at which an agent may be killed.
var agentGitPoints = []point{
	gitPoints[0], gitPoints[1], gitPoints[4],
	{"observe", func(r *http.Request, body []byte) bool {
		return isPost(r, "git-receive-pack") && bytes.Contains(body, []byte("refs/heads/waybill/observed/"))
	}},
	{"beat", func(r *http.Request, body []byte) bool {
		return isPost(r, "git-receive-pack") && bytes.Contains(body, []byte("refs/waybill/heartbeat/"))
	}},
}

// agentAPIPoints are those to the API server.
var agentAPIPoints = append([]point{{"lease", func(r *http.Request, _ []byte) bool {
	return isWrite(r.Method) && strings.Contains(r.URL.Path, "/leases/")
}}}, apiPoints...)

// TestAgentSeeds kills an agent at points that are drawn from seeds, before a server has its request
// or when the answer is lost, and starts it again as a container is. On the way no object of the
// branch is gone, and half a minute later all is as it should be, and told.
func TestAgentSeeds(t *testing.T) {
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	e.reach("eu-1", e.apis["eu-1"].kubeconfig)
	proxy := e.counting("eu-1")
	publish := func(round int) {
		e.namespace("faulty", fmt.Sprint(round), 11)
		e.write("passing.yaml", configMap("faulty", fmt.Sprintf("passing-%d", round), "")) // the one before it goes
		e.publish()
	}
	start := func() *runningAgent {
		return e.agent("--instance", "edge", "--kubeconfig", filepath.Join(e.kubeconfigs, "eu-1.kubeconfig"))
	}
	publish(0)
	a := start()
	e.converges("eu-1", time.Now().Add(time.Minute))
	first := firstSeed(t)
	for n := range seeds() {
		r := rand.New(rand.NewPCG(first+uint64(n), 1)) //nolint:gosec // a test that is to be repeated
		on, points := &e.trap, agentGitPoints
		if r.IntN(2) == 0 {
			on, points = &proxy.trap, agentAPIPoints
		}
		point, after := points[r.IntN(len(points))], r.IntN(2) == 0
		dies := a
		sprung := on.set(point.matches, after, func() { _ = dies.Process.Kill() })
		publish(n + 1)
		happened := true
		select {
		case <-sprung:
		case <-time.After(20 * time.Second): // nothing was to be observed
			on.unset()
			happened = false
			_ = a.Process.Kill()
		}
		_ = a.Wait()
		e.whole("eu-1", "faulty", n+1)
		if t.Failed() && n > 0 {
			return
		}
		a = start()
		took := e.converges("eu-1", time.Now().Add(healed))
		heal(t, took, "seed %d: the agent is killed at %q, after the answer: %t, came to pass: %t", first+uint64(n), point.name, after, happened)
	}
	eventually(t, "the status says that all is well", func() (bool, string) {
		code, out := e.run("status", "-C", e.source, "--to", e.bare, "--status-repository", e.url+"/status.git")
		return code == 0, out
	})
	e.tells("the newest is applied", "waybill/status/eu-1", "status.yaml", strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/cluster/eu-1")))
	a.stop()
}
