//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// layout writes a config with a layout of the branches.
func (s *site) layout(name string) {
	s.t.Helper()
	s.folders = name == "folders"
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow, publish: {layout: "+name+", moves: {timeout: 0s}}}\n")
}

// alone writes an object that only one cluster gets.
func (s *site) alone(namespace, cluster, value string) {
	s.t.Helper()
	s.write("alone.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: alone, namespace: "+namespace+"}\nspec:\n"+
		"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: alone}]\n  placement: {clusterAffinity: {clusterNames: ["+cluster+"]}}\n---\n"+configMap(namespace, "alone", value))
}

// shared has clusters share a branch, moves them there from branches of their own, and back: what is
// applied is what changed, and nothing else.
func (m *members) shared(t *testing.T) {
	s := m.two(t)
	s.layout("branches")
	s.namespace("shared", "one", 10)
	s.publish()
	s.apply(0)

	s.layout("folders")
	s.alone("shared", "eu-1", "two")
	s.publish()
	wantVerbs(t, "on the shared branch", s.applied(0, "eu-1"), map[string]int{"create": 1})
	wantVerbs(t, "on the shared branch, with nothing new", s.applied(0, "us-1"), map[string]int{})
	s.check("eu-1")
	s.check("us-1")

	// a commit for one cluster is none for the other
	head := strings.TrimSpace(s.git(s.bare, "rev-parse", "waybill/clusters"))
	s.alone("shared", "eu-1", "three")
	s.publish()
	if d := s.applied(0, "us-1"); d.Commit != head {
		t.Errorf("us-1 is at %s; what was published for it last is %s", d.Commit, head)
	}
	wantVerbs(t, "a change for one", s.applied(0, "eu-1"), map[string]int{"update": 1})

	// what somebody edits stops the cluster that it is for
	clone := t.TempDir()
	s.git("", "clone", "-q", "-b", "waybill/clusters", s.bare, clone)
	s.git(clone, "rm", "-q", "us-1/manifests/shared/configmap/c0000.yaml")
	s.git(clone, "commit", "-q", "-m", "by hand")
	s.git(clone, "push", "-q")
	if out := s.apply(2); !strings.Contains(out, "folder us-1 of branch waybill/clusters") || !strings.Contains(out, "is not as Waybill published it") {
		t.Errorf("an edit is told of as\n%s", out)
	}
	s.check("eu-1")
	s.git(clone, "revert", "--no-edit", "HEAD")
	s.git(clone, "push", "-q")

	s.layout("branches")
	s.alone("shared", "us-1", "four")
	s.publish("--allow-prune")
	wantVerbs(t, "back on its branch", s.applied(0, "us-1"), map[string]int{"create": 1})
	wantVerbs(t, "back on its branch, where it loses one", s.applied(0, "eu-1"), map[string]int{"delete": 1})
	s.check("eu-1")
	s.check("us-1")
}

// TestAgentOfASharedBranch has an agent apply its folder, and follow it to a branch and back.
func TestAgentOfASharedBranch(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), dir))
	e.write("clusters/us-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us-1}\nspec: {syncMode: Pull}\n")
	key, allowed := filepath.Join(dir, "ci"), filepath.Join(dir, "allowed")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err == nil {
		err = os.WriteFile(allowed, append([]byte("ci@example.com "), public...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.layout("folders")
	e.namespace("follow", "one", 5)
	e.publish("--signing-key", key)
	a := e.agent("--allowed-signers", allowed)
	e.becomes("eu-1", "c0000", "one")
	e.settles("eu-1")
	first := strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/clusters"))
	e.tells("its folder is applied", "waybill/status/eu-1", "status.yaml", first)
	e.tells("where that is", "waybill/status/eu-1", "status.yaml", "waybill/clusters:eu-1")

	// what is published for us-1 is no news, and neither is what nobody signed beside its folder
	clone := t.TempDir()
	e.git("", "clone", "-q", "-b", "waybill/clusters", e.bare, clone)
	if err := os.WriteFile(filepath.Join(clone, "README.md"), []byte("Whose this is.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.git(clone, "add", "-A")
	e.git(clone, "commit", "-q", "-m", "by hand")
	e.git(clone, "push", "-q")
	e.alone("follow", "us-1", "two")
	e.publish("--signing-key", key)
	if status, out := e.run("status", "-C", e.source, "--to", e.bare, "--status-repository", e.statuses); strings.Contains(out, "Behind") {
		t.Errorf("status %d, and eu-1 is not as it is published:\n%s", status, out)
	}

	for _, layout := range []string{"branches", "folders"} {
		e.layout(layout)
		e.namespace("follow", layout, 5)
		e.publish("--signing-key", key)
		e.becomes("eu-1", "c0004", layout)
		e.settles("eu-1")
	}
	if said := a.said(); strings.Contains(said, `"level":"ERROR"`) {
		t.Errorf("it said:\n%s", said)
	}

	// a folder that somebody edited is not applied
	e.git(clone, "pull", "-q")
	if err := os.Remove(filepath.Join(clone, "eu-1/manifests/follow/configmap/c0004.yaml")); err != nil {
		t.Fatal(err)
	}
	e.git(clone, "commit", "-qam", "by hand")
	e.git(clone, "push", "-q")
	eventually(t, "it is refused", func() (bool, string) {
		said := a.said()
		return strings.Contains(said, "folder eu-1 of branch waybill/clusters") && strings.Contains(said, "is not as Waybill published it"), said
	})
	e.becomes("eu-1", "c0004", "folders")
	a.stop()
}

// shares moves what Flux syncs from a branch to a folder, in the order that could go wrong.
func (s *servers) shares(t *testing.T) {
	f := newFleet(t, s, "shared")
	f.namespace("shared-a", 20)
	f.publish()
	f.api.apply(f.flux())
	f.settled(f.fetch(), "")
	before := f.api.uids("shared-a")

	f.write("other.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: other}\nspec: {syncMode: Pull}\n")
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n")
	f.publish()
	f.shared = true
	// the source moves first: the root Kustomization of before finds what it cannot build
	revision := f.fetch()
	eventually(t, "the root of the shared branch is refused", func() (bool, string) {
		k := f.kustomizations()["waybill-shared"]
		ready, why := k.ready()
		return !ready && strings.Contains(why, "sync-the-folder-of-a-cluster"), why
	})
	same(t, "with the root of the shared branch", before, f.api.uids("shared-a"))
	f.api.apply(f.flux())
	f.settled(revision, "")
	same(t, "with its folder", before, f.api.uids("shared-a"))

	f.namespace("shared-a", 18)
	f.publish("--allow-prune")
	f.settled(f.fetch(), "")
	if n := len(f.api.uids("shared-a")); n != 19 {
		t.Errorf("shared-a has %d objects, want 19", n)
	}
}
