package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestWhatIsObservedOfSeveralClusters: each has a branch of its own, that says why it is another one, above the sequence number before; an
// agent that starts anew goes on from there, and where nothing may be written nothing counts as written.
func TestWhatIsObservedOfSeveralClusters(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "--bare", ".")
	repo, err := git.Open(t.Context(), git.Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	begin := func(ahead time.Duration) *recorder {
		r := &recorder{repo: repo, clusters: []string{"eu", "us"}, now: func() time.Time { return now.Add(ahead) }, may: func(context.Context) error { return nil }, last: map[string]uint64{}}
		r.set([]*karmada.Cluster{{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}})
		return r
	}
	next := func(version string) observe.Next {
		return func(recorded map[string]*karmada.ClusterStatus, all []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
			if len(all) != 1 || all[0].Name != "eu" {
				t.Errorf("registered are %v", all)
			}
			changed := map[string]*karmada.ClusterStatus{}
			var why []string
			for _, name := range []string{"eu", "us"} {
				if s := recorded[name]; s == nil || s.KubernetesVersion != version {
					changed[name] = &karmada.ClusterStatus{KubernetesVersion: version}
					why = append(why, name+": it is "+version+"\n")
				}
			}
			return changed, strings.Join(why, "")
		}
	}
	r, last := begin(0), map[string]uint64{}
	for _, version := range []string{"v1", "v2"} {
		recorded, err := r.record(t.Context(), next(version))
		if err != nil || len(recorded) != 2 || recorded["us"].KubernetesVersion != version {
			t.Fatalf("%s: recorded is %v, %v", version, recorded, err)
		}
		for _, name := range []string{"eu", "us"} {
			message := run("log", "-1", "--format=%B", "waybill/observed/"+name)
			sequence, err := observation.SequenceOf(message + "\n")
			if err != nil || sequence <= last[name] || !strings.HasPrefix(message, "observed: "+name+": it is "+version+"\n") {
				t.Errorf("%s: after %d it is %d, %v: %s", name, last[name], sequence, err, message)
			}
			last[name] = sequence
		}
	}
	if n := run("rev-list", "--count", "waybill/observed/eu"); n != "2" {
		t.Errorf("the branch has %s commits", n)
	}
	before := run("for-each-ref")
	for range 2 {
		now = now.Add(time.Second)
		if recorded, err := r.record(t.Context(), next("v2")); err != nil || len(recorded) != 2 || run("for-each-ref") != before {
			t.Errorf("what is written is written again: %v, %v", recorded, err)
		}
	}
	r = begin(-time.Hour) // anew, by a clock that is behind
	if recorded, err := r.record(t.Context(), next("v2")); err != nil || len(recorded) != 2 || run("for-each-ref") != before {
		t.Errorf("what is written is written again: %v, %v", recorded, err)
	}
	refused := errors.New("another agent tells")
	r.may = func(context.Context) error { return refused }
	if recorded, err := r.record(t.Context(), next("v3")); !errors.Is(err, refused) || recorded != nil || run("for-each-ref") != before {
		t.Errorf("where nothing may be written recorded is %v, %v", recorded, err)
	}
	r.may = func(context.Context) error { return nil }
	if _, err := r.record(t.Context(), next("v3")); err != nil {
		t.Fatal(err)
	}
	if sequence, err := observation.SequenceOf(run("log", "-1", "--format=%B", "waybill/observed/eu") + "\n"); err != nil || sequence <= last["eu"] {
		t.Errorf("after %d it goes on with %d, %v", last["eu"], sequence, err)
	}
}

// TestWhatAnotherOnePutIsWrittenOver puts commits on the branch of what an agent observes: one that nobody signed,
// with the same content; 65 folders inside each other; one that the agent signed before. Where another agent tells, this one
// writes nothing.
func TestWhatAnotherOnePutIsWrittenOver(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	public, dir := key.Public(), t.TempDir()
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("", "init", "-q", "--bare", ".")
	repo, err := git.Open(t.Context(), git.Options{Location: dir, Sign: key.SignCommit})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := recorder{repo: repo, clusters: []string{"eu"}, now: func() time.Time { return now }, may: func(context.Context) error { return nil }, key: &public, last: map[string]uint64{}}
	r.set(nil)
	const branch = "waybill/observed/eu"
	version := 0
	next := func(recorded map[string]*karmada.ClusterStatus, _ []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
		want := fmt.Sprint("v", version)
		if s := recorded["eu"]; s != nil && s.KubernetesVersion == want {
			return nil, ""
		}
		return map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: want}}, "version"
	}
	writes := func() (head string) {
		t.Helper()
		now = now.Add(time.Second)
		if _, err := r.record(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		return run("", "rev-parse", branch)
	}
	first := writes()
	version++
	second := writes()
	if again := writes(); again != second {
		t.Error("what is written is written again")
	}
	version++
	r.may = func(context.Context) error { return errors.New("another agent tells") }
	if _, err := r.record(t.Context(), next); err == nil || run("", "rev-parse", branch) != second {
		t.Errorf("it tells what another agent tells: %v", err)
	}
	version, r.may = version-1, func(context.Context) error { return nil }
	nested := run("100644 blob "+run("x", "hash-object", "-w", "--stdin")+"\tx\n", "mktree")
	for range 65 {
		nested = run("040000 tree "+nested+"\td\n", "mktree")
	}
	last := second
	for _, put := range []struct {
		what string
		as   func() string // a commit, by the last one
	}{
		{"one that nobody signed", func() string {
			return run("", "commit-tree", last+"^{tree}", "-m", run("", "log", "-1", "--format=%B", last))
		}},
		{"one that cannot be read", func() string { return run("", "commit-tree", nested, "-m", "nested") }},
		{"one of before", func() string { return first }},
		{"one of before that says the same", func() string { return second }},
	} {
		commit := put.as()
		run("", "update-ref", "refs/heads/"+branch, commit)
		if last = writes(); last == commit {
			t.Errorf("%s is not written over", put.what)
			continue
		}
		h, _, err := repo.Branch(t.Context(), branch)
		if err != nil || public.Verify(signing.Git, h.Signed, h.Signature) != nil {
			t.Errorf("%s: what is written then is not signed: %v", put.what, err)
		}
	}
}
