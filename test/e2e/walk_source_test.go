//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/test/audit"
)

// wish is what the source of a walk says at the moment: a model, from which its files are written, and
// beside them what each cluster is to hold (audit.Wanted).
type wish struct {
	at *site

	clusters                     []string
	things                       map[string]string // ConfigMaps by name: the cluster that each is pinned to, or ""
	values                       map[string]int    // what a ConfigMap or a Widget holds
	widgets                      map[string]bool   // there are, where their kind is
	members                      map[string]bool   // of a kustomization: it lists them
	hasKind, hasExtra            bool
	cordoned, drained, suspended map[string]bool
	returning                    map[string]bool // no longer drained, but what began to leave leaves first, as Karmada has it
	replicas, round              int
	agentKey                     string
}

// The namespaces of a walk.
const (
	walks = "walk"
	extra = "extra"
)

func newWish(s *site, agentKey string) *wish {
	w := &wish{
		at: s, clusters: slices.Sorted(maps.Keys(s.apis)), things: map[string]string{}, values: map[string]int{}, widgets: map[string]bool{},
		members: map[string]bool{"m0": true}, cordoned: map[string]bool{}, drained: map[string]bool{}, suspended: map[string]bool{}, returning: map[string]bool{},
		hasKind: true, hasExtra: true, replicas: 6, agentKey: agentKey,
	}
	for i := range 8 {
		w.things[fmt.Sprint("t", i)] = ""
	}
	for i := range 3 {
		w.things[fmt.Sprint("p", i)] = w.clusters[i]
		w.members[fmt.Sprint("m", i+1)] = true
		w.widgets[fmt.Sprint("w", i)] = true
	}
	return w
}

// store writes the files that differ, and commits them.
func (w *wish) store(message string) {
	w.at.t.Helper()
	w.round++
	for _, c := range marked(w.returning) {
		if !w.isLeft(c) {
			delete(w.returning, c)
		}
	}
	files := map[string]string{"waybill.yaml": walkConfig, "policy.yaml": walkPolicy, "base.yaml": w.base(), "wanted.txt": w.wanted()}
	for _, c := range w.clusters {
		files["clusters/"+c+".yaml"] = w.cluster(c)
	}
	for name, at := range w.things {
		files["things/"+name+".yaml"] = configMap(walks, name, fmt.Sprint(w.values[name]))
		if at != "" {
			files["pinned/"+name+".yaml"] = fmt.Sprintf("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: %s}\nspec:\n"+
				"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: %[1]s}]\n  placement: {clusterAffinity: {clusterNames: [%[3]s]}}\n", name, walks, at)
		}
	}
	if w.hasKind {
		files["kind.yaml"] = widgets
		for name := range w.widgets {
			files["widgets/"+name+".yaml"] = fmt.Sprintf("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: %s, namespace: %s}\nspec: {size: %d}\n", name, walks, w.values[name])
		}
	}
	if w.hasExtra {
		files["extra.yaml"] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n---\n" + configMap(extra, "one", "1") + "---\n" + configMap(extra, "two", "2")
	}
	list := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		files["app/"+name+".yaml"] = configMap(walks, name, fmt.Sprint(w.values[name]))
		if w.members[name] {
			list += "- " + name + ".yaml\n"
		}
	}
	files["app/kustomization.yaml"] = list
	w.replace(files)
	w.at.git(w.at.source, "add", "-A")
	w.at.git(w.at.source, "commit", "-q", "--allow-empty", "-m", message)
}

// isLeft reports that something is leaving a cluster.
func (w *wish) isLeft(cluster string) bool {
	return exec.Command("git", "-C", w.at.bare, "grep", "-q", "fromCluster: "+cluster+"$", "waybill/state", "--", "bindings").Run() == nil
}

// replace has the source hold these files and no others.
func (w *wish) replace(files map[string]string) {
	w.at.t.Helper()
	for path := range strings.FieldsSeq(w.at.git(w.at.source, "ls-files")) {
		if _, stays := files[path]; !stays {
			w.at.remove(path)
		}
	}
	for path, text := range files {
		if old, err := os.ReadFile(filepath.Join(w.at.source, path)); err != nil || string(old) != text {
			w.at.write(path, text)
		}
	}
}

// base changes with each commit, so that each is seen on every branch.
func (w *wish) base() string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: walk}\n---\n" + configMap(walks, "round", fmt.Sprint(w.round)) + fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: walk}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
`, w.replicas)
}

const walkConfig = `apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  namespaces: all
  failover: {enabled: true, gracefulEvictionTimeout: 2m}
`

const walkPolicy = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  placement: {}
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap}
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}
  - {apiVersion: example.com/v1, kind: Widget}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: walk}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: dead}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: dead, effect: NoExecute}]
`

func (w *wish) cluster(name string) string {
	mode, annotations, taints := "Push", "", ""
	if name == "eu-1" {
		mode, annotations = "Pull", "    waybill.dev/agent-key: "+w.agentKey+"\n"
	}
	if w.suspended[name] {
		annotations += "    waybill.dev/suspended: \"the walk\"\n"
	}
	if w.cordoned[name] {
		taints += "  - {key: cluster.karmada.io/unschedulable, effect: NoSchedule}\n"
	}
	if w.drained[name] {
		taints += "  - {key: waybill.dev/drain, effect: NoExecute}\n"
	}
	if annotations != "" {
		annotations = "  annotations:\n" + annotations
	}
	if taints != "" {
		taints = "  taints:\n" + taints
	}
	return "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: " + name + "\n" + annotations + "spec:\n  syncMode: " + mode + "\n" + taints
}

// wanted is what each cluster is to hold, for the oracle.
func (w *wish) wanted() string {
	var lines []string
	for _, c := range w.clusters {
		class := audit.Must
		if w.cordoned[c] {
			class = audit.May
		}
		add := func(class, object string) { lines = append(lines, class+" "+c+" "+object) }
		for _, object := range w.protected() { // what takes data with it stays, drained or not, unless somebody allows that, too
			if w.drained[c] || w.returning[c] {
				add(audit.May, object)
			} else {
				add(class, object)
			}
		}
		if w.drained[c] || w.returning[c] {
			class = audit.Free
		}
		for _, object := range w.objects(c) {
			add(class, object)
		}
		add(audit.Free, "deployments.apps/walk/web")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// protected are the Namespaces and kinds that every cluster is to have.
func (w *wish) protected() []string {
	all := []string{"namespaces/" + walks}
	if w.hasExtra {
		all = append(all, "namespaces/"+extra)
	}
	if w.hasKind {
		all = append(all, "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com")
	}
	return all
}

// objects are the others, but the Deployment, which is divided.
func (w *wish) objects(cluster string) []string {
	all := []string{"configmaps/walk/round"}
	for name, at := range w.things {
		if at == "" || at == cluster {
			all = append(all, "configmaps/walk/"+name)
		}
	}
	for name, isListed := range w.members {
		if isListed {
			all = append(all, "configmaps/walk/"+name)
		}
	}
	if w.hasExtra {
		all = append(all, "configmaps/extra/one", "configmaps/extra/two")
	}
	if w.hasKind {
		for name := range w.widgets {
			all = append(all, "widgets.example.com/walk/"+name)
		}
	}
	return all
}
