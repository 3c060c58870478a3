//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/peers"
)

// TestApplySpeed applies 1,000 objects of ten kinds to a real API server, by turns with a bare
// loop of concurrent server-side applies. Requests and CPU seconds, of the client and of the
// API server, decide; how long it took is only told.
func TestApplySpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost")
	}
	p := build(t)
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if _, err := peers.Go("../..", "build", "-o", loop, "./test/e2e/loop"); err != nil {
		t.Fatal(err)
	}
	a := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "speed"))
	counted := newSite(t, p.waybill, map[string]*api{"eu-1": a})
	counted.thousand("counted")
	counted.publish()
	requests := counted.counting("eu-1")
	counted.apply(0)
	const overhead = 40 // lists, discovery, the inventory
	if n := requests.total(); n > 1000+overhead {
		t.Errorf("1,000 objects took %d requests", n)
	}
	t.Logf("1,000 objects took %d requests", requests.total())
	requests.reset()
	counted.apply(0)
	if n := requests.total(); n > 30 {
		t.Errorf("nothing changed, and it took %d requests", n)
	}
	t.Logf("nothing changed took %d requests", requests.total())

	const turns, most = 3, 1.3
	var bare, ours []cost
	for turn := range turns {
		s := newSite(t, p.waybill, map[string]*api{"eu-1": a})
		s.thousand(fmt.Sprintf("ours-%d", turn))
		s.publish()
		tree := filepath.Join(t.TempDir(), "tree")
		s.thousand(fmt.Sprintf("bare-%d", turn))
		if status, out := s.run("render", s.source, "--out", tree); status != 0 {
			t.Fatalf("render: %d\n%s", status, out)
		}
		bare = append(bare, a.measure(t, exec.Command(loop, a.kubeconfig, filepath.Join(tree, "eu-1", "manifests"))))
		ours = append(ours, a.measure(t, s.command(s.applyArgs()...)))
		again := a.measure(t, s.command(s.applyArgs()...))
		s.check("eu-1")
		t.Logf("turn %d: a bare loop %v; waybill apply %v; and again %v", turn, bare[turn], ours[turn], again)
	}
	if b, o := least(bare), least(ours); o > b*most {
		t.Errorf("waybill apply takes %.2f CPU seconds, a bare loop %.2f: %.2f times as much, and %.1f is the limit", o, b, o/b, most)
	}
}

// cost is what a client took.
type cost struct {
	client, server time.Duration // of CPU
	wall           time.Duration
}

func (c cost) String() string {
	return fmt.Sprintf("%.2f CPU s of its own and %.2f of the API server, in %.2f s", c.client.Seconds(), c.server.Seconds(), c.wall.Seconds())
}

// least is the CPU time of the turn that took least: what else the machine does only adds.
func least(turns []cost) float64 {
	best := turns[0].client + turns[0].server
	for _, c := range turns {
		best = min(best, c.client+c.server)
	}
	return best.Seconds()
}

// measure runs a client.
func (a *api) measure(t *testing.T, cmd *exec.Cmd) cost {
	t.Helper()
	before := a.spent(t)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	c := cost{wall: time.Since(start), client: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	c.server = a.spent(t) - before
	return c
}

// spent is the CPU time that the API server took so far, as it says.
func (a *api) spent(t *testing.T) time.Duration {
	t.Helper()
	_, body := a.do(http.MethodGet, "/metrics", "", nil)
	_, rest, _ := strings.Cut(string(body), "\nprocess_cpu_seconds_total ")
	line, _, _ := strings.Cut(rest, "\n")
	seconds, err := strconv.ParseFloat(line, 64)
	if err != nil {
		t.Fatalf("the API server does not say how long it took: %v", err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// thousand writes 1,000 objects of ten kinds, in twenty namespaces.
func (s *site) thousand(prefix string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.source, "bench")); err != nil {
		s.t.Fatal(err)
	}
	for n := range 20 {
		ns := fmt.Sprintf("%s-%02d", prefix, n)
		var b strings.Builder
		add := func(version, kind, name, rest string) {
			meta := "name: " + name + ", labels: {app: " + name + "}"
			if kind != "Namespace" {
				meta += ", namespace: " + ns
			}
			fmt.Fprintf(&b, "---\napiVersion: %s\nkind: %s\nmetadata: {%s}\n%s\n", version, kind, meta, rest)
		}
		add("v1", "Namespace", ns, "")
		for i := range 3 {
			add("v1", "ServiceAccount", fmt.Sprint("sa-", i), "")
		}
		for i := range 20 {
			var data strings.Builder
			for k := range 6 {
				fmt.Fprintf(&data, "  key-%d: %q\n", k, strings.Repeat(fmt.Sprintf("value %d of %d ", k, i), 6))
			}
			add("v1", "ConfigMap", fmt.Sprint("cm-", i), "data:\n"+data.String())
		}
		for i := range 8 {
			app := fmt.Sprint("web-", i)
			add("apps/v1", "Deployment", app, fmt.Sprintf("spec:\n  replicas: 1\n  selector: {matchLabels: {app: %[1]s}}\n  template:\n    metadata: {labels: {app: %[1]s}}\n    spec:\n      serviceAccountName: sa-0\n      containers:\n"+
				"      - {name: c, image: \"registry.example.test/web:1.%[2]d\", ports: [{name: http, containerPort: 8080}], env: [{name: A, value: a}, {name: B, value: b}, {name: C, value: c}, {name: D, value: d}],\n"+
				"         resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}, readinessProbe: {httpGet: {path: /healthz, port: http}}}", app, i))
			add("v1", "Service", app, "spec: {selector: {app: "+app+"}, ports: [{name: http, port: 80, targetPort: http}]}")
		}
		for i := range 2 {
			app := fmt.Sprint("web-", i)
			add("rbac.authorization.k8s.io/v1", "Role", fmt.Sprint("role-", i), "rules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get, list]}]")
			add("rbac.authorization.k8s.io/v1", "RoleBinding", fmt.Sprint("role-", i), fmt.Sprintf("roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role-%[1]d}\nsubjects: [{kind: ServiceAccount, name: sa-%[1]d, namespace: %[2]s}]", i, ns))
			add("networking.k8s.io/v1", "Ingress", fmt.Sprint("in-", i), fmt.Sprintf("spec: {rules: [{host: %s-%d.example.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %s, port: {name: http}}}}]}}]}", ns, i, app))
			add("networking.k8s.io/v1", "NetworkPolicy", fmt.Sprint("np-", i), "spec: {podSelector: {matchLabels: {app: "+app+"}}, policyTypes: [Ingress], ingress: [{ports: [{port: 8080}]}]}")
			add("policy/v1", "PodDisruptionBudget", fmt.Sprint("pdb-", i), "spec: {minAvailable: 1, selector: {matchLabels: {app: "+app+"}}}")
		}
		s.write("bench/"+ns+".yaml", b.String())
	}
}

// TestPushSpeed tells how long it takes from a commit to six clusters of a thousand objects each,
// and what it costs to watch them while nothing happens.
func TestPushSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost")
	}
	const servers, turns = 6, 5
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for i := range servers {
		apis[fmt.Sprint("c-", i)] = startAPI(t, p, etcd, filepath.Join(dir, fmt.Sprint("c-", i)))
	}
	s := newSite(t, p.waybill, apis)
	s.thousand("six")
	s.namespace("follow", "start", 1)
	s.commit()
	controller := s.started(s.source, "--to", s.bare)
	for name := range apis {
		s.becomes(name, "c0000", "start")
		s.settles(name)
	}
	for turn := range turns {
		value := fmt.Sprint("turn-", turn)
		s.namespace("follow", value, 1)
		start := time.Now()
		s.commit()
		for name := range apis {
			s.becomes(name, "c0000", value)
		}
		t.Logf("from a commit to six clusters: %.2f s", time.Since(start).Seconds())
	}
	const idle, most = 30 * time.Second, 0.01
	least := 1.0
	for range 4 { // what was applied last may still be looked at
		if least <= most {
			break
		}
		before := cpuOf(t, controller)
		time.Sleep(idle)
		least = min(least, float64(cpuOf(t, controller)-before)/float64(idle))
	}
	t.Logf("nothing happens: %.2f %% of a core, %s", least*100, usage(t, controller))
	if least > most {
		t.Errorf("nothing happens, and it takes %.2f %% of a core; %.0f %% is the limit", least*100, most*100)
	}
	end(t, controller)
}
