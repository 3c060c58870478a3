package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

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
