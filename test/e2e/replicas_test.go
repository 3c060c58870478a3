//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
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

// TestReplicas kills replicas of a controller; the others take over.
func TestReplicas(t *testing.T) {
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
	if list := v.kubectl("-n", "waybill", "get", "leases", "-o", "name"); strings.Contains(list, "waybill-") {
		data, _ := os.ReadFile(left.log)
		t.Logf("%s", data)
		// those of the killed are kept for a while
		if n := strings.Count(list, "waybill-"); n != 2 {
			t.Errorf("Leases are left:\n%s", list)
		}
	}
}
