//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/deploy"
	"github.com/waybill-dev/waybill/render/helm"
	helmbuild "github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/peers"
)

// edge is a site with a cluster that an agent serves, and the repositories as the agent reaches
// them: over HTTP, that of the branches only to read.
type edge struct {
	*site
	statuses, key string // path of the status repository, and the agent's key
	url           string
	down          atomic.Bool // the server hangs up
	trap          trap        // in the way of what it does otherwise
}

// newEdge registers the cluster eu-1 as one that is pulled to.
func newEdge(t *testing.T, p programs, a *api) *edge {
	t.Helper()
	e := &edge{site: newSite(t, p.waybill, map[string]*api{"eu-1": a})}
	dir := filepath.Dir(e.bare)
	e.statuses, e.key = filepath.Join(dir, "status.git"), filepath.Join(dir, "identity")
	e.git("", "init", "-q", "--bare", e.statuses)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "eu-1", "-f", e.key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.register()
	e.serve()
	return e
}

// register writes the Cluster file with the agent's key.
func (e *edge) register() {
	e.t.Helper()
	public, err := os.ReadFile(e.key + ".pub")
	if err != nil {
		e.t.Fatal(err)
	}
	e.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: eu-1\n  annotations:\n    waybill.dev/agent-key: "+
		strings.TrimSpace(string(public))+"\nspec: {syncMode: Pull}\n")
}

// serve serves the repositories.
func (e *edge) serve() {
	e.t.Helper()
	backend, err := peers.GitServer(e.t.Context(), filepath.Dir(e.bare))
	if err != nil {
		e.t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case e.down.Load():
			panic(http.ErrAbortHandler)
		case strings.HasPrefix(r.URL.Path, "/fleet.git") && (r.URL.Query().Get("service") == "git-receive-pack" || strings.HasSuffix(r.URL.Path, "git-receive-pack")):
			http.Error(w, "this token may only read", http.StatusForbidden)
		default:
			e.trap.pass(backend, w, r)
		}
	}))
	e.t.Cleanup(server.Close)
	e.url = server.URL
}

// runningAgent is an agent that was started.
type runningAgent struct {
	*exec.Cmd
	t   *testing.T
	log string
}

// agent starts an agent for the cluster.
func (e *edge) agent(flags ...string) *runningAgent {
	e.t.Helper()
	return e.agentOf("eu-1", e.url, e.key, flags...)
}

// agentOf starts an agent for a cluster, with a key, and the repositories at a URL.
func (s *site) agentOf(cluster, url, key string, flags ...string) *runningAgent {
	s.t.Helper()
	a := &runningAgent{t: s.t, log: filepath.Join(s.t.TempDir(), "agent.log")}
	a.Cmd = s.command(append([]string{
		"agent", "--cluster", cluster, "--repository", url + "/fleet.git", "--status-repository", url + "/status.git", "--key", key,
		"--kubeconfig", s.apis[cluster].kubeconfig, "--namespace", "default", "--interval", "1s", "--listen", "",
	}, flags...)...)
	a.Env = append(a.Env, "XDG_CACHE_HOME="+s.t.TempDir())
	log, err := os.Create(a.log)
	if err == nil {
		a.Stdout, a.Stderr = log, log
		err = a.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if a.ProcessState == nil {
			a.kill()
		}
		if said := a.said(); s.t.Failed() || strings.Contains(said, "\ngoroutine ") {
			s.t.Logf("the agent of %s said:\n%s", cluster, said)
		}
	})
	return a
}

func (a *runningAgent) said() string {
	data, err := os.ReadFile(a.log)
	if err != nil {
		a.t.Error(err)
	}
	return string(data)
}

func (a *runningAgent) kill() {
	_ = a.Process.Kill()
	_ = a.Wait()
}

// stop tells it to stop, and it must end well.
func (a *runningAgent) stop() {
	a.t.Helper()
	_ = a.Process.Signal(syscall.SIGTERM)
	if err := a.Wait(); err != nil {
		a.t.Errorf("the agent did not end well: %v", err)
	}
}

// tells waits until a file of a branch of the status repository contains a text.
func (e *edge) tells(what, branch, file, text string) {
	e.t.Helper()
	eventually(e.t, what+": "+text, func() (bool, string) {
		out, err := exec.Command("git", "-C", e.statuses, "show", branch+":"+file).CombinedOutput()
		return err == nil && strings.Contains(string(out), text), string(out)
	})
}

// TestAgent has an agent apply a branch inside a cluster, and tell what became of it.
func TestAgent(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	e := newEdge(t, p, startAPI(t, p, etcd, filepath.Join(dir, "eu")))
	e.namespace("follow", "one", 20)
	e.publish()
	first := e.agent("--instance", "first")
	e.becomes("eu-1", "c0000", "one")
	e.settles("eu-1")
	e.tells("the branch is applied", "waybill/status/eu-1", "status.yaml", "reason: Applied")
	e.tells("the cluster is ready", "waybill/observed/eu-1", "observed/eu-1.yaml", "ClusterReady")
	e.tells("it serves Deployments", "waybill/observed/eu-1", "observed/eu-1.yaml", "kind: Deployment")

	// what it says is signed, in the form that Git checks
	allowed := filepath.Join(dir, "allowed")
	public, err := os.ReadFile(e.key + ".pub")
	if err == nil {
		err = os.WriteFile(allowed, append([]byte("eu-1 "), public...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"waybill/status/eu-1", "waybill/observed/eu-1"} {
		e.git(e.statuses, "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", branch)
	}

	// nothing is written where the branches are
	if refs := e.git(e.bare, "for-each-ref"); strings.Contains(refs, "waybill/status") || strings.Contains(refs, "waybill/observed") {
		t.Errorf("the repository of the branches has\n%s", refs)
	}

	t.Run("two", func(t *testing.T) {
		second := e.agent("--instance", "second")
		eventually(t, "the second stands by", func() (bool, string) {
			said := second.said()
			return strings.Contains(said, "standing by") && strings.Contains(said, `"serves":"first"`), said
		})
		e.namespace("follow", "two", 20)
		e.publish()
		e.becomes("eu-1", "c0019", "two")
		if said := second.said(); strings.Contains(said, `"msg":"applied"`) {
			t.Errorf("both apply:\n%s", said)
		}
		first.stop() // it gives the Lease back
		eventually(t, "the second serves", func() (bool, string) { said := second.said(); return strings.Contains(said, `"msg":"leading"`), said })
		e.namespace("follow", "three", 20)
		e.publish()
		e.becomes("eu-1", "c0000", "three")
		second.kill()
	})

	t.Run("offline", func(t *testing.T) {
		a := e.agent("--instance", "second") // as the one that was killed: a container that starts anew in its Pod
		eventually(t, "it serves at once", func() (bool, string) { said := a.said(); return strings.Contains(said, `"msg":"leading"`), said })
		e.namespace("follow", "four", 20)
		e.publish()
		e.becomes("eu-1", "c0000", "four")
		e.down.Store(true)
		eventually(t, "the agent sees nothing", func() (bool, string) { said := a.said(); return strings.Contains(said, "cannot look"), said })
		for _, value := range []string{"five", "six", "seven"} {
			e.namespace("follow", value, 20)
			e.publish()
		}
		// what somebody changes is put right nevertheless, from what was fetched
		e.apis["eu-1"].kubectl("-n", "follow", "patch", "configmap", "c0003", "-p", `{"data":{"value":"edited"}}`)
		e.becomes("eu-1", "c0003", "four")
		e.down.Store(false)
		e.becomes("eu-1", "c0000", "seven")
		e.settles("eu-1")
		e.tells("the newest is applied", "waybill/status/eu-1", "status.yaml", strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/cluster/eu-1")))
		if said := a.said(); strings.Contains(said, `"level":"ERROR"`) {
			t.Errorf("it said:\n%s", said)
		}
		// it never goes back
		newest := strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/cluster/eu-1"))
		e.git(e.bare, "branch", "-f", "waybill/cluster/eu-1", "waybill/cluster/eu-1~2")
		eventually(t, "an older head is refused", func() (bool, string) { said := a.said(); return strings.Contains(said, "does not come after"), said })
		if o := e.get("eu-1", at("ConfigMap", "follow", "c0000")); text(o, "data", "value") != "seven" {
			t.Errorf("it went back: %v", o["data"])
		}
		e.git(e.bare, "branch", "-f", "waybill/cluster/eu-1", newest)
		a.stop()
	})
	t.Run("wake", func(t *testing.T) {
		a := e.agent("--interval", "1h", "--instance", "second")
		e.namespace("follow", "eight", 20)
		e.publish()
		eventually(t, "it looked once", func() (bool, string) { said := a.said(); return strings.Contains(said, `"msg":"leading"`), said })
		begun := time.Now()
		eventually(t, "a signal wakes it", func() (bool, string) {
			_ = a.Process.Signal(syscall.SIGHUP)
			_, body := e.apis["eu-1"].do("GET", at("ConfigMap", "follow", "c0000"), "", nil)
			return strings.Contains(string(body), `"eight"`), fmt.Sprint(time.Since(begun))
		})
		a.stop()
	})
}

// TestAgentAsksForSignatures has an agent take commits only if who may sign signed them.
func TestAgentAsksForSignatures(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	keys := map[string]string{}
	for _, who := range []string{"ci", "eve"} {
		keys[who] = filepath.Join(dir, who)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys[who]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	public, err := os.ReadFile(keys["ci"] + ".pub")
	allowed := filepath.Join(dir, "allowed")
	if err == nil {
		err = os.WriteFile(allowed, append([]byte("ci@example.com "), public...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.namespace("follow", "one", 3)
	e.publish("--signing-key", keys["ci"])
	e.git(e.bare, "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "waybill/cluster/eu-1", "waybill/state")
	a := e.agent("--allowed-signers", allowed)
	e.becomes("eu-1", "c0000", "one")
	for _, flags := range [][]string{nil, {"--signing-key", keys["eve"]}} {
		e.namespace("follow", "forged", 3+len(flags))
		e.publish(flags...)
		want := "it is not signed"
		if len(flags) > 0 {
			want = "it is signed by another key"
		}
		eventually(t, "it is refused: "+want, func() (bool, string) { said := a.said(); return strings.Contains(said, want), said })
		if o := e.get("eu-1", at("ConfigMap", "follow", "c0000")); text(o, "data", "value") != "one" {
			t.Errorf("it was applied: %v", o["data"])
		}
	}
	e.namespace("follow", "two", 3)
	e.publish("--signing-key", keys["ci"])
	e.becomes("eu-1", "c0000", "two")
	a.stop()
	e.remembers(allowed, keys["ci"])
}

// remembers has somebody set the state and the branch back while the agent is away, to what was signed: before a
// suspension, whose agent restarts, and on to where the agent was told that this one is replaced.
func (e *edge) remembers(allowed, key string) {
	e.t.Helper()
	back := map[string]string{}
	for _, branch := range []string{"waybill/state", "waybill/cluster/eu-1"} {
		back[branch] = strings.TrimSpace(e.git(e.bare, "rev-parse", branch))
	}
	registered, err := os.ReadFile(filepath.Join(e.source, "clusters/eu-1.yaml"))
	if err != nil {
		e.t.Fatal(err)
	}
	e.write("clusters/eu-1.yaml", strings.Replace(string(registered), "  annotations:\n", "  annotations:\n    waybill.dev/suspended: 'true'\n", 1))
	e.publish("--signing-key", key)
	a := e.agent("--allowed-signers", allowed)
	eventually(e.t, "it is suspended", func() (bool, string) { said := a.said(); return strings.Contains(said, "apply suspended"), said })
	state := strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/state"))
	eventually(e.t, "it remembers by which state", func() (bool, string) {
		all := e.apis["eu-1"].kubectl("-n", "waybill-system", "get", "secrets", "-o", "go-template={{range .items}}{{with .data.head}}{{. | base64decode}}{{end}}{{end}}")
		return strings.Contains(all, state), all
	})
	a.kill()
	for branch, commit := range back {
		e.git(e.bare, "branch", "-f", branch, commit)
	}
	a = e.agent("--allowed-signers", allowed, "--instance", "anew")
	eventually(e.t, "an older state is refused", func() (bool, string) {
		said := a.said()
		return strings.Contains(said, "does not come after "+state), said
	})
	e.tells("and it is told by which state", "waybill/status/eu-1", "status.yaml", state)
	e.apis["eu-1"].kubectl("-n", "follow", "delete", "configmap", "c0001")
	e.write("clusters/eu-1.yaml", string(registered))
	e.publish("--signing-key", key)
	time.Sleep(5 * time.Second)
	if status, _ := e.apis["eu-1"].do("GET", at("ConfigMap", "follow", "c0001"), "", nil); status != http.StatusNotFound {
		e.t.Errorf("it is applied by a state that does not come after the one that counted: %d", status)
	}
	e.publish("--signing-key", key, "--restored", "--status-repository", e.statuses)
	e.becomes("eu-1", "c0001", "two")
	a.stop()
}

// agentRights are the roles of the agent's chart, with the values of an example.
func agentRights(t *testing.T, example string) (rights []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chartFolder, "examples/agent", example))
	values := map[string]any{}
	if err == nil {
		err = sigsyaml.Unmarshal(data, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	values["cluster"] = "eu-1"
	out, err := helmbuild.Template(deploy.Agent(), helm.Release{Name: "waybill-agent", Namespace: "waybill", Values: helm.NewValues(values)})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Manifests {
		var o map[string]any
		if err := sigsyaml.Unmarshal(m.Data, &o); err != nil {
			t.Fatal(err)
		}
		if kind := text(o, "kind"); strings.Contains(kind, "Role") || kind == "Namespace" {
			if meta := within(t, o, "metadata").(map[string]any); meta["namespace"] == nil && !strings.HasPrefix(kind, "Cluster") && kind != "Namespace" {
				meta["namespace"] = "waybill"
			}
			rights = append(rights, o)
		}
	}
	return rights
}

// account gives the account of an agent, which is there, the rights of an example, and returns a kubeconfig with its token.
func (a *api) account(t *testing.T, example string) string {
	t.Helper()
	for _, o := range agentRights(t, example) {
		a.apply(yamlOf(t, o))
	}
	token := strings.TrimSpace(a.kubectl("-n", "waybill", "create", "token", "waybill-agent", "--duration", "2h"))
	kubeconfig, err := os.ReadFile(a.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	as := filepath.Join(t.TempDir(), "account")
	if err := os.WriteFile(as, []byte(strings.Replace(string(kubeconfig), controlplane.Token, token, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return as
}

// TestAgentJoins registers a cluster with one command, whose output an API server admits in a
// namespace with restricted pod security, and runs an agent as the account of its chart: with
// rights for what its branch holds, and no others.
func TestAgentJoins(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	eu := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	e := newEdge(t, p, eu)
	e.remove("clusters/eu-1.yaml")
	at := strings.Replace(e.url, "http://", "https://", 1) // the chart takes no other
	command := e.command("cluster", "join", "eu-1", "-C", e.source, "--kubeconfig-dir", e.kubeconfigs, "--sync-mode", "Pull", "--agent",
		"--repository", at+"/fleet.git", "--status-repository", at+"/status.git", "--agent-image", "registry.example.com/waybill:1")
	var stderr strings.Builder
	command.Stderr = &stderr
	manifests, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	eu.apply(string(manifests))
	encoded := strings.TrimSpace(eu.kubectl("-n", "waybill", "get", "secret", "waybill-agent-key", "-o", "go-template={{.data.identity | base64decode}}"))
	if err := os.WriteFile(e.key, []byte(encoded+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	registered, err := os.ReadFile(filepath.Join(e.source, "clusters/eu-1.yaml"))
	if err != nil || !strings.Contains(string(registered), "waybill.dev/agent-key: ssh-ed25519 ") || !strings.Contains(string(registered), "syncMode: Pull") {
		t.Fatalf("%v: it is registered as\n%s", err, registered)
	}
	for where, text := range map[string]string{"the file": string(registered), "the change that was shown": stderr.String()} {
		if strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("the private key is in %s", where)
		}
	}

	// the Deployment's pod is admitted where pods are restricted
	deployment := eu.list("/apis/apps/v1/namespaces/waybill/deployments")
	if len(deployment) != 1 {
		t.Fatalf("there are %d Deployments", len(deployment))
	}
	warned := eu.kubectl("-n", "waybill", "get", "deployment", "waybill-agent", "-o", "jsonpath={.spec.template.spec.securityContext.runAsNonRoot}")
	if strings.TrimSpace(warned) != "true" {
		t.Errorf("it runs as root: %s", warned)
	}

	// an agent as an account that may do what the branch needs
	eu.kubectl("delete", "clusterrolebinding", "waybill-agent")
	as := eu.account(t, "rules.yaml")
	e.namespace("follow", "one", 3)
	e.publish()
	a := e.agent("--kubeconfig", as, "--namespace", "waybill", "--sops-secret", "")
	e.becomes("eu-1", "c0000", "one")
	e.tells("it tells", "waybill/status/eu-1", "status.yaml", "reason: Applied")
	e.tells("and observes", "waybill/observed/eu-1", "observed/eu-1.yaml", "ClusterReady")
	eventually(t, "it beats", func() (bool, string) {
		refs := e.git(e.statuses, "for-each-ref")
		return strings.Contains(refs, "refs/waybill/heartbeat/eu-1"), a.said()
	})
	e.namespace("follow", "two", 2) // one leaves
	e.publish("--allow-prune")
	e.becomes("eu-1", "c0000", "two")
	e.settles("eu-1")
	if said := a.said(); strings.Contains(said, "forbidden") {
		t.Errorf("something is forbidden to it:\n%s", said)
	}
	a.stop()
}
