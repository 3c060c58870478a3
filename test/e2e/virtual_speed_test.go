//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parts is how many virtual clusters TestVirtualSpeed makes of an API server.
const parts = 20

// TestVirtualSpeed holds that one connection to an API server of twenty virtual clusters costs
// little more than one to a cluster with as many objects, when they are applied and when nothing
// happens. Requests are told, and CPU seconds.
func TestVirtualSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost")
	}
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	whole := newSite(t, p.waybill, map[string]*api{"host": startAPI(t, p, etcd, filepath.Join(dir, "whole"))})
	split := newSite(t, p.waybill, map[string]*api{"host": startAPI(t, p, etcd, filepath.Join(dir, "split"))})
	whole.policy("")
	split.policy("")
	split.write("policy.yaml", strings.Replace(split.read("policy.yaml"), "placement: {}", "placement: {clusterAffinity: {labelSelector: {matchLabels: {is: part}}}}", 1))
	split.write("shop.yaml", shop("shop"))
	for i := range parts {
		name := fmt.Sprintf("part-%02d", i)
		whole.write(name+".yaml", shop("shop-"+name))
		split.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: "+name+"\n  labels: {is: part}\n"+
			"  annotations: {waybill.dev/virtual-of: host, waybill.dev/node-selector: \"part="+name+"\"}\nspec: {syncMode: Push}\n")
	}
	var one, many expense
	t.Run("both", func(t *testing.T) {
		t.Run("one", func(t *testing.T) { t.Parallel(); one = whole.spends(t, "host") })
		t.Run("many", func(t *testing.T) { t.Parallel(); many = split.spends(t, "part-19") })
	})
	t.Logf("one cluster: %v", one)
	t.Logf("%d virtual clusters: %v", parts, many)
	if most := 1.3*one.idle + 0.1; many.idle > most {
		t.Errorf("nothing happens, and %d virtual clusters take %.2f %% of a core, one cluster %.2f %%", parts, many.idle, one.idle)
	}
	if most := one.quiet + 10; many.quiet > most {
		t.Errorf("nothing happens, and %d virtual clusters are asked %d times, one cluster %d times", parts, many.quiet, one.quiet)
	}
}

// shop is a namespace with fifty objects.
func shop(namespace string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)
	for i := range 30 {
		fmt.Fprintf(&b, "---\n%s", configMap(namespace, fmt.Sprintf("c%04d", i), strings.Repeat("value ", 50)))
	}
	for i := range 10 {
		fmt.Fprintf(&b, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-%[2]d, namespace: %[1]s}\n"+
			"spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n"+
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: web-%[2]d, namespace: %[1]s}\nspec: {selector: {a: b}, ports: [{port: 80}]}\n", namespace, i)
	}
	return b.String()
}

// expense is what a controller takes.
type expense struct {
	begins, server time.Duration // of CPU, until all is applied, and that of the API server
	asks           int           // requests until then
	idle           float64       // percent of a core, when nothing happens
	quiet          int           // requests in that half minute
	memory         int           // MiB at most
}

func (e expense) String() string {
	return fmt.Sprintf("%.1f CPU s until all is applied, and %.1f of the API server, in %d requests; then %.2f %% of a core, %d requests in half a minute; %d MiB at most",
		e.begins.Seconds(), e.server.Seconds(), e.asks, e.idle, e.quiet, e.memory)
}

// spends starts a controller on a site of one API server, and measures it from then on. Last is the
// cluster that is applied to last.
func (s *site) spends(t *testing.T, last string) (e expense) {
	t.Helper()
	s.t = t
	a := s.apis["host"].with(t)
	s.apis["host"], s.apis[last] = a, a
	var pods strings.Builder
	for i := range 200 { // of others
		fmt.Fprintf(&pods, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: default}\nspec: {nodeName: node-0, containers: [{name: c, image: x, resources: {requests: {cpu: 10m}}}]}\n", i)
	}
	a.apply(pods.String())
	requests := s.counting("host")
	s.commit()
	before := a.spent(t)
	controller := s.started(s.source, "--to", s.bare)
	s.converges(last, time.Now().Add(3*time.Minute))
	eventually(t, "all is applied", func() (bool, string) {
		n := len(s.get("host", "/apis/apps/v1/deployments")["items"].([]any))
		return n == 10*parts, fmt.Sprint(n)
	})
	time.Sleep(15 * time.Second) // what is told, and watched
	e.begins, e.server, e.asks = cpuOf(t, controller), a.spent(t)-before, requests.total()
	const span = 30 * time.Second
	e.idle = 100
	for range 2 { // what was applied last may still be looked at
		requests.reset()
		begun := cpuOf(t, controller)
		time.Sleep(span)
		if idle := 100 * (cpuOf(t, controller) - begun).Seconds() / span.Seconds(); idle < e.idle {
			e.idle, e.quiet = idle, requests.total()
		}
	}
	e.memory = memoryOf(t, controller) >> 20
	end(t, controller)
	return e
}
