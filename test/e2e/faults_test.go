//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// healed is the time after which everything must be as it should be when a fault is over.
const healed = 30 * time.Second

// TestFaults runs controllers that apply to a cluster, while they, or what they talk to, fail. With
// -short it makes five faults: a controller is killed at two points, an API server at one, a quota
// is exceeded, and a webhook denies.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	f := &faults{waybill: p.waybill, api: startCluster(t, p, etcd, filepath.Join(dir, "eu"), 1), mortal: startAPI(t, p, etcd, filepath.Join(dir, "us"))}
	t.Run("the controller is killed at a request to Git", f.killedAtGit)
	t.Run("the controller is killed at a request to the API server", f.killedAtAPI)
	t.Run("a quota is exceeded", f.quota)
	t.Run("a webhook denies, or is slow", f.hooked)
	t.Run("the API server is killed", f.down)
}

type faults struct {
	waybill string
	api     *api
	mortal  *api // is killed
}

// point is where a controller may be killed: at a request that it sends on its way from the
// source to the cluster and back.
type point struct {
	name    string
	matches func(r *http.Request, body []byte) bool
}

// long says that the controller is killed at a point only without -short.
func (p point) long(after bool) bool {
	return testing.Short() && (p.name != "publish" || !after) && (p.name != "apply" || after)
}

// These requests go to Git's server.
var gitPoints = []point{
	{"look", func(r *http.Request, _ []byte) bool { return r.URL.Query().Get("service") == "git-upload-pack" }},
	{"fetch", func(r *http.Request, _ []byte) bool { return isPost(r, "git-upload-pack") }},
	{"plan", func(r *http.Request, _ []byte) bool { return r.URL.Query().Get("service") == "git-receive-pack" }},
	{"publish", func(r *http.Request, body []byte) bool {
		return isPost(r, "git-receive-pack") && bytes.Contains(body, []byte("refs/heads/waybill/cluster/"))
	}},
	{"status", func(r *http.Request, body []byte) bool {
		return isPost(r, "git-receive-pack") && bytes.Contains(body, []byte("refs/heads/waybill/status/"))
	}},
}

// And these to the API server.
var apiPoints = []point{
	{"recognise", func(r *http.Request, _ []byte) bool { return strings.HasSuffix(r.URL.Path, "/namespaces/kube-system") }},
	{"inventory", func(r *http.Request, _ []byte) bool {
		return isWrite(r.Method) && strings.Contains(r.URL.Path, "/namespaces/waybill-system/secrets")
	}},
	{"apply", func(r *http.Request, _ []byte) bool {
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/configmaps/")
	}},
	{"prune", func(r *http.Request, _ []byte) bool {
		return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/")
	}},
}

func isPost(r *http.Request, name string) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/"+name)
}

func (f *faults) killedAtGit(t *testing.T) {
	t.Parallel()
	s := newSite(t, f.waybill, map[string]*api{"eu-1": f.api})
	source, published, git := s.served()
	s.killed("killed-git", git, gitPoints, source, "--to", published, "--plain-http")
}

func (f *faults) killedAtAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t, f.waybill, map[string]*api{"eu-1": f.api})
	s.killed("killed-api", &s.counting("eu-1").trap, apiPoints, s.source, "--to", s.bare)
}

// killed kills the controller at each point, before the server has the request and after, and
// starts it again.
func (s *site) killed(namespace string, at *trap, points []point, args ...string) {
	t := s.t
	t.Helper()
	s.namespace(namespace, "0", 11)
	s.write("passing.yaml", configMap(namespace, "passing-0", ""))
	s.commit()
	controller := s.started(args...)
	s.converges("eu-1", time.Now().Add(time.Minute))
	round := 0
	kill := func(p point, after bool) {
		t.Helper()
		round++
		sprung := at.set(p.matches, after, func() { _ = controller.Process.Kill() })
		s.namespace(namespace, fmt.Sprint(round), 11)
		s.write("passing.yaml", configMap(namespace, fmt.Sprintf("passing-%d", round), "")) // the one before it goes
		s.commit()
		select {
		case <-sprung:
		case <-time.After(time.Minute):
			t.Fatalf("the controller never comes to %q", p.name)
		}
		_ = controller.Wait()
		s.whole("eu-1", namespace, round)
		controller = s.started(args...)
		took := s.converges("eu-1", time.Now().Add(healed))
		heal(t, took, "the controller is killed at %q, after the answer: %v", p.name, after)
	}
	for _, after := range []bool{false, true} {
		for _, p := range points {
			if !p.long(after) {
				kill(p, after)
			}
		}
	}
	eventually(t, "the status says that all is well", func() (bool, string) {
		status, out := s.run("status", "-C", s.source, "--to", s.bare)
		return status == 0, out
	})
	end(t, controller)
}

// whole holds that what a cluster has is on the way from one commit to the next: no object of
// the branch is gone, and each has the value of either.
func (s *site) whole(cluster, namespace string, round int) {
	s.t.Helper()
	for i := range 11 {
		o := s.get(cluster, at("ConfigMap", namespace, fmt.Sprintf("c%04d", i)))
		if v := text(o, "data", "value"); v != fmt.Sprint(round) && v != fmt.Sprint(round-1) {
			s.t.Errorf("c%04d has the value %q on the way from %d to %d", i, v, round-1, round)
		}
	}
}

// down kills the API server while it is applied to, and starts it again.
func (f *faults) down(t *testing.T) {
	t.Parallel()
	s := newSite(t, f.waybill, map[string]*api{"eu-1": f.mortal})
	proxy := s.counting("eu-1")
	s.namespace("down", "0", 40)
	s.commit()
	controller := s.started(s.source, "--to", s.bare)
	s.converges("eu-1", time.Now().Add(time.Minute))
	names := []string{"apply", "inventory", "prune"}
	if testing.Short() {
		names = names[:1]
	}
	for round, name := range names {
		p := apiPoints[map[string]int{"inventory": 1, "apply": 2, "prune": 3}[name]]
		sprung := proxy.trap.set(p.matches, false, f.mortal.process.Stop)
		s.namespace("down", fmt.Sprint(round+1), 40-round-1)
		s.commit()
		select {
		case <-sprung:
		case <-time.After(time.Minute):
			t.Fatalf("the controller never comes to %q", name)
		}
		if err := f.mortal.process.Restart(); err != nil {
			t.Fatal(err)
		}
		if err := f.mortal.cluster.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := s.converges("eu-1", time.Now().Add(healed))
		heal(t, took, "the API server is killed at %q", name)
	}
	end(t, controller)
}

// quota has a ResourceQuota refuse some objects, and not the others.
func (f *faults) quota(t *testing.T) {
	t.Parallel()
	s := newSite(t, f.waybill, map[string]*api{"eu-1": f.api})
	a := s.apis["eu-1"]
	s.namespace("quota", "one", 1)
	s.publish()
	s.apply(0)
	a.apply("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: quota}\nspec: {hard: {count/configmaps: \"4\"}}\n")
	eventually(t, "the quota is in force", func() (bool, string) {
		_, body := a.do(http.MethodGet, "/api/v1/namespaces/quota/resourcequotas/few", "", nil)
		return bytes.Contains(body, []byte(`"used":{"count/configmaps":"2"}`)), string(body) // one is that of the authority
	})
	s.namespace("quota", "one", 6)
	s.namespace("free", "one", 6)
	s.publish()
	out := s.apply(1)
	if !strings.Contains(out, "exceeded quota: few") {
		t.Errorf("it does not say which quota is exceeded:\n%s", out)
	}
	if o := s.get("eu-1", at("ConfigMap", "free", "c0005")); o == nil {
		t.Error("the quota of one Namespace stops another")
	}
	a.kubectl("-n", "quota", "delete", "resourcequota", "few")
	s.apply(0)
	s.check("eu-1")
}

// hooked has admission webhooks deny objects, and take their time.
func (f *faults) hooked(t *testing.T) {
	t.Parallel()
	s := newSite(t, f.waybill, map[string]*api{"eu-1": f.api})
	a := s.apis["eu-1"]
	hook := newWebhook(t)
	s.namespace("denied", "one", 2)
	s.namespace("slow", "one", 2)
	s.namespace("passed", "one", 2)
	s.publish()
	s.apply(0)
	for _, name := range []string{"denied", "slow"} {
		a.apply(hook.configuration(name))
		eventually(t, "the webhook is asked", func() (bool, string) {
			_, _ = a.do(http.MethodPost, "/api/v1/namespaces/"+name+"/configmaps?dryRun=All", "application/json", []byte(`{"metadata":{"name":"probe"}}`))
			return hook.was(name), ""
		})
	}
	for _, name := range []string{"denied", "slow", "passed"} {
		s.namespace(name, "two", 2)
	}
	s.publish()
	out := s.apply(1)
	if !strings.Contains(out, `admission webhook "denied.example.com" denied the request: not today`) || !strings.Contains(out, `failed calling webhook "slow.example.com"`) {
		t.Errorf("it does not say what the webhooks said:\n%s", out)
	}
	if o := s.get("eu-1", at("ConfigMap", "passed", "c0001")); text(o, "data", "value") != "two" {
		t.Error("the webhooks of some Namespaces stop another")
	}
	a.kubectl("delete", "validatingwebhookconfiguration", "denied", "slow")
	eventually(t, "no webhook is asked any more", func() (bool, string) {
		hook.forget()
		for _, name := range []string{"denied", "slow"} {
			_, _ = a.do(http.MethodPost, "/api/v1/namespaces/"+name+"/configmaps?dryRun=All", "application/json", []byte(`{"metadata":{"name":"probe"}}`))
		}
		return !hook.was("denied") && !hook.was("slow"), ""
	})
	s.apply(0)
	s.check("eu-1")
}

// webhook is an admission webhook that denies, or that takes longer than anybody waits.
type webhook struct {
	*httptest.Server

	mu    sync.Mutex
	asked map[string]bool
}

func newWebhook(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{asked: map[string]bool{}}
	done := make(chan struct{})
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		h.mu.Lock()
		h.asked[name] = true
		h.mu.Unlock()
		if name == "slow" {
			select {
			case <-r.Context().Done():
			case <-done:
			}
			return
		}
		var review struct{ Request struct{ UID string } }
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &review)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false,"status":{"message":"not today"}}}`, review.Request.UID)
	}))
	h.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	h.StartTLS()
	t.Cleanup(func() { close(done); h.Close() })
	return h
}

// configuration has the API server ask the webhook about the ConfigMaps of a Namespace.
func (h *webhook) configuration(name string) string {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: %[1]s.example.com
  clientConfig: {url: "%[2]s/%[1]s", caBundle: %[3]s}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  failurePolicy: Fail
  timeoutSeconds: 1
  sideEffects: None
  admissionReviewVersions: [v1]
`, name, h.URL, base64.StdEncoding.EncodeToString(authority))
}

func (h *webhook) was(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[name]
}

func (h *webhook) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = map[string]bool{}
}

// started starts a controller that applies. Its log is shown if the test fails.
func (s *site) started(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := s.command(append([]string{"controller", "--interval", "1s", "--listen", "", "--apply", "--kubeconfig-dir", s.kubeconfigs}, args...)...)
	log, err := os.Create(filepath.Join(s.t.TempDir(), "controller.log"))
	if err == nil {
		cmd.Stdout, cmd.Stderr = log, log
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		data, err := os.ReadFile(log.Name())
		if err == nil && (s.t.Failed() || bytes.Contains(data, []byte("goroutine "))) {
			s.t.Logf("it said:\n%s", data)
		}
	})
	return cmd
}

// end ends a controller, which must end well.
func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the controller did not end well: %v", err)
	}
}

// converges waits until the head of the source is published, and the cluster is as its branch
// says. It returns how long that took.
func (s *site) converges(cluster string, deadline time.Time) time.Duration {
	s.t.Helper()
	start := time.Now()
	head := strings.TrimSpace(s.git(s.source, "rev-parse", "HEAD"))
	for {
		wrong := []string{"the head of the source is not published"}
		if s.sourceOf(cluster) == head {
			if wrong = s.lacks(cluster); len(wrong) == 0 {
				return time.Since(start)
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not as it should be: %s", cluster, strings.Join(wrong, "\n"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// sourceOf is the source commit that a cluster's branch was published from; "" without a branch.
func (s *site) sourceOf(cluster string) string {
	out, err := exec.Command("git", "-C", s.bare, "log", "-1", "--format=%(trailers:key=Source-Commit,valueonly)", "waybill/cluster/"+cluster).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
