//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/management"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// hears starts a controller that hears agents, and returns its log.
func (e *edge) hears(flags ...string) func() string {
	e.t.Helper()
	cmd := e.command(append([]string{"controller", e.source, "--to", e.bare, "--interval", "1s", "--listen", "", "--status-repository", e.url + "/status.git"}, flags...)...)
	file := filepath.Join(e.t.TempDir(), "controller.log")
	log, err := os.Create(file)
	if err == nil {
		cmd.Stdout, cmd.Stderr = log, log
		err = cmd.Start()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	said := func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			e.t.Error(err)
		}
		return string(data)
	}
	e.t.Cleanup(func() {
		end(e.t, cmd)
		if e.t.Failed() || strings.Contains(said(), "\ngoroutine ") {
			e.t.Logf("the controller said:\n%s", said())
		}
	})
	return said
}

// stands waits until the state branch says something of the cluster, and returns how long it took.
func (e *edge) stands(what string, texts ...string) time.Duration {
	e.t.Helper()
	begun := time.Now()
	eventually(e.t, what, func() (bool, string) {
		now := e.observed("eu-1")
		for _, text := range texts {
			if !strings.Contains(now, text) {
				return false, now
			}
		}
		return true, ""
	})
	return time.Since(begun)
}

// forge has a ref of the status repository lead to a commit that the agent did not make.
func (e *edge) forge(ref, key string, message string) {
	e.t.Helper()
	dir := e.t.TempDir()
	e.git("", "init", "-q", "-b", "main", dir)
	args := []string{"commit", "-q", "--allow-empty", "-m", message}
	if key != "" {
		args = append([]string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + key}, append(args, "-S")...)
	}
	e.git(dir, args...)
	e.git(dir, "push", "-q", "-f", e.statuses, "HEAD:"+ref)
}

// TestHeartbeat has a controller hear an agent, miss it, and hear it again.
func TestHeartbeat(t *testing.T) {
	besideOthers(t)
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	e := newEdge(t, p, startAPI(t, p, etcd, filepath.Join(dir, "eu")))
	e.namespace("follow", "one", 3)
	e.commit()
	said := e.hears()
	a := e.agent("--instance", "edge")
	e.becomes("eu-1", "c0000", "one")
	e.stands("the first heartbeat is recorded, and what the agent observes", "type: waybill.dev/Heartbeat", "reason: HeartbeatsCome", "reason: ClusterReady", "kind: Deployment")
	_, out := e.run("status", "-C", e.source, "--to", e.bare, "--status-repository", e.url+"/status.git")
	if !strings.Contains(out, "Healthy") {
		t.Errorf("the status is\n%s", out)
	}
	refs := func() string { return e.git(e.statuses, "for-each-ref") }
	if !strings.Contains(refs(), "refs/waybill/heartbeat/eu-1") {
		t.Errorf("the refs are\n%s", refs())
	}
	commits := e.commits()

	// what others write is ignored, and said
	other := filepath.Join(dir, "other")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	last := strings.TrimSpace(e.git(e.statuses, "rev-parse", "refs/waybill/heartbeat/eu-1"))
	was := last
	eventually(t, "it beats", func() (bool, string) {
		last = strings.TrimSpace(e.git(e.statuses, "rev-parse", "refs/waybill/heartbeat/eu-1"))
		return last != was, last
	})
	seen := time.Now()
	a.kill()
	time.Sleep(7 * time.Second) // a look, 5 s, in which the controller hears that one
	old := e.git(e.statuses, "log", "-1", "--format=%B", last)
	e.forge("refs/waybill/heartbeat/eu-1", "", old)
	eventually(t, "an unsigned heartbeat is ignored", func() (bool, string) { s := said(); return strings.Contains(s, "it is not signed"), s })
	e.forge("refs/waybill/heartbeat/eu-1", other, strings.Replace(old, "Sequence: ", "Sequence: 9", 1))
	eventually(t, "one by another key is ignored", func() (bool, string) { s := said(); return strings.Contains(s, "it is signed by another key"), s })
	e.git(e.statuses, "update-ref", "refs/waybill/heartbeat/eu-1", last)
	eventually(t, "one that is repeated is ignored", func() (bool, string) { s := said(); return strings.Contains(s, "it was heard before"), s })
	status := strings.TrimSpace(e.git(e.statuses, "rev-parse", "waybill/status/eu-1"))
	e.forge("refs/heads/waybill/status/eu-1", other, "all is well")
	if code, out := e.run("status", "-C", e.source, "--to", e.bare, "--status-repository", e.url+"/status.git"); code != 1 || !strings.Contains(out, "is ignored: it is signed by another key") {
		t.Errorf("a forged status: %d\n%s", code, out)
	}
	e.git(e.statuses, "update-ref", "refs/heads/waybill/status/eu-1", status)

	e.stands("the heartbeats are missed", "reason: ClusterStatusUnknown", "reason: HeartbeatMissed")
	latest := 55 * time.Second
	if testing.Short() {
		latest += healed // other tests take the processors
	}
	if took := time.Since(seen); took < 38*time.Second || took > latest {
		t.Errorf("that was seen %s after the last one; want the lease of 40 s and a look", took)
	} else {
		t.Logf("missed heartbeats are recorded %s after the last one", took.Round(time.Second))
	}
	if code, out := e.run("status", "-C", e.source, "--to", e.bare, "--status-repository", e.url+"/status.git"); code != 1 || !strings.Contains(out, "no heartbeat of its agent came since") {
		t.Errorf("the status of a cluster that is not heard: %d\n%s", code, out)
	}
	if n := e.commits() - commits; n != 1 {
		t.Errorf("that made %d commits", n)
	}

	// it returns, with a clock that is an hour late
	stop := e.inProcess(t, -time.Hour)
	took := e.stands("it returns", "reason: ClusterReady", "reason: HeartbeatsCome")
	t.Logf("its return is recorded after %s", took.Round(time.Second))
	if strings.Contains(e.observed("eu-1"), time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:")) && time.Now().Minute() > 5 {
		t.Errorf("the clock of the member counts:\n%s", e.observed("eu-1"))
	}

	// while the server is away nobody is missed
	commits = e.commits()
	e.down.Store(true)
	eventually(t, "the controller does not hear", func() (bool, string) { s := said(); return strings.Contains(s, "agents not heard"), s })
	time.Sleep(60 * time.Second)
	e.down.Store(false)
	last = e.git(e.statuses, "rev-parse", "refs/waybill/heartbeat/eu-1")
	eventually(t, "it beats again", func() (bool, string) {
		return e.git(e.statuses, "rev-parse", "refs/waybill/heartbeat/eu-1") != last, ""
	})
	if n := e.commits() - commits; n != 0 {
		t.Errorf("an outage of the server made %d commits:\n%s", n, e.observed("eu-1"))
	}
	stop()
}

// inProcess runs an agent whose clock is off.
func (e *edge) inProcess(t *testing.T, off time.Duration) (stop func()) {
	t.Helper()
	text, err := os.ReadFile(e.key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signing.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	open := func(at string, sign git.Signer) *git.Repo {
		r, err := git.Open(t.Context(), git.Options{Location: at, CacheDir: t.TempDir(), Sign: sign})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	member, err := management.Open(e.apis["eu-1"].kubeconfig, "default", "test")
	if err != nil {
		t.Fatal(err)
	}
	status := open(e.url+"/status.git", key.SignCommit)
	now := func() time.Time { return time.Now().Add(off) }
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	a := &agent.Agent{
		Clusters: []string{"eu-1"}, Interval: time.Second, Resync: time.Minute, Log: log, Random: rand.Float64, Status: status,
		Heart: &agent.ByGit{Repo: status, Origin: git.Origin(e.url), Key: key.Public(), Host: refs.Host{What: "heartbeats", Now: now, Log: log}},
		Applier: applier.Applier{
			Published: &published.Reader{Branches: published.At(open(e.url+"/fleet.git", nil))}, Now: now,
			Access: clusters.Access{Kubeconfig: e.apis["eu-1"].kubeconfig, Alone: true, Agent: "test"},
		},
		Election: replicas.Election{
			Leases: member.Leases(), Namespace: "default", Name: "waybill-agent-eu-1", Replica: "edge",
			Times: replicas.Times{Lease: 30 * time.Second, Renew: 20 * time.Second, Retry: 10 * time.Second}, Log: log, Tell: func(bool) {},
		},
		Applied: func(applier.Result) {}, Looked: func(error) {},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestHeartbeatByHTTP has an agent beat at a controller, which starts anew in between.
func TestHeartbeatByHTTP(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	e.namespace("follow", "one", 3)
	e.commit()
	listen := "127.0.0.1:" + port(t)
	target, err := url.Parse("http://" + listen)
	if err != nil {
		t.Fatal(err)
	}
	bodies := make(chan []byte, 1000)
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ErrorLog = log.New(io.Discard, "", 0)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			bodies <- body
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)

	first := e.controls("--listen", listen, "--status-repository", e.url+"/status.git")
	a := e.agent("--controller", between.URL)
	e.becomes("eu-1", "c0000", "one")
	e.stands("heartbeats come", "reason: HeartbeatsCome", "reason: ClusterReady")
	if refs := e.git(e.statuses, "for-each-ref"); strings.Contains(refs, "heartbeat") {
		t.Errorf("they go by Git, too:\n%s", refs)
	}
	post := func(body []byte) (int, string) {
		res, err := http.Post("http://"+listen+"/heartbeats/eu-1", "", bytes.NewReader(body))
		if err != nil {
			return 0, err.Error() // it does not listen yet
		}
		defer res.Body.Close()
		said, err := io.ReadAll(res.Body)
		if err != nil {
			return 0, err.Error()
		}
		return res.StatusCode, string(said)
	}
	var kept []byte
	for len(bodies) > 0 {
		kept = <-bodies
	}
	for what, c := range map[string]struct {
		body   []byte
		status int
		says   string
	}{
		"one that is repeated":  {kept, http.StatusConflict, "it was heard before"},
		"one that was changed":  {bytes.Replace(kept, []byte("Sequence: "), []byte("Sequence: 9"), 1), http.StatusConflict, "is not one of what it says"},
		"one that is no such":   {[]byte("I am there"), http.StatusConflict, "it is no heartbeat"},
		"one that is too large": {make([]byte, 1<<20), http.StatusRequestEntityTooLarge, "not as large"},
	} {
		if status, said := post(c.body); status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d %s", what, status, said)
		}
	}

	// a controller that starts anew names another session, and hears the agent
	end(t, first)
	commits := e.commits()
	e.controls("--listen", listen, "--status-repository", e.url+"/status.git")
	eventually(t, "the agent is heard again", func() (bool, string) {
		said := a.said()
		return strings.Contains(said, "heartbeats are heard again") || !strings.Contains(said, "no heartbeat"), said
	})
	eventually(t, "what was kept of the session before is worth nothing", func() (bool, string) {
		status, said := post(kept)
		return status == http.StatusConflict && strings.Contains(said, "it does not name this session"), said
	})
	a.kill()
	e.stands("it is missed", "reason: ClusterStatusUnknown")
	if n := e.commits() - commits; n != 1 {
		t.Errorf("that made %d commits", n)
	}
}

// controls starts a controller, which the test may end.
func (e *edge) controls(flags ...string) *exec.Cmd {
	e.t.Helper()
	cmd := e.command(append([]string{"controller", e.source, "--to", e.bare, "--interval", "1s"}, flags...)...)
	out, err := os.Create(filepath.Join(e.t.TempDir(), "controller.log"))
	if err == nil {
		cmd.Stdout, cmd.Stderr = out, out
		err = cmd.Start()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			end(e.t, cmd)
		}
		if data, err := os.ReadFile(out.Name()); err == nil && e.t.Failed() {
			e.t.Logf("the controller said:\n%s", data)
		}
	})
	return cmd
}
