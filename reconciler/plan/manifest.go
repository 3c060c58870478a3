package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render/argocd"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// encode returns the manifest of a class: replicas, completions, overrides, then what
// Karmada prunes and marks.
func (w *writer) encode(t *template, v variant, k class, rules override.Rules) *result {
	var r *result
	if raw, sealed := v.object.Sealed(); sealed {
		r = w.sealed(t, k, raw)
	} else {
		r = w.in.Memo.manifest(w.recipe(t, v, k, rules), func() *result { return w.make(t, v, k, rules) })
	}
	if r.err == nil && isSecret(v.object) {
		r = w.protect(v.object, r, k.recipients)
	}
	if r.err == nil {
		r.blob = w.blob(r.made)
	}
	return r
}

// make makes a manifest.
func (w *writer) make(t *template, v variant, k class, rules override.Rules) *result {
	content, err := w.revise(t, v, k)
	if err != nil {
		return &result{err: &diag.Diagnostic{
			Code: "replicas", Severity: diag.Error, Pos: v.object.Pos(),
			Message: fmt.Sprintf("the replicas of %s cannot be set: %v", v.object.Ref(), err), Hint: keptHint,
		}}
	}
	if content, err = overridden(t, v.object, content, rules, k.rules); err != nil {
		return &result{err: overrideFailed(t, err)}
	}
	content = interpret.Prune(undefaulted(v, content))
	content = marked(content, t)
	if w.in.Medium == Branch {
		content = argocd.ServerSide(interpret.Owned(content))
	}
	return &result{made: files.NewBlob(object.Encode(content))}
}

// undefaulted takes the API server's defaults away again that nothing touched.
func undefaulted(v variant, content map[string]any) map[string]any {
	if v.scaled != "" { // v.content is more than the object and its defaults
		return interpret.Undefault(content, v.added)
	}
	return interpret.UndefaultOf(v.object.Content(), v.content, content, v.added)
}

const keptHint = "there it stays as it was last published"

// overridden returns content changed by the rules that match. Errors are RuleErrors.
func overridden(t *template, o *object.Object, content map[string]any, rules override.Rules, matching string) (map[string]any, error) {
	rules.Claimed = t.policy != nil || o.Ref().Kind == "Namespace"
	content, steps, err := rules.Apply(content, matching)
	if err != nil || len(steps) == 0 {
		return content, err //nolint:wrapcheck // it names the rule
	}
	if err := sameName(o, content); err != nil {
		return nil, &override.RuleError{Rule: renaming(steps), Err: err}
	}
	return content, nil
}

// renaming returns the rule that changed what an object is called, or the last one.
func renaming(steps []override.Step) *override.Rule {
	for _, s := range steps {
		if slices.ContainsFunc(s.Changes, func(c override.Change) bool {
			return slices.Contains([]string{"", "/kind", "/apiVersion", "/metadata", "/metadata/name", "/metadata/namespace"}, c.Path)
		}) {
			return s.Rule
		}
	}
	return steps[len(steps)-1].Rule
}

func overrideFailed(t *template, err error) *diag.Diagnostic {
	d := &diag.Diagnostic{
		Code: "override-failed", Severity: diag.Error, Pos: t.object.Pos(),
		Message: fmt.Sprintf("%s cannot be overridden: %v", t.object.Ref(), err),
		Hint:    keptHint + "; narrow the policy's resourceSelectors, or mend the path",
	}
	if e, ok := errors.AsType[*override.RuleError](err); ok {
		d.Pos = e.Rule.Policy.Object.FieldPos([]any{"spec", "overrideRules", e.Rule.Index})
		d.Message = fmt.Sprintf("%s cannot be applied to %s: %v", e.Rule, t.object.Ref(), e.Err)
	}
	return d
}

// sameName refuses overrides that make another object of the object.
func sameName(o *object.Object, content map[string]any) error {
	meta, _ := content["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	apiVersion, _ := content["apiVersion"].(string)
	group, _ := object.GroupVersion(apiVersion)
	switch r := o.Ref(); {
	case meta["name"] != r.Name, content["kind"] != r.Kind, namespace != r.Namespace, group != r.Group:
		return fmt.Errorf("the overrides turn it into %v %v/%v, which is another object", content["kind"], namespace, meta["name"])
	}
	return nil
}

// revise sets replicas and completions where the binding is a workload.
func (w *writer) revise(t *template, v variant, k class) (map[string]any, error) {
	content := v.content
	if t.policy != nil && t.isWorkload() && w.interpret.Revisable(content) {
		revised, err := w.interpret.Revise(content, k.replicas)
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller says of what
		}
		content = revised
	}
	if k.completions >= 0 {
		content = interpret.ReviseCompletions(content, k.completions)
	}
	return content, nil
}

// sealed passes an encrypted document on byte for byte. Nothing may change it.
func (*writer) sealed(t *template, k class, raw []byte) *result {
	if slices.Contains([]byte(k.rules), 1) {
		return &result{err: &diag.Diagnostic{
			Code: "sealed", Severity: diag.Error, Pos: t.object.Pos(),
			Message: t.object.Ref().String() + " is encrypted by SOPS, so that no override can change it",
			Hint:    "exclude it from the override policies that select it",
		}}
	}
	return &result{made: files.NewBlob(raw)}
}

// marked returns content with what delivered manifests carry.
func marked(content map[string]any, t *template) map[string]any {
	out := maps.Clone(content)
	meta, _ := content["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	meta["labels"] = withKey(meta["labels"], managedLabel, "true")
	if t.conflict() == "overwrite" {
		meta["annotations"] = withKey(meta["annotations"], conflictAnnotation, "overwrite")
	}
	if t.preserved() {
		meta["annotations"] = withKey(meta["annotations"], preserveAnnotation, "true")
	}
	out["metadata"] = meta
	return out
}

// withKey returns a copy of m, a map or nothing, in which key has a value.
func withKey(m any, key, value string) map[string]any {
	old, _ := m.(map[string]any)
	out := make(map[string]any, len(old)+1)
	maps.Copy(out, old)
	out[key] = value
	return out
}
