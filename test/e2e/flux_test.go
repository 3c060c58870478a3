//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// servers run for all tests.
type servers struct {
	api     *api
	waybill string
}

func TestFlux(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	s := &servers{api: startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "flux")), waybill: p.waybill}
	startFlux(t, s.api)
	t.Run("a branch with folders goes over to one root", s.migrates)
	t.Run("a root is divided and made whole again", s.divides)
	t.Run("without the steps objects are deleted", s.deletes)
	t.Run("what Flux applied is adopted", s.adopts)
	t.Run("a branch crosses 2,000 objects", s.crosses)
	t.Run("a branch becomes a folder", s.shares)
}

// same fails unless every object of before is still the one that it was.
func same(t *testing.T, step string, before, now map[string]string) {
	t.Helper()
	for name, uid := range before {
		if now[name] != uid {
			t.Errorf("%s: %s was %s and is %q", step, name, uid, now[name])
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// steps runs a script, such as what --migrate prints.
func (f *fleet) steps(script string) {
	f.t.Helper()
	path := filepath.Join(f.t.TempDir(), "steps.sh")
	if err := os.WriteFile(path, []byte("set -ex\n"+script), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.command("sh", path)
}

// foldered makes of the branch what Waybill wrote above 500 objects before it had parts.
func (f *fleet) foldered(namespaces ...string) {
	f.t.Helper()
	clone := filepath.Join(f.t.TempDir(), "clone")
	f.steps("CLONE='" + clone + "'\n" + `git clone -q -b ` + f.branch() + ` ` + f.bare + ` "$CLONE"; cd "$CLONE"
for namespace in ` + strings.Join(namespaces, " ") + `; do
  mkdir -p "flux/$namespace"
  { printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n'
    grep "^- manifests/$namespace/" kustomization.yaml | sed 's|manifests/|../../manifests/|'; } >"flux/$namespace/kustomization.yaml"
done
git add -A; git rm -q --cached waybill.metadata hydrator.metadata
sed -i "s/\"tree\": \".*\"/\"tree\": \"$(git write-tree)\"/" waybill.metadata
git add -A; git log -1 --format=%B | git commit -qF -; git push -q
`)
}

// migrates goes from a Kustomization for each namespace to one root, by the printed steps.
func (s *servers) migrates(t *testing.T) {
	f := newFleet(t, s, "old")
	f.namespace("old-a", 20)
	f.namespace("old-b", 20)
	f.publish()
	f.foldered("_cluster", "old-a", "old-b")
	f.api.apply(f.flux())
	f.settled(f.fetch(), "-cluster", "-old-a", "-old-b")
	before := f.api.uids("old-a", "old-b")
	if len(before) != 42 {
		t.Fatalf("%d of 42 objects arrived", len(before))
	}

	f.steps(f.flux("--migrate"))
	same(t, "with the root", before, f.api.uids("old-a", "old-b"))
	f.settled(f.fetch(), "")

	f.register("root")
	f.namespace("old-c", 5)
	f.publish()
	f.settled(f.fetch(), "")
	same(t, "without folders", before, f.api.uids("old-a", "old-b"))
	if n := len(f.api.uids("old-c")); n != 6 {
		t.Errorf("%d of 6 objects of a new namespace arrived", n)
	}
	// what the root took over it also prunes
	f.namespace("old-b", 15)
	f.publish("--allow-prune")
	f.settled(f.fetch(), "")
	if n := len(f.api.uids("old-b")); n != 16 {
		t.Errorf("old-b has %d objects, want 16", n)
	}
}

// divides splits a root by the printed steps, and goes back by way of orphans.
func (s *servers) divides(t *testing.T) {
	f := newFleet(t, s, "split")
	f.namespace("split-a", 20)
	f.namespace("split-b", 20)
	f.publish()
	f.api.apply(f.flux())
	f.settled(f.fetch(), "")
	before := f.api.uids("split-a", "split-b")

	f.register("split")
	first, then := cut(t, f.flux("--migrate"), "# 3.")
	f.steps(first)
	f.publish("--allow-prune")
	f.settled(f.fetch(), "", ".part.1")
	f.steps(then)
	f.settled(f.fetch(), "", ".part.1")
	same(t, "split", before, f.api.uids("split-a", "split-b"))
	if !f.kustomizations()["waybill-split"].Spec.Prune {
		t.Error("the root does not prune again")
	}
	f.namespace("split-c", 3)
	f.publish()
	f.settled(f.fetch(), "", ".part.1")
	maps.Copy(before, f.api.uids("split-c"))
	if len(before) != 46 {
		t.Errorf("%d of 46 objects are there with a new namespace", len(before))
	}

	f.register("orphan")
	f.publish()
	f.settled(f.fetch(), "", ".part.1")
	if policy := f.kustomizations()["waybill-split.part.1"].Spec.DeletionPolicy; policy != "Orphan" {
		t.Fatalf("the child has the policy %q", policy)
	}
	f.register("single")
	f.publish()
	f.settled(f.fetch(), "")
	same(t, "made whole", before, f.api.uids("split-a", "split-b", "split-c"))
	for name, k := range f.kustomizations() {
		if name != "waybill-split" {
			t.Errorf("%s is left: %+v", name, k)
		}
	}
}

// cut cuts a script before a line.
func cut(t *testing.T, script, line string) (first, then string) {
	t.Helper()
	i := strings.Index(script, "\n"+line)
	if i < 0 {
		t.Fatalf("no line begins with %q:\n%s", line, script)
	}
	return script[:i], script[i:]
}

// deletes shows that these tests can fail, and what the guard holds such a cluster for.
func (s *servers) deletes(t *testing.T) {
	f := newFleet(t, s, "rash")
	f.namespace("rash", 5)
	f.publish()
	f.api.apply(f.flux())
	f.settled(f.fetch(), "")
	before := f.api.uids("rash")
	f.register("split")
	f.publish("--allow-prune")
	f.settled(f.fetch(), "", ".part.1")
	now := f.api.uids("rash")
	if len(now) != len(before) || maps.Equal(now, before) {
		t.Errorf("Flux kept what went from the root to a part, so that the guard is too careful: %v", now)
	}
}

// crosses grows a branch over 2,000 objects. An encrypted one of those that are in a part is decrypted.
func (s *servers) crosses(t *testing.T) {
	f := newFleet(t, s, "large")
	f.write("cluster.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: large, annotations: {waybill.dev/age-recipients: "+toAnna+"}}\nspec: {syncMode: Pull}\n")
	f.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}]\n  placement: {}\n")
	newVault(t, f.api, "flux-system").put("sops-age", "age.agekey", anna)
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("large-%d", i))
		f.namespace(names[i], 198)
	}
	f.publish()
	f.api.apply(f.flux())
	f.settled(f.fetch(), "")
	before := f.api.uids(names...)
	if len(before) != 1990 {
		t.Fatalf("%d of 1,990 objects arrived", len(before))
	}
	f.namespace("large-new", 100)
	f.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: large-new}\nstringData: {password: CANARY}\n")
	f.publish()
	f.settled(f.fetch(), "", ".part.1")
	if got := f.api.kubectl("-n", "large-new", "get", "secret", "login", "-o", "go-template={{.data.password | base64decode}}"); got != "CANARY" {
		t.Errorf("the Secret holds %q", got)
	}
	same(t, "above 2,000", before, f.api.uids(names...))
	if n := len(f.api.uids("large-new")); n != 101 {
		t.Errorf("%d of 101 objects of a new namespace arrived", n)
	}
	// and below again: the part stays, and prunes
	f.namespace("large-new", 40)
	f.publish("--allow-prune")
	f.settled(f.fetch(), "", ".part.1")
	same(t, "below 2,000 again", before, f.api.uids(names...))
	if n := len(f.api.uids("large-new")); n != 41 {
		t.Errorf("large-new has %d objects, want 41", n)
	}
}

// adopts takes over from Flux what it applied, once its Kustomization is suspended.
func (s *servers) adopts(t *testing.T) {
	f := newFleet(t, s, "adopted")
	f.namespace("adopted", 4)
	f.publish()
	f.api.apply(f.flux())
	f.settled(f.fetch(), "")
	before := f.api.uids("adopted")
	apply := func(status int, more ...string) string {
		t.Helper()
		cmd := exec.Command(s.waybill, append([]string{"apply", "adopted", "-C", f.source, "--to", f.bare, "--kubeconfig", f.api.kubeconfig, "--context", "c"}, more...)...)
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("apply %v: status %d (%v), want %d:\n%s", more, got, err, status, out)
		}
		return string(out)
	}
	apply(1) // it is Flux's
	_, rest, _ := strings.Cut(apply(1, "--adopt"), "--adopt=")
	digest, _, _ := strings.Cut(rest, " ")
	if out := apply(1, "--adopt="+digest); !strings.Contains(out, "Flux Kustomization flux-system/waybill-adopted applies it, too; suspend that first") {
		t.Errorf("it does not say so:\n%s", out)
	}
	f.api.kubectl("-n", "flux-system", "patch", "kustomization", "waybill-adopted", "--type=merge", "-p", `{"spec":{"suspend":true,"prune":false}}`)
	apply(0, "--adopt="+digest)
	same(t, "adopted", before, f.api.uids("adopted"))
	f.namespace("adopted", 3)
	f.publish()
	apply(0)
	if n := len(f.api.uids("adopted")); n != 4 {
		t.Errorf("there are %d objects, want 4", n)
	}
}
