//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/test/exits"
)

// members are real API servers for all tests of waybill apply: two clusters that share one
// etcd. Each test has a source of its own, and namespaces that no other test has.
type members struct {
	waybill string
	apis    []*api
}

func startMembers(t *testing.T) *members {
	t.Helper()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	return &members{waybill: p.waybill, apis: []*api{
		startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us")),
	}}
}

func TestApply(t *testing.T) {
	t.Parallel()
	m := startMembers(t)
	t.Run("from the first to the last", m.everything)
	t.Run("what somebody changed", m.drift)
	t.Run("what is there already", m.contact)
	t.Run("what another source owns", m.foreign)
	t.Run("kubeconfigs swapped", m.swapped)
	t.Run("Secrets that say how clusters are reached", m.secrets)
	t.Run("a CRD with its object", m.crd)
	t.Run("one refused", m.refused)
	t.Run("the guard", m.guard)
	t.Run("what is left to the cluster", m.left)
	t.Run("what stays", m.preserved)
	t.Run("a deletion that waits", m.waits)
	t.Run("a branch that somebody tampered", m.tampered)
	t.Run("an inventory that is lost", m.lost)
	t.Run("two at once", m.race)
	t.Run("killed before and after each one", m.killed)
	t.Run("a server that is busy", m.busy)
	t.Run("a webhook that is down, a Namespace that ends", m.hindered)
	t.Run("what SOPS encrypted", m.sealed)
	t.Run("statuses", m.statuses)
	t.Run("a branch that clusters share", m.shared)
}

// one is a site with one cluster.
func (m *members) one(t *testing.T) *site {
	t.Helper()
	return newSite(t, m.waybill, map[string]*api{"eu-1": m.apis[0]})
}

func (m *members) two(t *testing.T) *site {
	t.Helper()
	return newSite(t, m.waybill, map[string]*api{"eu-1": m.apis[0], "us-1": m.apis[1]})
}

func wantVerbs(t *testing.T, step string, d done, want map[string]int) {
	t.Helper()
	if got := d.verbs(); !maps.Equal(got, want) {
		t.Errorf("%s: %v was done, want %v: %+v", step, got, want, d)
	}
}

// everything goes from the first apply to the last removal.
func (m *members) everything(t *testing.T) {
	s := m.two(t)
	s.namespace("every", "one", 30)
	s.publish()
	for _, cluster := range []string{"eu-1", "us-1"} {
		if d := s.applied(0, cluster, "--dry-run"); len(d.Actions) != 31 || s.get(cluster, at("Namespace", "", "every")) != nil {
			t.Errorf("a dry run would do %v, or did something", d.verbs())
		}
	}
	out := s.apply(0)
	for _, cluster := range []string{"eu-1", "us-1"} {
		if !strings.Contains(out, cluster) {
			t.Errorf("%s is not in the report:\n%s", cluster, out)
		}
		s.check(cluster)
	}
	requests := s.counting("eu-1")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 || d.Unchanged != 31 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
	if n := requests.total(); n > 30 || requests.writes() != 0 {
		t.Errorf("where nothing changed it took %d requests, of which %d write: %v", n, requests.writes(), requests.list())
	}

	s.namespace("every", "one", 29)
	s.write("other.yaml", configMap("every", "other", "new")+"---\n"+configMap("every", "c0029", "two"))
	s.publish()
	requests.reset()
	wantVerbs(t, "one changed, one new", s.applied(0, "eu-1"), map[string]int{"update": 1, "create": 1})
	if n := requests.matching(http.MethodPatch, "/namespaces/every/"); n != 2 {
		t.Errorf("two objects changed, and there were %d patches: %v", n, requests.list())
	}
	s.check("eu-1")

	s.remove("other.yaml")
	s.publish()
	wantVerbs(t, "two left", s.applied(0, "eu-1"), map[string]int{"delete": 2})
	s.apply(0, "us-1")
	s.check("eu-1")
	s.check("us-1")
	if d := s.applied(0, "us-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
}

// drift is put right: a value, a field that was taken away, an object.
func (m *members) drift(t *testing.T) {
	s := m.one(t)
	s.namespace("drift", "one", 5)
	s.publish()
	s.apply(0)
	a := s.apis["eu-1"]
	a.kubectl("-n", "drift", "patch", "configmap", "c0001", "-p", `{"data":{"value":"edited","theirs":"stays"}}`)
	a.kubectl("-n", "drift", "patch", "configmap", "c0002", "--type=json", "-p", `[{"op":"remove","path":"/data/value"}]`)
	a.kubectl("-n", "drift", "delete", "configmap", "c0003")
	a.kubectl("-n", "drift", "label", "configmap", "c0004", "theirs=stays")
	wantVerbs(t, "three drifted", s.applied(0, "eu-1"), map[string]int{"correct": 2, "create": 1})
	s.check("eu-1")
	if o := s.get("eu-1", at("ConfigMap", "drift", "c0001")); text(o, "data", "theirs") != "stays" {
		t.Errorf("a field that is not ours is gone: %v", o["data"])
	}
	if o := s.get("eu-1", at("ConfigMap", "drift", "c0004")); text(o, "metadata", "labels", "theirs") != "stays" {
		t.Error("a label that is not ours is gone")
	}
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing drifted, and it did %v", d.verbs())
	}
}

// contact meets objects of others: Abort leaves them, Overwrite and --adopt take them over.
func (m *members) contact(t *testing.T) {
	s := m.one(t)
	a := s.apis["eu-1"]
	a.kubectl("create", "namespace", "contact")
	cmd := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: contact}\ndata: {value: theirs, extra: theirs}\n"
	a.apply(fmt.Sprintf(cmd+"---\n"+cmd, "c0000", "c0001"))
	before := a.uids("contact")
	s.namespace("contact", "one", 3)
	s.publish()
	d := s.applied(1, "eu-1")
	wantVerbs(t, "two are somebody's, and the Namespace", d, map[string]int{"create": 1})
	said := fmt.Sprint(d.Refused)
	for _, want := range []string{"kubectl owns .data.value", "conflictResolution: Overwrite", "--adopt"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if o := s.get("eu-1", at("ConfigMap", "contact", "c0000")); text(o, "data", "value") != "theirs" || text(o, "metadata", "annotations", "waybill.dev/owner") != "" {
		t.Errorf("it was touched: %v", o)
	}

	list := s.applied(1, "eu-1", "--adopt")
	if list.Adoption == nil || len(list.verbs()) != 0 {
		t.Fatalf("--adopt without a digest did %v, and lists %v", list.verbs(), list.Adoption)
	}
	if d := s.applied(1, "eu-1", "--adopt=0123456789ab"); len(d.verbs()) != 0 {
		t.Errorf("another digest took over %v", d.verbs())
	}
	s.policy("  conflictResolution: Overwrite\n")
	s.publish()
	// the Namespace was sent along, and by Karmada's rules that aborts
	d = s.applied(1, "eu-1")
	if d.verbs()["adopt"] != 2 || len(d.Refused) != 1 {
		t.Errorf("with Overwrite it did %v and refused %v", d.verbs(), d.Refused)
	}
	digest := s.applied(1, "eu-1", "--adopt").Adoption.Digest
	if d = s.applied(0, "eu-1", "--adopt="+digest); d.verbs()["adopt"] != 1 {
		t.Errorf("the digest took over %v", d.verbs())
	}
	s.check("eu-1")
	if o := s.get("eu-1", at("ConfigMap", "contact", "c0000")); text(o, "data", "extra") != "" {
		t.Error("what the former manager wrote stays for ever")
	}
	now := a.uids("contact")
	delete(now, "contact/c0002")
	same(t, "adopted", before, now)
}

// foreign objects of another source of Waybill are refused, whatever is asked for.
func (m *members) foreign(t *testing.T) {
	first, second := m.one(t), m.one(t)
	first.namespace("foreign", "first", 2)
	first.publish()
	first.apply(0)
	second.policy("  conflictResolution: Overwrite\n")
	second.namespace("foreign", "second", 3)
	second.publish()
	d := second.applied(1, "eu-1")
	wantVerbs(t, "three are another source's", d, map[string]int{"create": 1})
	if len(d.Refused) != 3 || !strings.Contains(fmt.Sprint(d.Refused), first.source) || d.Adoption != nil {
		t.Errorf("it refused %v, and would adopt %v", d.Refused, d.Adoption)
	}
	first.check("eu-1")
}

// swapped kubeconfigs are found out before anything is written.
func (m *members) swapped(t *testing.T) {
	s := m.two(t)
	s.namespace("swapped", "one", 3)
	s.write("clusters/eu-1/own.yaml", configMap("swapped", "own", "eu"))
	s.publish()
	s.apply(0)
	s.namespace("swapped", "two", 3)
	s.publish()
	s.reach("eu-1", s.apis["us-1"].kubeconfig)
	s.reach("us-1", s.apis["eu-1"].kubeconfig)
	eu, us := s.counting("eu-1"), s.counting("us-1")
	out := s.apply(2)
	if !strings.Contains(out, "this is not eu-1: by its inventory, it is us-1") || !strings.Contains(out, "this is not us-1") {
		t.Errorf("it does not say so:\n%s", out)
	}
	if eu.total() == 0 || us.total() == 0 || eu.writes()+us.writes() != 0 {
		t.Errorf("it wrote: %v %v", eu.list(), us.list())
	}

	s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1}\nspec: {syncMode: Push, id: 00000000-0000-0000-0000-000000000000}\n")
	s.publish()
	s.reach("eu-1", s.apis["eu-1"].kubeconfig)
	if out := s.apply(2, "eu-1"); !strings.Contains(out, "its Cluster has the id") {
		t.Errorf("an id that is not the cluster's: %s", out)
	}
}

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// crd comes with its object in one commit, and they leave in one commit.
func (m *members) crd(t *testing.T) {
	s := m.one(t)
	s.namespace("crd", "one", 1)
	s.write("definition.yaml", widgets)
	s.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: crd}\nspec: {size: 3}\n")
	s.publish()
	wantVerbs(t, "a CRD and its object", s.applied(0, "eu-1"), map[string]int{"create": 4})
	s.check("eu-1")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
	s.remove("definition.yaml")
	s.remove("widget.yaml")
	s.publish("--allow-prune")
	d := s.applied(0, "eu-1")
	wantVerbs(t, "they leave", d, map[string]int{"delete": 2})
	s.apply(0, "eu-1")
	if s.get("eu-1", at("CustomResourceDefinition", "", "widgets.example.com")) != nil {
		t.Error("the CRD is still there")
	}
}

// refused is one object; the others are applied, and it is once it is mended.
func (m *members) refused(t *testing.T) {
	s := m.one(t)
	s.namespace("refused", "one", 3)
	web := func(selected string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: refused}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: " + selected + "}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n"
	}
	s.write("web.yaml", web("nothing"))
	s.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: refused}\ntype: kubernetes.io/tls\nstringData: {tls.crt: hunter2, tls.key: hunter3}\n")
	s.write("bad.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: bad, namespace: refused, labels: {a: \"not a label!\"}}\nstringData: {password: hunter2}\n")
	s.publish()
	out := s.apply(1)
	for _, want := range []string{"Deployment.apps/refused/web", "`selector` does not match template `labels`", "Secret/refused/bad", "is not shown"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "hunter") || strings.Contains(out, "not a label!") {
		t.Errorf("it shows what a Secret holds:\n%s", out)
	}
	if s.get("eu-1", at("ConfigMap", "refused", "c0002")) == nil || s.get("eu-1", at("Secret", "refused", "s")) == nil {
		t.Error("others were not applied")
	}
	s.write("web.yaml", web("web"))
	s.remove("bad.yaml")
	s.publish()
	wantVerbs(t, "it is mended", s.applied(0, "eu-1"), map[string]int{"create": 1, "delete": 1})
	if out := s.apply(1, "--wait", "--timeout", "1s"); !strings.Contains(out, "web: not ready: InProgress") {
		t.Errorf("nothing runs Deployments here, and it is ready:\n%s", out)
	}
	// a field that cannot be changed
	s.write("web.yaml", strings.ReplaceAll(web("web"), "app: web", "app: other"))
	s.publish()
	if out := s.apply(1); !strings.Contains(out, "cannot be changed") {
		t.Errorf("it does not say so:\n%s", out)
	}
	if o := s.get("eu-1", at("Deployment", "refused", "web")); o == nil {
		t.Error("it was deleted")
	}
}

// guard holds what would lose too much since the commit that was applied last.
func (m *members) guard(t *testing.T) {
	s := m.one(t)
	s.namespace("guard", "one", 30)
	s.publish()
	s.apply(0)
	for _, n := range []int{24, 19, 15} { // each is within the limits of publishing
		s.namespace("guard", "two", n)
		s.publish()
	}
	if out := s.apply(1); !strings.Contains(out, "held, and nothing was done: it would lose 15 of 31 objects; the guard allows 10") {
		t.Errorf("it is not held:\n%s", out)
	}
	if o := s.get("eu-1", at("ConfigMap", "guard", "c0000")); text(o, "data", "value") != "one" {
		t.Error("something was done")
	}
	s.apply(0, "--allow-prune")
	s.check("eu-1")
	// what was allowed on the way is allowed here
	s.namespace("guard", "two", 2)
	s.publish("--allow-prune")
	s.namespace("guard", "three", 2)
	s.publish()
	s.apply(0)
	s.check("eu-1")
}

// left are fields that an autoscaler decides.
func (m *members) left(t *testing.T) {
	s := m.one(t)
	s.namespace("left", "one", 1)
	web := func(image string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: left}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: " + image + "}]}\n"
	}
	s.write("web.yaml", web("nginx:1"))
	s.write("hpa.yaml", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: left}\nspec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n")
	s.write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: left}\nspec: {ports: [{port: 80}]}\n")
	s.publish()
	s.apply(0)
	replicas := func(want string) {
		t.Helper()
		spec, _ := s.get("eu-1", at("Deployment", "left", "web"))["spec"].(map[string]any)
		if got := fmt.Sprint(spec["replicas"]); got != want {
			t.Errorf("it has %s replicas, want %s", got, want)
		}
	}
	s.write("web.yaml", web("nginx:2"))
	s.publish()
	s.apply(0)
	replicas("3") // nobody scaled it, and it is not scaled to one
	s.write("web.yaml", strings.Replace(web("nginx:2"), "  replicas: 3\n", "", 1))
	s.publish()
	s.apply(0)
	replicas("3") // it is no longer on the branch, and still is not
	s.write("web.yaml", web("nginx:2"))
	s.publish()
	s.apis["eu-1"].kubectl("-n", "left", "scale", "deployment", "web", "--replicas=7")
	s.apply(0)
	replicas("7")
	s.write("web.yaml", web("nginx:3"))
	s.publish()
	s.apply(0)
	replicas("7")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
}

// preserved objects stay when they leave the branch, as nobody's.
func (m *members) preserved(t *testing.T) {
	s := m.one(t)
	s.policy("  preserveResourcesOnDeletion: true\n")
	s.namespace("stays", "one", 12)
	s.publish()
	s.apply(0)
	s.namespace("stays", "one", 11)
	s.publish()
	wantVerbs(t, "one is preserved", s.applied(0, "eu-1"), map[string]int{"release": 1})
	o := s.get("eu-1", at("ConfigMap", "stays", "c0011"))
	if text(o, "data", "value") != "one" || text(o, "metadata", "annotations", "waybill.dev/owner") != "" || text(o, "metadata", "labels", "karmada.io/managed") != "" {
		t.Errorf("it is not as it was, without marks: %v", o)
	}
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("it did %v again", d.verbs())
	}
	s.check("eu-1")
}

// waits for a finalizer, round after round, and is not judged again.
func (m *members) waits(t *testing.T) {
	s := m.one(t)
	s.namespace("waits", "one", 3)
	s.publish()
	s.apply(0)
	a := s.apis["eu-1"]
	a.kubectl("-n", "waits", "patch", "configmap", "c0002", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	s.namespace("waits", "one", 2)
	s.publish()
	for range 2 {
		if out := s.apply(0); !strings.Contains(out, "waits for the finalizers example.com/hold") {
			t.Errorf("it does not say so:\n%s", out)
		}
	}
	// back on the branch while it is being deleted
	s.namespace("waits", "one", 3)
	s.publish()
	if out := s.apply(1); !strings.Contains(out, "it is created anew when it is gone") {
		t.Errorf("it does not say so:\n%s", out)
	}
	a.kubectl("-n", "waits", "patch", "configmap", "c0002", "-p", `{"metadata":{"finalizers":null}}`)
	s.apply(0)
	s.check("eu-1")
}

// tampered branches are not applied: edited, rewritten, or of another cluster.
func (m *members) tampered(t *testing.T) {
	s := m.two(t)
	s.namespace("tampered", "one", 3)
	// Clusters that hold the same share their commits.
	s.write("tampered-us.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: us, namespace: tampered}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
  - targetCluster: {clusterNames: [us-1]}
    overriders: {labelsOverrider: [{operator: add, value: {in: us}}]}
`)
	s.publish()
	s.apply(0)
	first := strings.TrimSpace(s.git(s.bare, "rev-parse", "waybill/cluster/eu-1"))
	s.namespace("tampered", "two", 3)
	s.publish()
	s.apply(0)
	second := strings.TrimSpace(s.git(s.bare, "rev-parse", "waybill/cluster/eu-1"))
	branch := "refs/heads/waybill/cluster/eu-1"

	s.git(s.bare, "update-ref", branch, first)
	if out := s.apply(2, "eu-1"); !strings.Contains(out, "does not come after") {
		t.Errorf("an older head: %s", out)
	}
	if o := s.get("eu-1", at("ConfigMap", "tampered", "c0000")); text(o, "data", "value") != "two" {
		t.Error("an older head was applied")
	}
	s.apply(0, "eu-1", "--rollback")
	s.check("eu-1")
	s.git(s.bare, "update-ref", branch, second)
	s.apply(0, "eu-1")

	clone := filepath.Join(t.TempDir(), "clone")
	s.git("", "clone", "-q", "-b", "waybill/cluster/eu-1", s.bare, clone)
	s.git(clone, "rm", "-q", "manifests/tampered/configmap/c0000.yaml")
	s.git(clone, "commit", "-q", "-m", "hand")
	s.git(clone, "push", "-q")
	if out := s.apply(2, "eu-1"); !strings.Contains(out, "somebody edited its files") {
		t.Errorf("an edited head: %s", out)
	}
	s.git(s.bare, "update-ref", branch, "refs/heads/waybill/cluster/us-1")
	if out := s.apply(2, "eu-1"); !strings.Contains(out, "was published for the cluster us-1") {
		t.Errorf("the head of another cluster: %s", out)
	}
	if s.get("eu-1", at("ConfigMap", "tampered", "c0000")) == nil {
		t.Error("what was applied did not stay")
	}
}

// lost inventories are known again from what is there, and delete nothing in that round.
func (m *members) lost(t *testing.T) {
	s := m.one(t)
	s.namespace("lost", "one", 5)
	s.publish()
	s.apply(0)
	before := s.apis["eu-1"].uids("lost")
	a := s.apis["eu-1"]
	for _, o := range a.list("/api/v1/namespaces/waybill-system/secrets") {
		a.kubectl("-n", "waybill-system", "delete", "secret", o.Metadata.Name)
	}
	s.namespace("lost", "one", 4)
	s.publish()
	wantVerbs(t, "what is there is known again", s.applied(0, "eu-1"), map[string]int{"update": 5})
	same(t, "after the inventory was lost", before, a.uids("lost"))
	s.namespace("lost", "one", 3)
	s.publish()
	wantVerbs(t, "and then what leaves is deleted", s.applied(0, "eu-1"), map[string]int{"delete": 1})
	for _, where := range s.owned("eu-1") {
		if strings.HasSuffix(where, "/c0004") {
			if status, out := s.run("cluster", "orphans", "eu-1", "-C", s.source, "--to", s.bare, "--kubeconfig-dir", s.kubeconfigs); status != 0 || out != "ConfigMap/lost/c0004\n" {
				t.Errorf("orphans: %d\n%s", status, out)
			}
			return // it is not on a branch since the inventory is known, and so stays
		}
	}
	t.Error("something was deleted that no inventory had")
}

// race has two apply at once: each leaves what the branch has.
func (m *members) race(t *testing.T) {
	s := m.one(t)
	for n := range 3 {
		s.namespace("race", fmt.Sprint("value ", n), 60)
		s.publish()
		first, second := s.command(s.applyArgs()...), s.command(s.applyArgs()...)
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		if out, err := second.CombinedOutput(); err != nil && !strings.Contains(string(out), "somebody else applies") {
			t.Errorf("the second: %v\n%s", err, out)
		}
		_ = first.Wait() // what it came to is checked below
		s.apply(0)
		s.check("eu-1")
		if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
			t.Errorf("nothing changed, and it did %v", d.verbs())
		}
	}
}

// killed runs a round that creates, updates, adopts and deletes, and kills it at each of its
// writes, once before the server gets it and once before the answer arrives. Run again, it
// comes to the same.
func (m *members) killed(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			s := m.one(t)
			name := fmt.Sprintf("killed-%v-%d", after, n)
			s.namespace(name, "one", 4)
			s.publish()
			s.apply(0)
			s.namespace(name, "two", 3)
			s.write("new.yaml", configMap(name, "new", "two"))
			s.publish()
			proxy := s.counting("eu-1")
			ended := proxy.kill(s.command(s.applyArgs()...), n, after)
			proxy.pass()
			s.apply(0)
			s.check("eu-1")
			if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
				t.Errorf("nothing changed, and it did %v", d.verbs())
			}
			if t.Failed() {
				t.Fatalf("killed at write %d, after the server had it: %v: %v", n, after, proxy.list())
			}
			if ended { // there is no n-th write
				if n < 6 {
					t.Errorf("there were only %d writes", n-1)
				}
				break
			}
		}
	}
}

// statuses are those that docs/exit-codes.md lists.
func (m *members) statuses(t *testing.T) {
	s := m.one(t)
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/exit-apply.txt"},
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"exits": exits.With},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(m.waybill)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("KUBECONFIGS", s.kubeconfigs)
			e.Setenv("HOME", e.WorkDir)
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				e.Setenv("GIT_"+who+"_NAME", "t")
				e.Setenv("GIT_"+who+"_EMAIL", "t@example.com")
			}
			return nil
		},
	})
}

// busy servers, and proxies on the way that lose answers, are asked again.
func (m *members) busy(t *testing.T) {
	s := m.one(t)
	s.namespace("busy", "one", 20)
	s.publish()
	requests := s.counting("eu-1")
	requests.disturb = func(n int, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		switch n % 7 {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 5: // the server does it, and its answer is lost
			pass(httptest.NewRecorder())
			panic(http.ErrAbortHandler)
		default:
			pass(w)
		}
	}
	s.apply(0)
	requests.disturb = nil
	s.check("eu-1")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
}

// hindered objects, behind a webhook that is down or in a Namespace that ends, hinder no others.
func (m *members) hindered(t *testing.T) {
	s := m.one(t)
	a := s.apis["eu-1"]
	names := []string{"hindered", "hooked", "ending"}
	for _, name := range names {
		s.namespace(name, "one", 2)
	}
	s.publish()
	s.apply(0)
	a.apply(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: down}
webhooks:
- name: down.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hooked}}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
`)
	a.kubectl("delete", "namespace", "ending", "--wait=false") // which no controller ends here
	for _, name := range names {
		s.namespace(name, "two", 3)
	}
	s.publish()
	asked := func() bool { // an API server takes a moment to know a webhook
		_, body := a.do(http.MethodPost, "/api/v1/namespaces/hooked/configmaps?dryRun=All", "application/json", []byte(`{"metadata":{"name":"probe"}}`))
		return strings.Contains(string(body), "failed calling webhook")
	}
	eventually(t, "the webhook is asked", func() (bool, string) { return asked(), "" })
	out := s.apply(1)
	for _, want := range []string{`failed calling webhook "down.example.com"`, "Namespace/ending: it is being deleted", "ConfigMap/ending/c0002: cannot create it"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if o := s.get("eu-1", at("ConfigMap", "hindered", "c0002")); text(o, "data", "value") != "two" {
		t.Error("others were not applied")
	}
	a.kubectl("delete", "validatingwebhookconfiguration", "down")
	eventually(t, "the webhook is not asked any more", func() (bool, string) { return !asked(), "" })
	s.apply(1) // the Namespace still ends
	if o := s.get("eu-1", at("ConfigMap", "hooked", "c0002")); text(o, "data", "value") != "two" {
		t.Error("what the webhook refused was not applied afterwards")
	}
}
