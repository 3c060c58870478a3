//go:build e2e

package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// TestFluxCycle changes a source in every way, and has Flux bring two clusters along. After each change
// all that is on the branches is compared with the clusters, field by field.
func TestFluxCycle(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for _, name := range []string{"eu-1", "us-1"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 2)
		startControllers(t, apis[name], controlplane.SourceController, controlplane.KustomizeController)
	}
	f := newFollowed(t, p.waybill, apis)
	f.begins()
	f.moves()
	f.prunes()
	f.scales()
	f.rotates()
	f.corrects()
	f.holds()
	f.leaves()
}

// begins hands the clusters to Flux.
func (f *followed) begins() {
	f.policies("eu-1")
	f.namespace("shop", "one", 5)
	f.namespace("batch", "one", 5)
	f.deploys("web", 6)
	f.deploys("worker", 2)
	f.secret("CANARY-1")
	f.write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n")
	f.write("definition.yaml", widgets)
	f.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\nspec: {size: 3}\n")
	f.publish()
	for cluster, a := range f.apis {
		newVault(f.t, a, "flux-system").put("sops-age", "age.agekey", anna)
		status, printed := f.run("get", "flux", "-C", f.source, "--to", f.bare, "--url", f.url, "--cluster", cluster)
		if status != 0 || !strings.Contains(printed, "decryption:") {
			f.t.Fatalf("get flux ends with %d and prints:\n%s", status, printed)
		}
		a.apply(printed)
	}
	f.arrives("the first commit")
	f.hasSecret("the first commit", "CANARY-1")
	if eu, us := len(f.owned("eu-1")), len(f.owned("us-1")); eu != 12 || us != 17 {
		f.t.Errorf("there are %d and %d objects", eu, us)
	}
}

// moves sends worker to the other cluster. Everything else is not touched.
func (f *followed) moves() {
	worker, before := at("Deployment", "shop", "worker"), f.uids()
	f.policies("us-1")
	f.commits("a policy moves worker", 0)
	if f.get("eu-1", worker) != nil || f.get("us-1", worker) == nil {
		f.t.Error("worker has not moved")
	}
	delete(before, "eu-1"+worker)
	now := f.uids()
	same(f.t, "a policy moves worker", before, now)
	if len(now) != len(before)+1 {
		f.t.Errorf("there were %d objects beside worker, and with it there are %d", len(before), len(now))
	}
}

// prunes takes an object out of the source.
func (f *followed) prunes() {
	before := f.uids()
	f.namespace("shop", "one", 4)
	f.commits("an object is removed", 0)
	gone := at("ConfigMap", "shop", "c0004")
	for cluster := range f.apis {
		if f.get(cluster, gone) != nil {
			f.t.Errorf("%s still has it", cluster)
		}
		delete(before, cluster+gone)
	}
	if now := f.uids(); !maps.Equal(before, now) {
		f.t.Errorf("before: %v\nnow: %v", before, now)
	}
}

// scales adds replicas, which are divided.
func (f *followed) scales() {
	before := f.uids()
	f.deploys("web", 9)
	f.commits("nine replicas", 0)
	for cluster, want := range map[string]string{"eu-1": "6", "us-1": "3"} {
		if got := f.apis[cluster].kubectl("-n", "shop", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"); got != want {
			f.t.Errorf("%s has %s replicas, want %s", cluster, got, want)
		}
	}
	same(f.t, "nine replicas", before, f.uids())
}

// rotates changes the Secret.
func (f *followed) rotates() {
	before := f.uids()
	f.secret("CANARY-2")
	f.commits("another password", 0)
	f.hasSecret("another password", "CANARY-2")
	same(f.t, "another password", before, f.uids())
}

// corrects has somebody change a cluster by hand.
func (f *followed) corrects() {
	a := f.apis["us-1"]
	a.kubectl("-n", "shop", "scale", "deployment", "web", "--replicas=1")
	a.kubectl("-n", "shop", "patch", "configmap", "c0001", "-p", `{"data":{"value":"edited"}}`)
	a.kubectl("-n", "shop", "delete", "service", "web")
	if wrong := f.lacks("us-1"); len(wrong) != 3 {
		f.t.Fatalf("three objects are not as the branch has them, and the comparison finds: %v", wrong)
	}
	f.asks("us-1", "kustomization")
	f.settles("us-1")
	f.divided("edits by hand")
}

// holds removes a Namespace, for which the guard holds a cluster. The other one goes on.
func (f *followed) holds() {
	before := f.uids()
	held := f.git(f.bare, "rev-parse", "waybill/cluster/us-1")
	f.remove("batch.yaml")
	f.namespace("shop", "two", 4)
	f.commits("us-1 is held", 1)
	if f.git(f.bare, "rev-parse", "waybill/cluster/us-1") != held {
		f.t.Error("the branch of us-1 advanced")
	}
	values := func() (got []string) {
		for _, cluster := range []string{"eu-1", "us-1"} {
			got = append(got, text(f.get(cluster, at("ConfigMap", "shop", "c0000")), "data", "value"))
		}
		return got
	}
	if got := values(); !slices.Equal(got, []string{"two", "one"}) {
		f.t.Errorf("the values are %v", got)
	}
	same(f.t, "us-1 is held", before, f.uids())

	f.commits("the removal is allowed", 0, "--allow-prune")
	if got := values(); !slices.Equal(got, []string{"two", "two"}) || f.get("us-1", at("Namespace", "", "batch")) != nil {
		f.t.Errorf("the values are %v, or the Namespace is there", got)
	}
	maps.DeleteFunc(before, func(where, _ string) bool { return strings.Contains(where, "batch") })
	same(f.t, "the removal is allowed", before, f.uids())
}

// leaves has a cluster be registered no more. It keeps what it has, and the other one takes over its share.
func (f *followed) leaves() {
	before := f.uids()
	f.remove("clusters/us-1.yaml")
	f.policies("eu-1")
	f.commits("us-1 is not registered", 0)
	for cluster, want := range map[string]string{"eu-1": "9", "us-1": "3"} {
		if got := f.apis[cluster].kubectl("-n", "shop", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"); got != want {
			f.t.Errorf("%s has %s replicas, want %s", cluster, got, want)
		}
	}
	now := f.uids()
	if before["eu-1"+at("Deployment", "shop", "worker")] = now["eu-1"+at("Deployment", "shop", "worker")]; !maps.Equal(before, now) {
		f.t.Errorf("before: %v\nnow: %v", before, now)
	}
}
