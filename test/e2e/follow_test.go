//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFollow runs a controller that applies to two clusters.
func TestFollow(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	s.namespace("follow", "one", 20)
	s.commit()
	requests := s.counting("eu-1")
	s.controller()
	s.becomes("eu-1", "c0000", "one")
	s.becomes("us-1", "c0000", "one")

	// a commit reaches both
	s.namespace("follow", "two", 20)
	s.commit()
	s.becomes("eu-1", "c0019", "two")
	s.becomes("us-1", "c0019", "two")
	s.settles("eu-1")
	s.settles("us-1")

	// what somebody changes is put right, with no commit
	eu.with(t).kubectl("-n", "follow", "patch", "configmap", "c0003", "-p", `{"data":{"value":"edited"}}`)
	s.becomes("eu-1", "c0003", "two")
	eu.with(t).kubectl("-n", "follow", "delete", "configmap", "c0004")
	s.becomes("eu-1", "c0004", "two")
	s.settles("eu-1")

	// a quiet cluster is watched, and not asked
	if n := requests.matching("GET", "watch=true"); n < 2 {
		t.Errorf("there are %d watches: %v", n, requests.list())
	}
	quiet := false
	for range 20 {
		requests.reset()
		time.Sleep(3 * time.Second)
		if quiet = requests.total() == 0; quiet {
			break
		}
	}
	if !quiet {
		t.Errorf("nothing changes, and it asks: %v", requests.list())
	}

	// a cluster that hangs delays nobody, and catches up
	if err := eu.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.namespace("follow", "three", 19)
	s.commit()
	s.becomes("us-1", "c0000", "three")
	s.settles("us-1")
	if err := eu.process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.becomes("eu-1", "c0000", "three")
	s.settles("eu-1")

	// a cluster that is not registered any more keeps what it has
	s.remove("clusters/us-1.yaml")
	s.namespace("follow", "four", 19)
	s.commit()
	s.becomes("eu-1", "c0000", "four")
	if o := s.get("us-1", at("ConfigMap", "follow", "c0000")); text(o, "data", "value") != "three" {
		t.Errorf("it was changed: %v", o["data"])
	}
}

// commit commits the source.
func (s *site) commit() {
	s.t.Helper()
	s.git(s.source, "add", "-A")
	s.git(s.source, "commit", "-q", "--allow-empty", "-m", "next")
}

// controller starts a controller, which must end well when it is told to.
func (s *site) controller() {
	s.t.Helper()
	cmd := s.command("controller", s.source, "--to", s.bare, "--interval", "1s", "--listen", "", "--apply", "--kubeconfig-dir", s.kubeconfigs)
	log, err := os.Create(filepath.Join(s.t.TempDir(), "controller.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("the controller did not end well: %v", err)
		}
		data, err := os.ReadFile(log.Name())
		if err == nil && (s.t.Failed() || strings.Contains(string(data), "goroutine ")) {
			s.t.Logf("it said:\n%s", data)
		}
	})
}

// becomes waits until a ConfigMap has a value.
func (s *site) becomes(cluster, name, value string) {
	s.t.Helper()
	eventually(s.t, name+" in "+cluster+" is "+value, func() (bool, string) {
		_, body := s.apis[cluster].do("GET", at("ConfigMap", "follow", name), "", nil)
		return strings.Contains(string(body), `"value":"`+value+`"`), string(body)
	})
}

// settles waits until a cluster has what its branch has, and nothing else of this source.
func (s *site) settles(cluster string) {
	s.t.Helper()
	eventually(s.t, cluster+" is as its branch", func() (bool, string) {
		wrong := s.lacks(cluster)
		return len(wrong) == 0, strings.Join(wrong, "\n")
	})
}
