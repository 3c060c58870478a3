package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/argocd"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/sources/files"
)

// manifest returns the manifest of a class: replicas, completions, overrides, then what
// Karmada prunes and marks. It has a number once the drafts are encoded.
func (w *writer) manifest(d *schedule.Decision, v template.Variant, k class, rules override.Rules) *result {
	var r *result
	if raw, sealed := v.Object.Sealed(); sealed {
		r = passed(d, k, raw)
	} else {
		r = w.remembered(w.recipe(d, v, k, rules), func() (*made, *diag.Diagnostic) { return w.make(d, v, k, rules) })
	}
	if r.err == nil && seal.Wanted(v.Object) {
		if w.encode(); r.refused() {
			return r
		}
		r = w.protect(v.Object, r, k.recipients)
	}
	return r
}

// number gives manifests their numbers, in this order, once they are encoded.
func (w *writer) number(all ...*result) {
	w.encode()
	for _, r := range all {
		if r.blob = Unwritten; !r.refused() {
			r.blob = w.blobs.Add(r.made.blob)
		}
	}
}

// encode makes of the drafts what they are to be, and remembers it.
func (w *writer) encode() {
	w.drafts.encode()
	for _, n := range w.novel {
		if n.made.bad == nil {
			w.in.Memo.manifests.Put(n.recipe, n.made)
		}
	}
	clear(w.novel)
	w.novel = w.novel[:0]
}

// make begins a manifest, which is a draft until it is encoded.
func (w *writer) make(d *schedule.Decision, v template.Variant, k class, rules override.Rules) (*made, *diag.Diagnostic) {
	if k.virtual > 0 {
		return w.makeVirtual(d, v, k, rules)
	}
	content, bad := w.revised(d, v, k)
	if bad != nil {
		return nil, bad
	}
	m := &made{}
	w.drafts.add(draft{d.Template, m, func() (map[string]any, *diag.Diagnostic) {
		content, bad := overridden(d, v, k, rules, content)
		return w.published(d, content), bad
	}})
	return m, nil
}

// makeVirtual is make for a virtual cluster: such clusters share what is made of a class.
func (w *writer) makeVirtual(d *schedule.Decision, v template.Variant, k class, rules override.Rules) (*made, *diag.Diagnostic) {
	content, bad := w.shared(d, v, k, rules)
	if bad != nil {
		return nil, bad
	}
	content, texts, bad := w.mapped(v.Object, content, k)
	if bad != nil {
		return nil, bad
	}
	m := &made{texts: texts}
	w.drafts.add(draft{d.Template, m, func() (map[string]any, *diag.Diagnostic) { return w.published(d, content), nil }})
	return m, nil
}

// published is the content of a manifest as it is where it is published.
func (w *writer) published(d *schedule.Decision, content map[string]any) map[string]any {
	if !w.in.OnBranch || content == nil {
		return content
	}
	content = w.site.Shown(d.Ref(), content)
	return argocd.ServerSide(interpret.Owned(content))
}

// revised is the content with its replicas, which scripts may set: they are asked one after the other.
func (w *writer) revised(d *schedule.Decision, v template.Variant, k class) (map[string]any, *diag.Diagnostic) {
	content, err := revise(w.in.Policies.Interpreter.About(v.Object), d, v, k)
	if err != nil {
		return nil, &diag.Diagnostic{
			Code: diag.Replicas, Severity: diag.Error, Pos: v.Object.Origin(),
			Message: fmt.Sprintf("the replicas of %s cannot be set: %v", v.Object.Ref(), err), Hint: keptHint,
		}
	}
	return content, nil
}

// overridden is the content of a manifest as it is in every virtual cluster of a class, from what is
// revised. It is pure.
func overridden(d *schedule.Decision, v template.Variant, k class, rules override.Rules, revised map[string]any) (map[string]any, *diag.Diagnostic) {
	content, bad := rules.Rewrite(v.Object, labelled(revised, k.preserved), k.rules)
	if bad != nil {
		return nil, bad
	}
	content = object.WithoutApplied(interpret.Prune(undefaulted(v, content)))
	if k.scaled { // after overrides, which may be about what it says
		content = unscaled(content)
	}
	return interpret.Marked(content, marks(d, k)), nil
}

// undefaulted takes the API server's defaults away again that nothing touched.
func undefaulted(v template.Variant, content map[string]any) map[string]any {
	if v.Scaled != "" { // v.Content is more than the object and its defaults
		return interpret.Undefault(content, v.Added)
	}
	return interpret.UndefaultOf(v.Object.Content(), v.Content, content, v.Added)
}

// revise sets replicas and completions where the binding is a workload, and makes what a FederatedHPA becomes.
func revise(interpreter *interpret.Interpreter, d *schedule.Decision, v template.Variant, k class) (map[string]any, error) {
	content := v.Content
	if k.share != (hpa.Share{}) {
		return hpa.Make(d.Scaler.Value, k.share), nil
	}
	if k.backends != "" {
		content = ingress.Named(content, k.backends)
	}
	if d.Policy != nil && d.Size.IsWorkload() && interpreter.Revisable(content) {
		revised, err := interpreter.Revise(content, k.replicas)
		if err != nil {
			return nil, err
		}
		content = revised
	}
	if k.completions >= 0 {
		content = interpret.ReviseCompletions(content, k.completions)
	}
	return content, nil
}

// unscaled is a workload of which a HorizontalPodAutoscaler decides how many replicas there are: it says nothing of that.
func unscaled(content map[string]any) map[string]any {
	content = maps.Clone(content)
	spec, _ := content["spec"].(map[string]any)
	spec = maps.Clone(spec)
	delete(spec, "replicas")
	content["spec"] = spec
	return content
}

// passed passes an encrypted document on byte for byte. Nothing may change it.
func passed(d *schedule.Decision, k class, raw []byte) *result {
	if slices.Contains([]byte(k.rules), 1) {
		return &result{err: &diag.Diagnostic{
			Code: diag.Sealed, Severity: diag.Error, Pos: d.Template.Object.Origin(),
			Message: d.Ref().String() + " is encrypted by SOPS, so that no override can change it",
			Hint:    "exclude it from the override policies that select it",
		}}
	}
	if k.virtual > 0 && !virtual.Shared(d.Ref()) {
		return &result{err: &diag.Diagnostic{
			Code: diag.Unmapped, Severity: diag.Error, Pos: d.Template.Object.Origin(),
			Message: d.Ref().String() + " is encrypted by SOPS, so that it cannot be put into the namespace of a virtual cluster",
			Hint:    "encrypt it to the recipients of the Cluster instead (waybill.dev/age-recipients), or write one for each virtual cluster into its own directory",
		}}
	}
	return &result{made: &made{blob: files.NewBlob(raw)}}
}

// marks says how the object is treated by who applies it. What a FederatedHPA becomes is never preserved: it would go on scaling.
func marks(d *schedule.Decision, k class) interpret.Marks {
	m := interpret.Marks{Overwrite: interpret.Overwrites(d.Template.Object, d.Overwrites()), Preserve: d.Preserved() && d.Shares == nil}
	if k.scaled {
		m.Scaler = d.Scaler.Ref().Name
	}
	return m
}

// recipe says what the manifest of a class is made of.
func (w *writer) recipe(d *schedule.Decision, v template.Variant, k class, rules override.Rules) recipe {
	r := recipe{
		object: v.Object, replicas: k.replicas, completions: k.completions, workload: d.Policy != nil && d.Size.IsWorkload(),
		onBranch: w.in.OnBranch, scaled: v.Scaled, interpreter: w.in.Policies.InterpreterDigest, marks: marks(d, k), claimed: d.Policy != nil,
		virtual: w.virtual.id(k.virtual), preserved: k.preserved, share: k.share, backends: k.backends, site: w.site,
	}
	var digests strings.Builder
	for n := strings.IndexByte(k.rules, 1); n >= 0; {
		digests.WriteString(w.digest(rules.List[n]))
		more := strings.IndexByte(k.rules[n+1:], 1)
		if more < 0 {
			break
		}
		n += 1 + more
	}
	r.rules = digests.String()
	return r
}

// digest identifies what a rule does, and what decides whether and when it does it.
func (w *writer) digest(r *override.Rule) string {
	known, ok := w.in.Memo.digests.Get(r)
	if !ok {
		data, err := json.Marshal([]any{r.Overriders, r.Policy.Namespaced(), r.Policy.Object.Ref().Name, r.Policy.Spec.ResourceSelectors})
		if err != nil {
			panic("manifest: overriders that were decoded from JSON do not encode: " + err.Error())
		}
		sum := sha256.Sum256(data)
		known = string(sum[:16])
		w.in.Memo.digests.Put(r, known)
	}
	return known
}
