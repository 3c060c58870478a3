package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// virtuals are the virtual clusters of a plan. The zero value has none.
type virtuals struct {
	fleet *virtual.Fleet
	// has are the namespaces of templates that each virtual cluster has, and ids identify these
	// and the mapping; nil and empty for clusters with an API server of their own.
	has []map[string]bool
	ids []string
	// bare are the contents of one decision.
	bases map[base]map[string]any
}

// number is that of a cluster among virtual ones, for its class: 0 for one that is none.
func (v *virtuals) number(cluster int) int {
	if v.fleet.At(cluster) == nil {
		return 0
	}
	return cluster + 1
}

// id identifies how a virtual cluster, by its number, rewrites manifests.
func (v *virtuals) id(number int) string {
	if number == 0 {
		return ""
	}
	return v.ids[number-1]
}

// readVirtual finds out which namespaces virtual clusters have: those of what is sent to them,
// and the Namespaces that are sent themselves.
func (w *writer) readVirtual() {
	v := w.in.Policies.Virtual
	if v == nil {
		return
	}
	clusters := w.in.Policies.Fleet.Clusters()
	w.virtual = virtuals{fleet: v, has: make([]map[string]bool, len(clusters)), ids: make([]string, len(clusters)), bases: map[base]map[string]any{}}
	for _, p := range v.Problems() {
		w.report(diag.Diagnostic{
			Code: diag.BadVirtual, Severity: diag.Error, Pos: w.in.Policies.ClusterPos(p.Cluster, p.Annotation),
			Message: fmt.Sprintf("the virtual Cluster %s: %s", p.Cluster, p.Message), Hint: p.Hint,
		})
	}
	for i := range clusters {
		if v.At(i) != nil {
			w.virtual.has[i] = map[string]bool{}
		}
	}
	for n := range w.in.Decisions {
		w.noteNamespace(&w.in.Decisions[n])
	}
	for i, c := range clusters {
		m := v.At(i)
		if m == nil {
			continue
		}
		for _, o := range w.in.Bound[c.Name] {
			w.virtual.has[i][o.Ref().Namespace] = true
		}
		id, err := json.Marshal([]any{m, w.virtual.has[i]})
		if err != nil {
			panic("manifest: texts do not encode: " + err.Error())
		}
		sum := sha256.Sum256(id)
		w.virtual.ids[i] = string(sum[:])
	}
}

// noteNamespace notes the namespace of a template where virtual clusters get it.
func (w *writer) noteNamespace(d *schedule.Decision) {
	namespace, find := d.Ref().Namespace, w.in.Policies.Finder()
	if r := d.Ref(); r.Kind == "Namespace" && r.Group == "" {
		namespace = r.Name
		if w.in.Config.Namespaces == render.NamespacesAll && !w.in.Policies.Skips.Namespace(namespace, d.Template.Subject.Labels) {
			for i := range w.virtual.has {
				if w.virtual.has[i] != nil {
					w.virtual.has[i][namespace] = true
				}
			}
		}
	}
	for _, t := range d.Targets {
		if i, ok := find(t.Name); ok && w.virtual.has[i] != nil && namespace != "" {
			w.virtual.has[i][namespace] = true
		}
	}
}

// bare is what a content is made of before it is mapped.
type base struct {
	object *object.Object
	class  class
}

// shared returns the content of a manifest before it is mapped, which is made once for the virtual
// clusters that differ in nothing else. One for which scripts ran is made for each: a plan that
// remembers some of them takes as many steps as one that does not.
func (w *writer) shared(d *schedule.Decision, v template.Variant, k class, rules override.Rules) (map[string]any, *diag.Diagnostic) {
	of := base{v.Object, k}
	of.class.virtual, of.class.recipients = 0, ""
	if content, ok := w.virtual.bases[of]; ok {
		return content, nil
	}
	before := w.in.Policies.Interpreter.Spent()
	content, bad := w.revised(d, v, k)
	if bad == nil {
		content, bad = overridden(d, v, k, rules, content)
	}
	if bad == nil && w.in.Policies.Interpreter.Spent() == before {
		w.virtual.bases[of] = content
	}
	return content, bad
}

// mapped returns the content of a manifest as the API server of a class is to hold it, and what
// in it is to be told.
func (w *writer) mapped(o *object.Object, content map[string]any, k class) (map[string]any, []virtual.Text, *diag.Diagnostic) {
	if k.virtual == 0 {
		return content, nil, nil
	}
	m, has := w.virtual.fleet.At(k.virtual-1), w.virtual.has[k.virtual-1]
	var texts []virtual.Text
	if !o.Private() {
		texts = m.Texts(content, func(namespace string) bool { return has[namespace] })
	}
	content, err := m.Rewrite(content, func(namespace string) bool { return has[namespace] })
	if err != nil {
		return nil, nil, &diag.Diagnostic{
			Code: diag.Unmapped, Severity: diag.Error, Pos: o.Origin(),
			Message: fmt.Sprintf("%s: %s", o.Ref(), err.Message), Hint: err.Hint,
		}
	}
	return content, texts, nil
}

// told is a text of a manifest in a virtual cluster.
type told struct {
	virtual.Text

	cluster int
}

// sayTexts warns of names of Services in free text, each once for all virtual clusters.
func (w *writer) sayTexts(o *object.Object, texts []told) {
	type place struct{ path, name string }
	clusters := map[place][]string{}
	var first []told
	for _, t := range texts {
		at := place{object.FieldPath(t.Path), t.Name}
		if clusters[at] == nil {
			first = append(first, t)
		}
		clusters[at] = append(clusters[at], w.cluster(t.cluster))
	}
	for _, t := range first {
		path := object.FieldPath(t.Path)
		w.report(diag.Diagnostic{
			Code: diag.ServiceText, Severity: diag.Warning, Pos: o.Origin(),
			Message: fmt.Sprintf("%s: %s names %s, which is %s in the virtual cluster %s; nothing rewrites text (virtual clusters %s)",
				o.Ref(), path, t.Name, t.Want, w.cluster(t.cluster), words.List(clusters[place{path, t.Name}])),
			Hint: "leave the namespace out where the Service is in the same one, or override the text for each virtual cluster",
		})
	}
}

func (w *writer) cluster(i int) string { return w.in.Policies.Fleet.Clusters()[i].Name }

// virtualDefault returns the virtual clusters that get the Namespace default: they have none
// that is theirs.
func (w *writer) virtualDefault(r object.Ref, used []bool, had func(int) bool) (targets []schedule.Target) {
	if r.Name != "default" || w.virtual.fleet == nil || w.in.Config.Namespaces == render.NamespacesNone {
		return nil
	}
	for i, c := range w.in.Policies.Fleet.Clusters() {
		if w.virtual.has[i] != nil && (used != nil && used[i] || had(i)) {
			targets = append(targets, schedule.Target{Name: c.Name})
		}
	}
	return targets
}

// settleVirtual settles what is wanted of virtual clusters together: what cannot be told is
// blocked, and what has no namespace goes to their host.
func (w *writer) settleVirtual() {
	v := w.virtual.fleet
	if v == nil {
		return
	}
	used := w.usedNamespaces()
	w.sayMissing(used)
	for _, c := range v.Clashes(used) {
		w.clash(c)
	}
	for i := range w.in.Policies.Fleet.Clusters() {
		if !v.Wrong(i) {
			continue
		}
		for n := range w.rows {
			w.rows[n].stop(i, NotMapped)
			if !w.rows[n].wants(i) {
				w.rows[n].block(i, NotMapped)
			}
		}
	}
	for n := range w.rows {
		if virtual.Shared(w.rows[n].Ref) {
			w.share(&w.rows[n])
		}
	}
}

// stop blocks what is wanted in a cluster, which is then not known.
func (r *Row) stop(cluster int, why Block) {
	for n := range r.Wants {
		if int(r.Wants[n].Cluster) == cluster {
			r.Wants[n].Blob = Unwritten
			r.block(cluster, why)
		}
	}
}

// sayMissing warns of namespaces of virtual clusters that no Namespace is sent for.
func (w *writer) sayMissing(used map[string][]bool) {
	if w.in.Config.Namespaces == render.NamespacesNone {
		return
	}
	for _, namespace := range slices.Sorted(maps.Keys(used)) {
		if namespace == "" || match.ClustersOwn(object.Ref{Kind: "Namespace", Name: namespace}) && namespace != "default" {
			continue
		}
		var lack []string
		at := w.byRef[object.Ref{Kind: "Namespace", Name: namespace}]
		_, sent := w.byRef[object.Ref{Kind: "Namespace", Name: namespace}]
		for i, uses := range used[namespace] {
			if uses && w.virtual.has[i] != nil && !w.virtual.fleet.Wrong(i) && (!sent || !w.rows[at].wants(i)) {
				lack = append(lack, w.cluster(i))
			}
		}
		if len(lack) > 0 {
			w.report(diag.Diagnostic{
				Code: diag.NamespaceMissing, Severity: diag.Warning,
				Message: fmt.Sprintf("the namespace %s is used in %s, where no Namespace is sent for it; on the API server it is %s", namespace, words.List(lack), w.mapping(lack[0]).Namespace(namespace)),
				Hint:    fmt.Sprintf("put a Namespace %s into the source: virtual clusters get it under their name", namespace),
			})
		}
	}
}

// mapping is that of a virtual cluster, by its name.
func (w *writer) mapping(cluster string) *virtual.Mapping {
	i, _ := w.in.Policies.Position(cluster)
	return w.virtual.fleet.At(i)
}

// clash blocks what two clusters would put into one namespace. A host that has it of its own
// keeps it: it is there by its own name.
func (w *writer) clash(c virtual.Clash) {
	v := w.virtual.fleet
	say := c.B
	for _, claim := range []virtual.Claim{c.A, c.B} {
		if v.At(claim.Cluster) == nil {
			continue
		}
		say = claim
		for n := range w.rows {
			r := &w.rows[n]
			if r.Ref.Namespace == claim.Namespace || r.Ref == (object.Ref{Kind: "Namespace", Name: claim.Namespace}) {
				r.stop(claim.Cluster, Clashes)
			}
		}
	}
	clusters := w.in.Policies.Fleet.Clusters()
	w.report(diag.Diagnostic{
		Code: diag.NamespaceClash, Severity: diag.Error, Pos: w.in.Policies.ClusterPos(clusters[say.Cluster].Name, karmada.SuffixAnnotation),
		Message: fmt.Sprintf("the namespace %s of the cluster %s and the namespace %s of the cluster %s would both be %s on the API server of %s",
			c.A.Namespace, clusters[c.A.Cluster].Name, c.B.Namespace, clusters[c.B.Cluster].Name, c.Namespace, clusters[v.Host(say.Cluster)].Name),
		Hint: "rename one of the namespaces, or give a virtual cluster another " + karmada.SuffixAnnotation,
	})
}

// share gives what virtual clusters want of an object without a namespace to their host, if all
// of them, and the host, want the same.
func (w *writer) share(row *Row) {
	v, clusters := w.virtual.fleet, w.in.Policies.Fleet.Clusters()
	want := map[int]Want{} // by host, the first
	var hosts []Want
	lost := false
	for _, one := range row.Wants {
		cluster := int(one.Cluster)
		host := v.Host(cluster)
		if host == virtual.Nowhere {
			lost = true
			continue
		}
		if block := row.Blocks[one.Cluster]; block != "" && host != cluster {
			row.block(host, block)
		}
		first, known := want[host]
		if !known {
			want[host] = one
			continue
		}
		if first.Blob != one.Blob && first.Blob != Unwritten && one.Blob != Unwritten {
			row.block(host, NotShared)
			w.sayNotShared(row.Ref, clusters[first.Cluster], clusters[cluster], clusters[host])
		}
		if one.Blob == Unwritten || row.Blocks[int32(host)] != "" { //nolint:gosec // an index
			first.Blob = Unwritten
		}
		want[host] = first
	}
	for _, host := range slices.Sorted(maps.Keys(want)) {
		hosts = append(hosts, Want{int32(host), want[host].Blob}) //nolint:gosec // an index
	}
	row.Wants = hosts
	for i := range clusters {
		if lost && v.At(i) == nil && !row.wants(i) {
			row.block(i, NotMapped) // it may be the one that a virtual cluster needs it in
		}
	}
}

func (w *writer) sayNotShared(r object.Ref, one, other, host *fleet.Cluster) {
	d := diag.Diagnostic{
		Code: diag.NotShared, Severity: diag.Error,
		Message: fmt.Sprintf("%s has no namespace, so that there is one of it on the API server of %s, and %s and %s want it in two forms; it stays as it was published", r, host.Name, one.Name, other.Name),
		Hint:    "take the override out that tells them apart, give each its own name, or use a kind with a namespace, as a RoleBinding is",
	}
	if decided := schedule.Find(w.in.Decisions, r); decided != nil {
		d.Pos = decided.Template.Object.Origin()
	}
	w.report(d)
}
