//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// replica is one of several controllers of a site.
type replica struct {
	*exec.Cmd
	t      *testing.T
	listen string
	log    string
}

// replica starts a controller that divides the work with others.
func (s *site) replica(flags ...string) *replica {
	s.t.Helper()
	r := &replica{t: s.t, listen: "127.0.0.1:" + port(s.t), log: filepath.Join(s.t.TempDir(), "controller.log")}
	args := []string{
		"controller", s.source, "--to", s.bare, "--interval", "1s", "--listen", r.listen, "--apply", "--leader-elect",
		"--leader-elect-lease-duration", "8s", "--leader-elect-renew-deadline", "5s", "--leader-elect-retry-period", "1s",
	}
	r.Cmd = s.command(append(args, flags...)...)
	log, err := os.Create(r.log)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Stdout, r.Stderr = log, log
	if err := r.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if r.ProcessState == nil {
			r.stop()
		}
		if data, err := os.ReadFile(r.log); err == nil && (s.t.Failed() || strings.Contains(string(data), "\ngoroutine ")) {
			s.t.Logf("it said:\n%s", data)
		}
	})
	return r
}

// stop tells it to stop, and it must end well.
func (r *replica) stop() {
	r.t.Helper()
	_ = r.Process.Signal(syscall.SIGTERM)
	if err := r.Wait(); err != nil {
		r.t.Errorf("the controller did not end well: %v", err)
	}
}

// kill ends it at once.
func (r *replica) kill() {
	_ = r.Process.Kill()
	_ = r.Wait()
}

// get asks it over HTTP; one that is not there says nothing.
func (r *replica) get(path string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.listen+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// leads reports whether it leads, and serves whether it applies to a cluster.
func (r *replica) leads() bool { return strings.Contains(r.get("/metrics"), "\nwaybill_leader 1\n") }

func (r *replica) serves(cluster string) bool {
	return strings.Contains(r.get("/metrics"), `waybill_cluster_behind{cluster="`+cluster+`"}`)
}

// one waits until of several exactly one does something, and returns it.
func one(t *testing.T, what string, all []*replica, does func(*replica) bool) (found *replica) {
	t.Helper()
	eventually(t, "one "+what, func() (bool, string) {
		n := 0
		for _, r := range all {
			if does(r) {
				n++
				found = r
			}
		}
		return n == 1, ""
	})
	return found
}

// TestTwoSourcesInOneNamespace has the controllers of two sources hold their Leases in one
// namespace by one name: each leads, and serves its own cluster.
func TestTwoSourcesInOneNamespace(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	v := newVault(t, us, "waybill")
	sites := map[string]*site{"eu-1": newSite(t, p.waybill, map[string]*api{"eu-1": eu}), "us-1": newSite(t, p.waybill, map[string]*api{"us-1": us})}
	replicas := map[string]*replica{}
	for cluster, s := range sites {
		s.namespace("follow", cluster, 3)
		s.commit()
		replicas[cluster] = s.replica(append(v.flags(), "--kubeconfig-dir", s.kubeconfigs)...)
	}
	for cluster, s := range sites {
		s.becomes(cluster, "c0000", cluster)
		eventually(t, "the controller of "+cluster+" leads", func() (bool, string) { return replicas[cluster].leads(), "" })
	}
	leases := v.kubectl("-n", "waybill", "get", "leases", "-o", `jsonpath={range .items[*]}{.metadata.annotations.waybill\.dev/work}{"\n"}{end}`)
	for cluster, s := range sites {
		if !strings.Contains(leases, "main of "+s.source+" to "+strings.TrimSuffix(s.bare, ".git")) {
			t.Errorf("no Lease says what the controller of %s works for:\n%s", cluster, leases)
		}
		replicas[cluster].stop()
	}
}

// TestCredentialsEnd replaces the token for a cluster while a controller uses it: it is told, and when
// the new one ends, and the token is told nowhere.
func TestCredentialsEnd(t *testing.T) {
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	eu := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu})
	v := newVault(t, eu, "waybill")
	eu.apply("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: fleet, namespace: waybill}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: fleet}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: fleet, namespace: waybill}]\n")
	var tokens []string
	credential := func(lasts string) {
		t.Helper()
		token := strings.TrimSpace(eu.kubectl("-n", "waybill", "create", "token", "fleet", "--duration", lasts))
		v.put("eu-1-kubeconfig", "value", strings.Replace(alone(t, eu), controlplane.Token, token, 1))
		tokens = append(tokens, token)
	}
	status := func() string {
		_, out := s.run("status", "-C", s.source, "--to", s.bare, "-o", "wide")
		return out
	}
	s.namespace("follow", "one", 3)
	s.commit()
	credential("48h")
	traced := newCollector(t)
	c := s.replica(append(v.flags(), "--events", "--resync", "1s", "--status", "--otlp-endpoint", traced.URL)...)
	s.becomes("eu-1", "c0000", "one")
	// only its column: a commit's id may hold what stands for days
	ends := func(what, want string) {
		t.Helper()
		eventually(t, "status says when "+what+" ends", func() (bool, string) {
			out := status()
			head, row, _ := strings.Cut(out, "\n")
			from, to := strings.Index(head, "CREDENTIAL"), strings.Index(head, "MESSAGE")
			return from >= 0 && len(row) > to && strings.TrimSpace(row[from:to]) == want, out
		})
	}
	ends("the first one", "47h")
	credential("240h")
	ends("the second one", "9d")
	credential("1h")
	ends("one of an hour, which is not told,", "-")
	said := func(what, want string, get func() string) {
		t.Helper()
		eventually(t, what, func() (bool, string) { out := get(); return strings.Contains(out, want), out })
	}
	said("metrics", `waybill_cluster_credential_rotations_total{cluster="eu-1"} 2`, func() string { return c.get("/metrics") })
	said("metrics", `waybill_cluster_ready{cluster="eu-1"} 1`, func() string { return c.get("/metrics") })
	said("metrics", `waybill_cluster_nodes{cluster="eu-1"} 0`, func() string { return c.get("/metrics") })
	events := func() string {
		return v.kubectl("-n", "waybill", "get", "events", "--field-selector", "involvedObject.kind=Cluster,involvedObject.name=eu-1")
	}
	said("Events", "CredentialRotated", events)
	log := func() string {
		data, err := os.ReadFile(c.log)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	said("the log", `"msg":"credential rotated"`, log)
	for _, span := range []string{"sync", "fetch", "plan", "publish", "apply", "round", "status", "eu-1"} {
		said("a trace", span, traced.String)
	}
	everywhere := traced.String() + log() + status() + events() + c.get("/metrics") + s.git(s.bare, "log", "-p", "--all")
	for _, token := range tokens {
		if strings.Contains(everywhere, token) || strings.Contains(everywhere, token[strings.LastIndex(token, "."):]) {
			t.Error("the credential itself is told")
		}
	}
	c.stop()
}

// collector takes traces, as they are sent.
type collector struct {
	*httptest.Server

	mu   sync.Mutex
	text strings.Builder
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, _ = io.Copy(&c.text, r.Body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// TestReplicas kills replicas of a controller; the others take over.
func TestReplicas(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	v := newVault(t, us, "waybill")
	flags := append(v.flags(), "--kubeconfig-dir", s.kubeconfigs)
	both := func(value string) {
		t.Helper()
		s.namespace("follow", value, 3)
		s.commit()
		for _, cluster := range []string{"eu-1", "us-1"} {
			s.becomes(cluster, "c0000", value)
			s.settles(cluster)
		}
	}
	all := []*replica{s.replica(flags...), s.replica(flags...)}
	divided := func() (leader *replica) {
		t.Helper()
		for _, cluster := range []string{"eu-1", "us-1"} {
			one(t, "serves "+cluster, all, func(r *replica) bool { return r.serves(cluster) })
		}
		leader = one(t, "leads", all, (*replica).leads)
		for _, r := range all {
			eventually(t, "each is ready", func() (bool, string) { return r.get("/readyz") != "", "" })
		}
		return leader
	}
	replace := func(dead *replica) {
		t.Helper()
		all = append(slices.DeleteFunc(all, func(r *replica) bool { return r == dead }), s.replica(flags...))
	}
	both("one")
	divided()

	// whoever serves a cluster is killed, and the other one serves it
	dead := one(t, "serves eu-1", all, func(r *replica) bool { return r.serves("eu-1") })
	dead.kill()
	both("two")
	replace(dead)
	divided()

	// the leader is killed, and the other one publishes
	dead = divided()
	dead.kill()
	both("three")
	replace(dead)

	// one stops, and the other one need not wait
	dead = divided()
	dead.stop()
	all = slices.DeleteFunc(all, func(r *replica) bool { return r == dead })
	both("four")
	left := one(t, "is left", all, (*replica).leads)

	// the management cluster is away: whoever cannot renew its Lease leaves its clusters
	if err := us.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it leaves eu-1", func() (bool, string) { return !left.leads(), "it leads" })
	s.namespace("follow", "five", 3)
	s.commit()
	if err := us.process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	both("six")
	left.stop()
	if list := v.kubectl("-n", "waybill", "get", "leases", "-l", "waybill.dev/replicas", "-o", "name"); strings.Contains(list, "waybill-") {
		data, _ := os.ReadFile(left.log)
		t.Logf("%s", data)
		// those of the killed are kept for a while
		if n := strings.Count(list, "waybill-"); n != 2 {
			t.Errorf("Leases are left:\n%s", list)
		}
	}
}
