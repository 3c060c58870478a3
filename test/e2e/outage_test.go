//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hole stands between waybill and a server, as a part of the network does. Closed, it passes
// everything on; open, it takes whatever comes and passes nothing on, not even that a
// connection ends.
type hole struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	open  bool
	holds []net.Conn // those that came while it was open
	went  []net.Conn // all
	took  int        // connections while it was open
}

// swallow puts a hole in the way to a cluster.
func (s *site) swallow(cluster string) *hole {
	s.t.Helper()
	h := &hole{to: strings.TrimPrefix(s.apis[cluster].url, "https://")}
	var err error
	if h.listener, err = (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(h.end)
	go h.serve()
	path := filepath.Join(s.kubeconfigs, cluster+".kubeconfig")
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(data), h.to, h.listener.Addr().String(), 1)), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

func (h *hole) serve() {
	for {
		from, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.went = append(h.went, from)
		isOpen := h.open
		if isOpen {
			h.took++
			h.holds = append(h.holds, from)
		}
		h.mu.Unlock()
		if !isOpen {
			go h.pass(from)
		}
	}
}

func (h *hole) pass(from net.Conn) {
	to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", h.to)
	if err != nil {
		_ = from.Close()
		return
	}
	h.mu.Lock()
	h.went = append(h.went, to)
	h.mu.Unlock()
	go h.copy(from, to)
	h.copy(to, from)
}

// copy passes on what comes while the hole is closed.
func (h *hole) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if h.isOpen() {
			if err != nil {
				return // nobody learns of it
			}
			continue
		}
		if _, bad := to.Write(buffer[:n]); err != nil || bad != nil {
			_ = to.Close()
			return
		}
	}
}

func (h *hole) isOpen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// set opens or closes the hole. What came into it is lost.
func (h *hole) set(open bool) (took int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open, took, h.took = open, h.took, 0
	if !open {
		for _, c := range h.holds {
			_ = c.Close()
		}
		h.holds = nil
	}
	return took
}

func (h *hole) end() {
	_ = h.listener.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.went {
		_ = c.Close()
	}
}

// TestBlackHole has the network swallow all that goes to one of two clusters, long enough that
// whoever asks has become patient. It is shown, the other cluster is not delayed, and half a
// minute after its end all is as it should be.
func TestBlackHole(t *testing.T) {
	if testing.Short() {
		t.Skip("two minutes pass without a network")
	}
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	s.namespace("follow", "0", 20)
	s.commit()
	h := s.swallow("eu-1")
	s.controller()
	for cluster := range s.apis {
		s.converges(cluster, time.Now().Add(time.Minute))
	}
	eventually(t, "eu-1 is ready", func() (bool, string) { return strings.Contains(s.observed("eu-1"), "reason: ClusterReady"), "" })

	h.set(true)
	began := time.Now()
	s.namespace("follow", "1", 19)
	s.commit()
	took := s.converges("us-1", time.Now().Add(healed))
	t.Logf("beside a cluster that is swallowed another one has a commit after %.1f s", took.Seconds())
	within := func(most time.Duration, what string, holds func() (bool, string)) {
		t.Helper()
		eventually(t, what, holds)
		if took := time.Since(began); took > most {
			t.Errorf("%s after %.0f s; want at most %s", what, took.Seconds(), most)
		} else {
			t.Logf("%s after %.1f s", what, took.Seconds())
		}
	}
	within(90*time.Second, "it is observed not to be ready", func() (bool, string) {
		seen := s.observed("eu-1")
		return strings.Contains(seen, "reason: ClusterNotReachable"), seen
	})
	within(90*time.Second, "waybill status says so", func() (bool, string) {
		_, out := s.run("status", "-C", s.source, "--to", s.bare)
		return strings.Contains(out, "eu-1      Unreachable"), out
	})
	if _, out := s.run("get", "clusters", "-C", s.source, "--to", s.bare); !strings.Contains(out, "False") {
		t.Errorf("get clusters does not say that one is not ready:\n%s", out)
	}
	const long = 2 * time.Minute // so that whoever doubles its waits has come to the longest
	for round := 2; time.Since(began) < long; round++ {
		s.namespace("follow", fmt.Sprint(round), 19)
		s.commit()
		s.converges("us-1", time.Now().Add(healed))
		time.Sleep(5 * time.Second)
	}
	s.wholly("eu-1", "0")

	connections := h.set(false)
	healing := time.Now()
	s.converges("eu-1", healing.Add(healed))
	heal(t, time.Since(healing), "the network swallows all that goes to a cluster for %s, in which it was tried %d times", long, connections)
	if most := 40; connections > most { // two that ask, once in ten seconds or so
		t.Errorf("a cluster that does not answer was tried %d times in %s, want at most %d", connections, long, most)
	}
	eventually(t, "it is observed to be ready again", func() (bool, string) { return strings.Contains(s.observed("eu-1"), "reason: ClusterReady"), "" })
	eventually(t, "waybill status says that all is well", func() (bool, string) {
		status, out := s.run("status", "-C", s.source, "--to", s.bare)
		return status == 0, out
	})
}

// wholly holds that nothing of a cluster changed: every ConfigMap has a value.
func (s *site) wholly(cluster, value string) {
	s.t.Helper()
	for i := range 20 {
		if o := s.get(cluster, at("ConfigMap", "follow", fmt.Sprintf("c%04d", i))); text(o, "data", "value") != value {
			s.t.Errorf("c%04d of %s is %v, want %q", i, cluster, o["data"], value)
		}
	}
}

// outage is a server that is away at times.
type outage struct {
	mu    sync.Mutex
	how   int           // a status that it answers with, or one of these
	asked int           // since that was said
	over  chan struct{} // when it is no longer so
}

// The ways to be there, and to be away, that are no status.
const (
	there = 0
	hangs = 1 // it answers when it is no longer so
)

// is says how it is away, and returns how often it was asked since it was said last.
func (o *outage) is(how int) (asked int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over != nil {
		close(o.over)
	}
	asked, o.asked, o.how, o.over = o.asked, 0, how, make(chan struct{})
	return asked
}

// before has a handler be away.
func (o *outage) before(on http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked++
		how, over := o.how, o.over
		o.mu.Unlock()
		if how > hangs {
			_, _ = io.Copy(io.Discard, r.Body)
			http.Error(w, "not today", how)
			return
		}
		if how == hangs {
			select {
			case <-r.Context().Done():
				return
			case <-over:
			}
		}
		on.ServeHTTP(w, r)
	})
}

// TestForgeIsDown has the server of the repositories be away, in three ways. What is applied is
// held meanwhile, nothing is lost, nobody storms the server, and half a minute after its end all is
// as it should be. Ten minutes of it would be no other than these: the longest waits are
// come to in one.
func TestForgeIsDown(t *testing.T) {
	if testing.Short() {
		t.Skip("the server is away for minutes")
	}
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	eu := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu})
	forge := &outage{}
	source, published, _ := s.served(forge.before)
	s.namespace("follow", "0", 20)
	s.commit()
	controller := s.started(source, "--to", published, "--plain-http")
	s.converges("eu-1", time.Now().Add(time.Minute))
	t.Cleanup(func() { forge.is(there) })
	for round, way := range []struct {
		name string
		how  int
	}{
		{"503", http.StatusServiceUnavailable},
		{"it hangs", hangs},
		{"401", http.StatusUnauthorized}, // as when it cannot ask its directory
	} {
		forge.is(way.how)
		began := time.Now()
		// a person commits on the server's side, and somebody changes the cluster
		s.namespace("follow", fmt.Sprint(round+1), 20-round)
		s.commit()
		eu.with(t).kubectl("-n", "follow", "patch", "configmap", "c0003", "-p", `{"data":{"value":"edited"}}`)
		s.becomes("eu-1", "c0003", fmt.Sprint(round))
		eu.with(t).kubectl("-n", "follow", "delete", "configmap", "c0004")
		s.becomes("eu-1", "c0004", fmt.Sprint(round))
		time.Sleep(time.Until(began.Add(45 * time.Second)))
		lasted := time.Since(began)
		asked := forge.is(there)
		healing := time.Now()
		took := s.converges("eu-1", healing.Add(healed))
		heal(t, took, "the server of the repositories: %s for %.0f s, in which it was asked %d times", way.name, lasted.Seconds(), asked)
		if most := int(lasted.Seconds() / 2); asked > most {
			t.Errorf("%s: the server was asked %d times in %.0f s, want at most %d", way.name, asked, lasted.Seconds(), most)
		}
		eventually(t, "waybill status says that all is well", func() (bool, string) {
			status, out := s.run("status", "-C", s.source, "--to", s.bare)
			return status == 0, out
		})
		if took := time.Since(healing); took > healed {
			t.Errorf("%s: the status is told %.0f s after its end", way.name, took.Seconds())
		}
	}
	end(t, controller)
}
