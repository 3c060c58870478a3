//go:build e2e

package publish

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	fleet = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
`
	// A Lazy policy leaves what is placed where it is, if it is known where that is.
	policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec:
  activationPreference: Lazy
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [%s]}}
`
	broken = "a: [\n"
)

func configMap(name, value string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\ndata: {v: %q}\n", name, value)
}

// upstream is a repository behind a server, from which clones are made, and a person's
// work tree of it.
type upstream struct {
	*listener

	bare, work string
	url        string
	extra      []string // of the environment, to publish there
}

// newUpstream serves a source in which one and two go to eu.
func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{bare: bare(t), work: t.TempDir()}
	u.listener = listen(t, backend(t, u.bare))
	u.url = u.URL + "/" + filepath.Base(u.bare)
	u.extra = []string{trust(t, u.listener), password}
	git(t, u.work, "init", "-q", "-b", "main")
	git(t, u.work, "remote", "add", "origin", u.url)
	write(t, filepath.Join(u.work, "clusters.yaml"), []byte(fleet))
	write(t, filepath.Join(u.work, "policy.yaml"), fmt.Appendf(nil, policy, "eu"))
	write(t, filepath.Join(u.work, "one.yaml"), configMap("one", "1"))
	write(t, filepath.Join(u.work, "two.yaml"), configMap("two", "1"))
	u.push(t, "first")
	return u
}

// push commits the work tree and pushes it.
func (u *upstream) push(t *testing.T, subject string) string {
	t.Helper()
	git(t, u.work, "add", "-A")
	git(t, u.work, "commit", "-qm", subject)
	git(t, u.work, "push", "-q", u.bare, "main")
	return git(t, u.work, "rev-parse", "HEAD")
}

// checkout makes a clone as a job in CI does: of one commit, which is no branch.
func (u *upstream) checkout(t *testing.T, commit string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	git(t, dir, "remote", "add", "origin", u.url)
	git(t, dir, "-c", "protocol.version=2", "fetch", "-q", "--no-tags", "--depth=1", "file://"+u.bare, "+"+commit+":refs/remotes/origin/main")
	git(t, dir, "checkout", "-q", "--detach", "refs/remotes/origin/main")
	return dir
}

// run runs a command with the password of the repository, and wants a status.
func (u *upstream) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	out, code := status(t, waybill(t, u.extra, args...))
	if code != want {
		t.Fatalf("%v: status %d, want %d\n%s", args, code, want, out)
	}
	return out
}

// on returns the files of a cluster's branch.
func (u *upstream) on(t *testing.T, cluster string) string {
	t.Helper()
	return git(t, u.bare, "ls-tree", "-r", "--name-only", "waybill/cluster/"+cluster, "manifests/")
}

func (u *upstream) heads(t *testing.T) string {
	t.Helper()
	return git(t, u.bare, "for-each-ref", "refs/heads/waybill")
}

func TestAJobPublishesToItsOrigin(t *testing.T) {
	u := newUpstream(t)
	first := git(t, u.work, "rev-parse", "HEAD")
	u.run(t, 0, "publish", u.checkout(t, first), "--to", "origin")
	if files := u.on(t, "eu"); !strings.Contains(files, "one.yaml") || !strings.Contains(files, "two.yaml") {
		t.Fatalf("eu has %s", files)
	}
	write(t, filepath.Join(u.work, "policy.yaml"), fmt.Appendf(nil, policy, "us"))
	write(t, filepath.Join(u.work, "three.yaml"), configMap("three", "1"))
	second := u.push(t, "second")
	u.run(t, 0, "publish", u.checkout(t, second), "--to", "origin")
	if files := u.on(t, "us"); files != "manifests/a/configmap/three.yaml" {
		t.Errorf("what was placed is not known to a new clone: us has %s", files)
	}
	before := u.heads(t)
	if out := u.run(t, 0, "publish", u.checkout(t, second), "--to", "origin"); !strings.Contains(out, "nothing to publish") {
		t.Errorf("twice: %s", out)
	}
	u.run(t, 0, "verify", "waybill/cluster/us", "-C", u.checkout(t, second), "--to", "origin")
	u.run(t, 0, "verify", "waybill/cluster/eu", "-C", u.checkout(t, first), "--to", "origin")
	// a slow job
	if out := u.run(t, 2, "publish", u.checkout(t, first), "--to", "origin"); !strings.Contains(out, "comes before") {
		t.Errorf("an older commit: %s", out)
	}
	if after := u.heads(t); after != before {
		t.Errorf("branches moved:\n%s\n%s", before, after)
	}
	git(t, u.bare, "fsck", "--strict")
}

// What a clone has of the branches is never what they are expected to be at.
func TestPublishingListsTheRemote(t *testing.T) {
	u := newUpstream(t)
	u.run(t, 0, "publish", u.work, "--to", "origin")
	clone := t.TempDir()
	git(t, clone, "clone", "-q", u.bare, ".")
	git(t, clone, "remote", "set-url", "origin", u.url)
	git(t, clone, "branch", "-q", "waybill/cluster/eu", "origin/waybill/cluster/eu")
	git(t, clone, "branch", "-q", "waybill/state", "HEAD") // is no state at all
	write(t, filepath.Join(u.work, "one.yaml"), configMap("one", "2"))
	u.push(t, "second")
	u.run(t, 0, "publish", u.work, "--to", "origin")
	git(t, clone, "fetch", "-q", u.bare, "main")
	git(t, clone, "reset", "-q", "--hard", "FETCH_HEAD")
	before := git(t, clone, "for-each-ref")
	if out := u.run(t, 0, "publish", clone, "--to", "origin"); !strings.Contains(out, "nothing to publish") {
		t.Errorf("it published again: %s", out)
	}
	write(t, filepath.Join(clone, "one.yaml"), configMap("one", "3"))
	git(t, clone, "commit", "-qam", "third")
	u.run(t, 0, "publish", clone, "--to", "origin")
	if got := git(t, u.bare, "show", "waybill/cluster/eu:manifests/a/configmap/one.yaml"); !strings.Contains(got, "v: '3'") {
		t.Errorf("eu has %s", got)
	}
	if after := git(t, clone, "for-each-ref", "refs/heads/waybill", "refs/remotes"); !strings.Contains(before, after) {
		t.Errorf("branches of the clone moved:\n%s\n%s", before, after)
	}
}

// reports are the commands that say what would be published, and what they say if they know
// what was.
func reports(src string) [][]string {
	return [][]string{
		{"get", "bindings", "-C", src},
		{"render", src},
		{"explain", "configmap/one", "-n", "a", "-C", src},
	}
}

// knows reports whether a report knows that one is in eu, where a Lazy policy leaves it.
// Explain shows where it would be.
func knows(out string) bool {
	return regexp.MustCompile(`(?m)(one-configmap|ConfigMap/a/one).* eu$|^outcome +placed`).MatchString(out)
}

func TestReportsAskTheOrigin(t *testing.T) {
	u := newUpstream(t)
	u.run(t, 0, "publish", u.work, "--to", "origin")
	stale := t.TempDir() // fetched before the second publication, with heads of its own
	git(t, stale, "clone", "-q", u.bare, ".")
	git(t, stale, "remote", "set-url", "origin", u.url)
	git(t, stale, "branch", "-q", "waybill/state", "HEAD")
	write(t, filepath.Join(u.work, "policy.yaml"), fmt.Appendf(nil, policy, "us"))
	second := u.push(t, "second")
	u.run(t, 0, "publish", u.work, "--to", "origin")
	job := u.checkout(t, second)
	for _, args := range reports(job) {
		if out := u.run(t, 0, append(args, "--to", "origin")...); !knows(out) || strings.Contains(out, "warning") {
			t.Errorf("%v: %s", args, out)
		}
		if out := u.run(t, 0, append(args, "--to", u.url)...); !knows(out) {
			t.Errorf("%v by URL: %s", args, out)
		}
		out, _ := status(t, waybill(t, append(u.extra, "WAYBILL_CREDENTIALS_FOR="+u.URL), args...)) // origin is the default
		if !knows(out) || strings.Contains(out, "warning") {
			t.Errorf("%v by default: %s", args, out)
		}
	}
	u.run(t, 0, "validate", job, "--to", "origin")
	if out := u.run(t, 0, "diff", "HEAD", "-C", job, "--to", "origin"); !strings.Contains(out, "no cluster changes") {
		t.Errorf("diff: %s", out)
	}
	// A password that is for nothing that was named goes to no remote.
	asked, _ := u.requests()
	for _, args := range reports(job) {
		out := u.run(t, 0, args...)
		if knows(out) && args[0] != "explain" || !strings.Contains(out, "warning: origin: ") || !strings.Contains(out, "nothing of what is published there was fetched") {
			t.Errorf("%v without credentials: %s", args, out)
		}
	}
	if again, _ := u.requests(); len(again) == len(asked) {
		t.Error("it was not asked")
	}
	// Without a network, what was fetched counts, and it is said how old that is.
	git(t, stale, "fetch", "-q", u.bare, "main")
	git(t, stale, "reset", "-q", "--hard", "FETCH_HEAD")
	old := time.Now().Add(-75 * time.Hour)
	if err := os.Chtimes(filepath.Join(stale, ".git", "FETCH_HEAD"), old, old); err != nil {
		t.Fatal(err)
	}
	since := "as it was fetched at " + old.UTC().Format(time.RFC3339) + ", 3 days ago"
	for _, args := range reports(stale) {
		if out := u.run(t, 0, append(args, "--offline")...); !knows(out) || !strings.Contains(out, "--offline; what is published there is "+since) {
			t.Errorf("%v offline: %s", args, out)
		}
	}
	u.Close()
	for _, args := range reports(stale) {
		if out := u.run(t, 0, append(args, "--to", "origin")...); !knows(out) || !strings.Contains(out, "connection refused") || !strings.Contains(out, since) {
			t.Errorf("%v with nobody there: %s", args, out)
		}
	}
	if out := u.run(t, 2, "get", "bindings", "-C", job, "--to", "origin"); !strings.Contains(out, "nothing of what is published there was fetched") {
		t.Errorf("with nobody there, and nothing fetched: %s", out)
	}
}

func TestAReportDoesNotWaitForASilentServer(t *testing.T) {
	u := newUpstream(t)
	u.run(t, 0, "publish", u.work, "--to", "origin")
	clone := t.TempDir()
	git(t, clone, "clone", "-q", u.bare, ".")
	done := make(chan struct{})
	silent := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	defer close(done)
	git(t, clone, "remote", "set-url", "origin", silent.URL+"/fleet.git")
	out := u.run(t, 0, "get", "bindings", "-C", clone)
	if !knows(out) || !strings.Contains(out, "no answer in 5s") {
		t.Errorf("it says %s", out)
	}
	asked, _ := silent.requests()
	if len(asked) != 1 {
		t.Errorf("it was asked %d times", len(asked))
	}
	if out := u.run(t, 0, "get", "bindings", "-C", clone, "--offline"); !knows(out) {
		t.Errorf("offline it says %s", out)
	}
	if again, _ := silent.requests(); len(again) != 1 {
		t.Error("--offline asked the server")
	}
}

func TestPublishingIntoACloneSaysSo(t *testing.T) {
	u := newUpstream(t)
	clone := t.TempDir()
	git(t, clone, "clone", "-q", u.bare, ".")
	out := u.run(t, 0, "publish", clone, "--dry-run")
	if !strings.Contains(out, "warning: this is a clone of "+u.bare) || !strings.Contains(out, "--to origin publishes there") {
		t.Errorf("it says %s", out)
	}
	for _, args := range [][]string{{"publish", clone, "--to", clone}, {"publish", clone, "--to", "origin"}, {"verify", "waybill/cluster/eu", "-C", clone}} {
		if out := u.run(t, 0, args...); strings.Contains(out, "warning") {
			t.Errorf("%v: %s", args, out)
		}
	}
	git(t, clone, "remote", "remove", "origin")
	if out := u.run(t, 0, "publish", clone); strings.Contains(out, "warning") {
		t.Errorf("in a repository of its own: %s", out)
	}
	if out := u.run(t, 2, "publish", u.work, "--to", "upstream"); !strings.Contains(out, "the remotes of "+u.work+" are origin") {
		t.Errorf("a remote that there is not: %s", out)
	}
}

// What is broken keeps its last state in a clone that does not have the commit in which it
// was sound.
func TestAShallowCloneKnowsWhatWasSound(t *testing.T) {
	for _, gives := range []bool{true, false} {
		t.Run(fmt.Sprintf("the server gives commits by their ids: %t", gives), func(t *testing.T) {
			u := newUpstream(t)
			git(t, u.bare, "config", "uploadpack.allowReachableSHA1InWant", strconv.FormatBool(gives))
			u.run(t, 0, "publish", u.work, "--to", "origin")
			write(t, filepath.Join(u.work, "one.yaml"), []byte(broken))
			u.push(t, "broken")
			u.run(t, 1, "publish", u.work, "--to", "origin")
			if err := os.Remove(filepath.Join(u.work, "two.yaml")); err != nil {
				t.Fatal(err)
			}
			job := u.checkout(t, u.push(t, "still broken"))
			out := u.run(t, 1, "publish", job, "--to", "origin")
			if files := u.on(t, "eu"); !strings.Contains(files, "one.yaml") || strings.Contains(files, "two.yaml") == gives {
				t.Errorf("eu has %s", files)
			}
			if said := strings.Contains(out, "[history-missing]") && strings.Contains(out, "fetch-depth: 0"); said == gives {
				t.Errorf("it says %s", out)
			}
			git(t, job, "fetch", "-q", "--unshallow", "file://"+u.bare, "main")
			if out := u.run(t, 1, "publish", job, "--to", "origin"); strings.Contains(out, "history-missing") {
				t.Errorf("with the whole history: %s", out)
			}
			if files := u.on(t, "eu"); files != "manifests/a/configmap/one.yaml" {
				t.Errorf("with the whole history eu has %s", files)
			}
		})
	}
}

// A clone that cannot tell which of two commits came first publishes nothing.
func TestAShallowCloneThatKnowsNoOrderHolds(t *testing.T) {
	u := newUpstream(t)
	elsewhere := bare(t)
	u.run(t, 0, "publish", u.work, "--to", elsewhere)
	write(t, filepath.Join(u.work, "one.yaml"), configMap("one", "2"))
	job := u.checkout(t, u.push(t, "second"))
	u.Close()
	out := u.run(t, 2, "publish", job, "--to", elsewhere)
	if !strings.Contains(out, "fetch-depth: 0") {
		t.Errorf("it says %s", out)
	}
	git(t, job, "fetch", "-q", "--unshallow", "file://"+u.bare, "main")
	u.run(t, 0, "publish", job, "--to", elsewhere)
}
