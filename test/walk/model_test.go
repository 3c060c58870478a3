package walk

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// doc is one document of the source. Which fields count depends on its kind.
type doc struct {
	kind, name string // ConfigMap, Deployment, StatefulSet; Cluster, Policy, Override, Strategy

	version, replicas int // of an object

	selects   []string // names of objects: what a policy places
	clusters  []string // where
	weights   []int    // of clusters, if the replicas are divided; nil if they are not
	suspended []string // clusters that get nothing new

	own string // folder of a cluster; empty for none

	object, cluster string // where an override is tried
	fails           bool
	value           int // that it writes

	ring  string   // of a cluster; empty for none
	bound string   // the strategy of a policy; empty for none
	by    strategy // of a strategy

	fault string // why it cannot be read; empty if it can
	salt  int    // makes one broken text differ from another

	// was is the document when it could be read last; nil if that was never. Its scope is
	// the folder of a cluster that it was in.
	was   *doc
	scope string
	read  bool // it could be read at the last commit
}

func (d *doc) isObject() bool {
	return d.kind == "ConfigMap" || d.kind == "Deployment" || d.kind == "StatefulSet"
}

func (d *doc) isWorkload() bool { return d.isObject() && d.kind != "ConfigMap" }

// ref is what the manifest of an object is called on a branch.
func (d *doc) ref() string { return d.kind + "/shop/" + d.name }

// text is the document as YAML. One with a fault is none, or is no manifest.
func (d *doc) text() string {
	s := d.sound()
	switch d.fault {
	case "malformed":
		return fmt.Sprintf("%sbroken: [%d\n", s, d.salt)
	case "no name":
		return strings.Replace(s, "name: "+d.name, fmt.Sprintf("annotations: {salt: s%d}", d.salt), 1)
	}
	return s
}

func (d *doc) sound() string {
	switch d.kind {
	case "ConfigMap":
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop, labels: {a: b}}\ndata: {version: v%d}\n", d.name, d.version)
	case "Deployment", "StatefulSet":
		return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: shop, labels: {a: b}}\nspec:\n  replicas: %d\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: \"%[2]s:v%[4]d\"}]}}\n", d.kind, d.name, d.replicas, d.version)
	case "Cluster":
		notes := ""
		if d.own != "" {
			notes = ", annotations: {waybill.dev/path: " + d.own + "}"
		}
		if d.ring != "" {
			notes += ", labels: {ring: " + d.ring + "}"
		}
		return fmt.Sprintf("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s%s}\nspec: {syncMode: Pull}\n", d.name, notes)
	case "Override":
		operator := "add"
		if d.fails {
			operator = "replace"
		}
		return policyHead("OverridePolicy", d.name, "") + selectors([]string{d.object}) +
			fmt.Sprintf("  overrideRules:\n  - targetCluster: {clusterNames: [%s]}\n    overriders: {plaintext: [{path: /metadata/labels/over, operator: %s, value: v%d}]}\n", d.cluster, operator, d.value)
	case "Strategy":
		return d.by.text(d.name)
	}
	return d.policy()
}

func (d *doc) policy() string {
	var b strings.Builder
	notes := ""
	if d.bound != "" {
		notes = ", annotations: {waybill.dev/rollout: " + d.bound + "}"
	}
	b.WriteString(policyHead("PropagationPolicy", d.name, notes) + selectors(d.selects))
	if len(d.suspended) > 0 {
		fmt.Fprintf(&b, "  suspension: {dispatchingOnClusters: {clusterNames: [%s]}}\n", strings.Join(d.suspended, ", "))
	}
	fmt.Fprintf(&b, "  placement:\n    clusterAffinity: {clusterNames: [%s]}\n", strings.Join(d.clusters, ", "))
	if d.weights == nil {
		return b.String()
	}
	b.WriteString("    replicaScheduling:\n      replicaSchedulingType: Divided\n      replicaDivisionPreference: Weighted\n      weightPreference:\n        staticWeightList:\n")
	for i, c := range d.clusters {
		fmt.Fprintf(&b, "        - {targetCluster: {clusterNames: [%s]}, weight: %d}\n", c, d.weights[i])
	}
	return b.String()
}

func policyHead(kind, name, notes string) string {
	return fmt.Sprintf("apiVersion: policy.karmada.io/v1alpha1\nkind: %s\nmetadata: {name: %s, namespace: shop%s}\nspec:\n", kind, name, notes)
}

// selectors select objects by name, and one that is nowhere, so that the list is never empty.
func selectors(names []string) string {
	var b strings.Builder
	b.WriteString("  resourceSelectors:\n")
	for _, name := range append([]string{"nothing"}, names...) {
		for _, kind := range []string{"ConfigMap", "Deployment", "StatefulSet"} {
			version := "apps/v1"
			if kind == "ConfigMap" {
				version = "v1"
			}
			fmt.Fprintf(&b, "  - {apiVersion: %s, kind: %s, name: %s}\n", version, kind, name)
		}
	}
	return b.String()
}

// unit is documents that stand together.
type unit struct {
	kind  string // file, root of Kustomize, release
	name  string // of the release, and of its chart
	path  string // of the file, the folder or the file of the release
	docs  []*doc
	fault string // why nothing of it can be read: of a root or a release
	salt  int
}

// whole reports that a unit can be read whole or not at all.
func (u *unit) whole() bool { return u.kind != "file" }

// files are the unit's files, by path.
func (u *unit) files() map[string]string {
	switch u.kind {
	case "root":
		return u.root()
	case "release":
		return u.release()
	}
	texts := make([]string, len(u.docs))
	for i, d := range u.docs {
		texts[i] = d.text()
	}
	return map[string]string{u.path: strings.Join(texts, "---\n")}
}

func (u *unit) root() map[string]string {
	out := map[string]string{}
	var resources []string
	for _, d := range u.docs {
		name := strings.ToLower(d.kind) + "-" + d.name + ".yaml"
		out[path.Join(u.path, name)] = d.text()
		resources = append(resources, name)
	}
	if u.fault == "missing" {
		resources = append(resources, fmt.Sprintf("missing-%d.yaml", u.salt))
	}
	list := fmt.Sprintf("resources: [%s]\n", strings.Join(resources, ", "))
	if u.fault == "malformed" {
		list += fmt.Sprintf("broken: [%d\n", u.salt)
	}
	out[path.Join(u.path, "kustomization.yaml")] = list
	return out
}

func (u *unit) release() map[string]string {
	name, chart := u.name, "charts/"+u.name
	text := fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: shop}\nspec:\n  chart: {spec: {chart: ./%s}}\n", name, chart)
	out := map[string]string{chart + "/Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"}
	for _, d := range u.docs {
		out[chart+"/templates/"+strings.ToLower(d.kind)+"-"+d.name+".yaml"] = d.text()
	}
	switch u.fault {
	case "malformed":
		text += fmt.Sprintf("broken: [%d\n", u.salt)
	case "missing":
		out[chart+"/templates/fails.yaml"] = fmt.Sprintf("{{ fail \"salt %d\" }}\n", u.salt)
	}
	out[u.path] = text
	return out
}

// world is a source, as it is meant.
type world struct {
	units []*unit
	guard string // of waybill.yaml; empty for none
	// folders says that clusters share a branch.
	folders bool
	names   int // that were given to units
	// isStaged says that there are more clusters, which get changes in stages, and isCalm that nothing breaks on the way.
	isStaged, isCalm bool
}

// clusters are the names that clusters may have.
func (w *world) clusters() []string {
	all := []string{"c1", "c2", "c3", "c4", "c5", "c6"}
	if w.isStaged {
		return all
	}
	return all[:4]
}

// files are the files of the source.
func (w *world) files() map[string]string {
	out := map[string]string{}
	var spec []string
	if w.guard != "" {
		spec = append(spec, "guard: "+w.guard)
	}
	if w.folders {
		spec = append(spec, "publish: {layout: folders}")
	}
	if len(spec) > 0 {
		out["waybill.yaml"] = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {" + strings.Join(spec, ", ") + "}\n"
	}
	for _, u := range w.units {
		maps.Copy(out, u.files())
	}
	return out
}

// docs yields every document with its unit.
func (w *world) docs(of func(*doc) bool) []*doc {
	var out []*doc
	for _, u := range w.units {
		for _, d := range u.docs {
			if of(d) {
				out = append(out, d)
			}
		}
	}
	return out
}

func (w *world) unitOf(d *doc) *unit {
	for _, u := range w.units {
		if slices.Contains(u.docs, d) {
			return u
		}
	}
	return nil
}

// readable reports whether a document can be read as the source stands.
func (w *world) readable(d *doc) bool {
	u := w.unitOf(d)
	if d.fault != "" || !u.readable() {
		return false
	}
	scope := w.scope(u)
	same := w.docs(func(o *doc) bool {
		return o.kind == d.kind && o.name == d.name && o.fault == "" && w.unitOf(o).readable() && w.scope(w.unitOf(o)) == scope
	})
	return len(same) == 1
}

// readable reports whether a unit can be read; of a file only documents cannot.
func (u *unit) readable() bool {
	return !u.whole() || u.fault == "" && !slices.ContainsFunc(u.docs, func(d *doc) bool { return d.fault != "" })
}

// scope is the folder of a cluster that a unit is in; empty for none. Such folders are in
// a folder of their own, whether there is a cluster for them or not.
func (w *world) scope(u *unit) string {
	if strings.HasPrefix(u.path, "own") {
		return path.Dir(u.path)
	}
	return ""
}

// commit notes what can be read.
func (w *world) commit() {
	readable := map[*doc]bool{}
	for _, d := range w.docs(func(*doc) bool { return true }) {
		readable[d] = w.readable(d)
	}
	for _, u := range w.units {
		for _, d := range u.docs {
			if d.read = readable[d]; d.read {
				was := *d
				was.was, was.scope = nil, w.scope(u)
				d.was = &was
			}
		}
	}
}

// meant is what the source means: what cannot be read means what it meant when it could be.
// Of two documents of one name, the one that could be read counts.
func (w *world) meant() []*doc {
	var out []*doc
	seen := map[string]bool{}
	for _, d := range w.docs(func(d *doc) bool { return d.was != nil }) {
		if key := d.was.scope + " " + d.was.ref(); !seen[key] {
			seen[key] = true
			out = append(out, d.was)
		}
	}
	return out
}

// troubled reports that something cannot be read.
func (w *world) troubled() bool {
	return len(w.docs(func(d *doc) bool { return !d.read })) > 0 || slices.ContainsFunc(w.units, func(u *unit) bool { return !u.readable() })
}

// scaled returns a source of which all can be read, with more replicas.
func (w *world) scaled() world {
	next := world{guard: w.guard, folders: w.folders, isStaged: w.isStaged, isCalm: w.isCalm}
	for _, u := range w.units {
		c := *u
		c.docs = nil
		for _, d := range u.docs {
			more := *d
			more.replicas += 840
			c.docs = append(c.docs, &more)
		}
		next.units = append(next.units, &c)
	}
	next.commit()
	return next
}

// cell is what a cluster should hold of an object.
type cell struct {
	version  string
	replicas int    // 0 for what has none
	over     string // what an override wrote; empty for none
}

// wants is what a source means for its clusters.
type wants struct {
	cells map[string]map[string]cell // by cluster and object
	asked map[string]int             // by object: the replicas, where they are divided
}

// clone is the same with cells of its own.
func (w *wants) clone() wants {
	is := wants{cells: map[string]map[string]cell{}, asked: w.asked}
	for cluster, cells := range w.cells {
		is.cells[cluster] = maps.Clone(cells)
	}
	return is
}

// evaluate says what documents mean.
func evaluate(docs []*doc) wants {
	w := wants{cells: map[string]map[string]cell{}, asked: map[string]int{}}
	folders := map[string]string{} // the cluster of a folder
	var policies, overrides []*doc
	for _, d := range docs {
		switch d.kind {
		case "Cluster":
			w.cells[d.name] = map[string]cell{}
			if d.own != "" {
				folders[d.own] = d.name
			}
		case "Policy":
			policies = append(policies, d)
		case "Override":
			overrides = append(overrides, d)
		}
	}
	byName := func(a, b *doc) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(policies, byName)
	slices.SortFunc(overrides, byName)
	for _, d := range docs {
		switch {
		case !d.isObject():
		case d.scope != "" && folders[d.scope] != "":
			w.put(d, folders[d.scope], d.replicas)
		default:
			i := slices.IndexFunc(policies, func(p *doc) bool { return slices.Contains(p.selects, d.name) })
			if i >= 0 {
				w.place(d, policies[i])
				w.override(d, overrides)
			}
		}
	}
	return w
}

// override has overrides write to an object, each in a cluster, in the order of their names.
func (w *wants) override(d *doc, overrides []*doc) {
	for _, o := range overrides {
		if c, ok := w.cells[o.cluster][d.ref()]; ok && o.object == d.name && !o.fails {
			c.over = fmt.Sprint("v", o.value)
			w.cells[o.cluster][d.ref()] = c
		}
	}
}

// place gives an object to the clusters of a policy.
func (w *wants) place(d, p *doc) {
	total := 0
	for i, c := range p.clusters {
		if w.cells[c] != nil && p.weights != nil {
			total += p.weights[i]
		}
	}
	for i, c := range p.clusters {
		switch {
		case w.cells[c] == nil:
		case p.weights == nil || !d.isWorkload():
			w.put(d, c, d.replicas)
		default:
			w.put(d, c, d.replicas*p.weights[i]/total)
			w.asked[d.ref()] = d.replicas
		}
	}
}

func (w *wants) put(d *doc, cluster string, replicas int) {
	c := cell{version: fmt.Sprint("v", d.version)}
	if d.isWorkload() {
		c.replicas = replicas
	}
	w.cells[cluster][d.ref()] = c
}
