//go:build e2e

package attack

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/twin"
)

// pulled is a fleet whose clusters are pulled to by agents, each with a key: a source, what is published
// from it, and, behind Git's own server, the repository that agents write to. The tests write what agents
// do, and what who stole their credentials does.
type pulled struct {
	t                          *testing.T
	source, branches, statuses string
	url                        string // of the statuses
	keys                       map[string]signing.Key
	environment                []string
}

// newPulled publishes a fleet of clusters, with further files of the source.
func newPulled(t *testing.T, more map[string]string, clusters ...string) *pulled {
	t.Helper()
	dir := t.TempDir()
	p := &pulled{
		t: t, source: filepath.Join(dir, "source"), branches: filepath.Join(dir, "branches.git"), statuses: filepath.Join(dir, "served", "status.git"),
		keys: map[string]signing.Key{}, environment: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
			"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
		},
	}
	handler, err := peers.GitServer(t.Context(), filepath.Dir(p.statuses))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL + "/status.git"
	for _, bare := range []string{p.branches, p.statuses} {
		p.git("", "init", "-q", "--bare", "-b", "main", bare)
	}
	p.git("", "init", "-q", "-b", "main", p.source)
	for _, name := range clusters {
		key, _, err := signing.NewKey(rand.Reader, "agent of "+name)
		if err != nil {
			t.Fatal(err)
		}
		p.register(name, key, "")
	}
	p.write(more)
	p.publishes()
	return p
}

// register writes the Cluster file of a cluster whose agent has a key, with what its spec says besides.
func (p *pulled) register(name string, key signing.Key, spec string) {
	p.t.Helper()
	p.keys[name] = key
	p.write(map[string]string{"clusters/" + name + ".yaml": fmt.Sprintf(
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: %s\n  annotations: {waybill.dev/agent-key: %q}\nspec: {syncMode: Pull, id: uid-%[1]s%[3]s}\n", name, key.Public().String(), spec)})
}

// write commits files to the source.
func (p *pulled) write(all map[string]string) {
	p.t.Helper()
	for name, text := range all {
		file := filepath.Join(p.source, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	p.git(p.source, "add", "-A")
	p.git(p.source, "commit", "-q", "--allow-empty", "-m", "next")
}

// git runs git in a repository.
func (p *pulled) git(dir string, args ...string) string {
	p.t.Helper()
	return p.gitWith("", dir, args...)
}

// gitWith runs git with something to read.
func (p *pulled) gitWith(in, dir string, args ...string) string {
	p.t.Helper()
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Env, cmd.Stdin = p.environment, strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs waybill, and returns what it printed and its exit status.
func (p *pulled) run(args ...string) (out string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), binary, args...)
	cmd.Env = p.environment
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}

// publishes the source.
func (p *pulled) publishes() {
	p.t.Helper()
	if out, code := p.run("publish", p.source, "--to", p.branches, "--status-repository", p.url); code != 0 {
		p.t.Fatalf("waybill publish ends with %d:\n%s", code, out)
	}
}

// controller starts a controller that hears the agents, and returns the URL at which it answers, and what it
// logs.
func (p *pulled) controller(flags ...string) (url string, said func() string) {
	p.t.Helper()
	url, said, _ = p.starts(flags...)
	return url, said
}

// starts a controller, and returns what ends it, too.
func (p *pulled) starts(flags ...string) (url string, said func() string, end func()) {
	p.t.Helper()
	at := p.free()
	cmd := exec.CommandContext(p.t.Context(), binary, append([]string{
		"controller", p.source, "--to", p.branches, "--interval", "1s", "--listen", at, "--status-repository", p.url,
	}, flags...)...)
	log := &output{}
	cmd.Env, cmd.Stdout, cmd.Stderr = p.environment, log, log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	p.t.Cleanup(func() {
		end()
		if p.t.Failed() {
			p.t.Logf("the controller said:\n%s", log)
		}
	})
	return "http://" + at, log.String, end
}

// free returns an address at which nobody listens.
func (p *pulled) free() string {
	p.t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// output is what a program prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// sender sends heartbeats of a cluster over a connection of its own, as its agent does.
func (p *pulled) sender(url, cluster string) func(sequence uint64) error {
	h := &agent.ByHTTP{URL: url, Key: p.keys[cluster], Client: &http.Client{Transport: &http.Transport{}}}
	return func(sequence uint64) error {
		return h.Beat(p.t.Context(), []heartbeat.Beat{{Cluster: cluster, UID: "uid-" + cluster, Agent: "agent-0", Sequence: sequence}})
	}
}

// says has a branch of the statuses hold files, signed by the agent of a cluster, or by nobody if that is
// empty. It returns the commit.
func (p *pulled) says(branch, message, cluster string, texts map[string]string) files.ID {
	p.t.Helper()
	options := git.Options{Location: p.statuses}
	if cluster != "" {
		options.Sign = p.keys[cluster].SignCommit
	}
	repo, err := git.Open(p.t.Context(), options)
	if err != nil {
		p.t.Fatal(err)
	}
	heads, err := repo.Heads(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	tree := twin.Tree{}
	for name, text := range texts {
		tree[name] = twin.File([]byte(text))
	}
	ids, err := repo.Publish(p.t.Context(), []git.Update{{
		Branch: branch, Old: heads[branch], Anew: true, Tree: tree.Folder(), Message: message, Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: time.Now(),
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	return ids[0]
}

// nests has a branch of the statuses hold 65 folders inside each other, which nobody signed.
func (p *pulled) nests(branch string) {
	p.t.Helper()
	tree := p.gitWith("100644 blob "+p.gitWith("x", p.statuses, "hash-object", "-w", "--stdin")+"\tx\n", p.statuses, "mktree")
	for range 65 {
		tree = p.gitWith("040000 tree "+tree+"\td\n", p.statuses, "mktree")
	}
	p.git(p.statuses, "update-ref", "refs/heads/"+branch, p.git(p.statuses, "commit-tree", tree, "-m", "nested"))
}

// observed is what the state branch says that was observed of a cluster; empty for nothing.
func (p *pulled) observed(cluster string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", "-C", p.branches, "show", "waybill/state:observed/"+cluster+".yaml")
	cmd.Env = p.environment
	out, _ := cmd.Output() // there is no such file yet
	return string(out)
}

// becomes waits until what is observed of a cluster has texts.
func (p *pulled) becomes(cluster string, texts ...string) {
	p.t.Helper()
	until(p.t, "what is observed of "+cluster, func() (bool, string) {
		now := p.observed(cluster)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(now, text) }), now
	})
}

// until waits for something, for three minutes.
func until(t *testing.T, what string, is func() (bool, string)) {
	t.Helper()
	const patience, pause = 3 * time.Minute, 100 * time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		ok, now := is()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not as it should after %s:\n%s", what, patience, now)
		}
	}
}
