package validate

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// overridePolicy holds both forms of rules against the same demands. Karmada looks
// into the old form only for its targetCluster and for what the schema says; the
// rest fails when it applies (section B.1).
func (fs *findings) overridePolicy(p *karmada.OverridePolicy, at field) {
	s := &p.Spec
	if fs.tooManyOverriders(s, at) {
		return
	}
	fs.resourceSelectors(at.at("resourceSelectors"), s.ResourceSelectors, &p.ObjectMeta)
	if s.OverrideRules != nil && (len(s.OverrideRules) > 0 || p.Kind == "ClusterOverridePolicy") {
		fs.oldForm(s, at)
		for i := range s.OverrideRules {
			at, o := at.at("overrideRules", i), &s.OverrideRules[i].Overriders
			fs.clusterAffinity(at.at("targetCluster"), s.OverrideRules[i].TargetCluster)
			fs.overriders(o, at.at("overriders"))
			fs.overriderContents(o, at.at("overriders"))
		}
	}
	if len(s.OverrideRules) > 0 {
		return
	}
	fs.clusterAffinity(at.at("targetCluster"), s.TargetCluster)
	fs.overriders(&s.Overriders, at.at("overriders"))
	fs.unchecked("in this old form Karmada takes it without a look", func(fs *findings) {
		fs.overriderContents(&s.Overriders, at.at("overriders"))
	})
}

// What an override policy may hold, which Karmada does not bound.
const (
	mostRules      = 10_000
	mostOverriders = 50_000
)

// tooManyOverriders refuses a policy that nobody wrote by hand: each of its overriders may
// act on each object of the source.
func (fs *findings) tooManyOverriders(s *karmada.OverrideSpec, at field) bool {
	n := count(&s.Overriders)
	for i := range s.OverrideRules {
		n += count(&s.OverrideRules[i].Overriders)
	}
	var problem string
	switch rules := len(s.OverrideRules); {
	case rules > mostRules:
		problem = fmt.Sprintf("has %d rules; an override policy may have at most %d", rules, mostRules)
	case n > mostOverriders:
		problem = fmt.Sprintf("has %d overriders; an override policy may have at most %d", n, mostOverriders)
	default:
		return false
	}
	fs.fail(at.at("overrideRules"), diag.TooManyOverriders, problem, "split it into several policies")
	return true
}

// count counts overriders; each operation of a fieldOverrider is one.
func count(o *karmada.Overriders) int {
	n := len(o.Plaintext) + len(o.ImageOverrider) + len(o.CommandOverrider) + len(o.ArgsOverrider) +
		len(o.LabelsOverrider) + len(o.AnnotationsOverrider) + len(o.FieldOverrider)
	for i := range o.FieldOverrider {
		n += len(o.FieldOverrider[i].JSON) + len(o.FieldOverrider[i].YAML)
	}
	return n
}

// oldForm refuses it beside rules. A fieldOverrider alone Karmada does not see
// there (section B.1).
func (fs *findings) oldForm(s *karmada.OverrideSpec, at field) {
	const hint = "move it into a rule of overrideRules"
	if s.TargetCluster != nil {
		fs.fail(at.at("targetCluster"), diag.ConflictingFields, "cannot be given beside overrideRules", hint)
	}
	o := s.Overriders
	seen := o
	seen.FieldOverrider = nil
	switch {
	case count(&seen) > 0:
		fs.fail(at.at("overriders"), diag.ConflictingFields, "cannot be given beside overrideRules", hint)
	case count(&o) > 0:
		fs.warn(at.at("overriders", "fieldOverrider"), diag.UnusedField, "does nothing beside overrideRules", hint)
	}
}

// overriders holds what the schema does, and warns of traps.
func (fs *findings) overriders(o *karmada.Overriders, at field) {
	if count(o) == 0 {
		fs.warn(at, diag.ChangesNothing, "has no overrider", "add one, or remove the rule")
		return
	}
	for i := range o.ImageOverrider {
		fs.imageOverrider(&o.ImageOverrider[i], at.at("imageOverrider", i))
	}
	for i := range o.CommandOverrider {
		fs.commandOverrider(&o.CommandOverrider[i], at.at("commandOverrider", i))
	}
	for i := range o.ArgsOverrider {
		fs.commandOverrider(&o.ArgsOverrider[i], at.at("argsOverrider", i))
	}
	for i := range o.LabelsOverrider {
		fs.metadataOverrider(&o.LabelsOverrider[i], at.at("labelsOverrider", i))
	}
	for i := range o.AnnotationsOverrider {
		fs.metadataOverrider(&o.AnnotationsOverrider[i], at.at("annotationsOverrider", i))
	}
	for i := range o.FieldOverrider {
		at := at.at("fieldOverrider", i)
		if f := o.FieldOverrider[i]; len(f.JSON)+len(f.YAML) == 0 {
			fs.fail(at, diag.RequiredField, "has no operation in json or yaml, and needs one", "")
		}
		fs.fieldOperators(o.FieldOverrider[i].JSON, at.at("json"))
		fs.fieldOperators(o.FieldOverrider[i].YAML, at.at("yaml"))
	}
	for i := range o.Plaintext {
		fs.plaintext(&o.Plaintext[i], at.at("plaintext", i))
	}
}

// overriderContents holds what the webhook looks at.
func (fs *findings) overriderContents(o *karmada.Overriders, at field) {
	for i, image := range o.ImageOverrider {
		if image.Predicate != nil {
			fs.pointer(at.at("imageOverrider", i, "predicate", "path"), image.Predicate.Path)
		}
	}
	for i, l := range o.LabelsOverrider {
		fs.labels(at.at("labelsOverrider", i, "value"), l.Value)
	}
	for i, a := range o.AnnotationsOverrider {
		fs.annotations(at.at("annotationsOverrider", i, "value"), a.Value)
	}
	for i := range o.FieldOverrider {
		fs.fieldOverrider(&o.FieldOverrider[i], at.at("fieldOverrider", i))
	}
}

func (fs *findings) metadataOverrider(o *karmada.LabelAnnotationOverrider, at field) {
	fs.operator(at.at("operator"), o.Operator)
	if o.Value == nil {
		fs.fail(at.at("value"), diag.RequiredField, "is required", "write a mapping of keys to values")
		return
	}
	fs.changesSomething(at.at("value"), len(o.Value))
}

func (fs *findings) operator(at field, op karmada.OverriderOperator) {
	oneOf(fs, at, op, karmada.OverriderOpAdd, karmada.OverriderOpRemove, karmada.OverriderOpReplace)
}

func (fs *findings) changesSomething(at field, values int) {
	if values == 0 {
		fs.warn(at, diag.ChangesNothing, "is empty, so that nothing changes", "")
	}
}

func (fs *findings) commandOverrider(c *karmada.CommandArgsOverrider, at field) {
	oneOf(fs, at.at("operator"), c.Operator, karmada.OverriderOpAdd, karmada.OverriderOpRemove)
	fs.changesSomething(at.at("value"), len(c.Value))
}

// fieldOverrider holds for the patch of a document in a string (section B.7).
func (fs *findings) fieldOverrider(f *karmada.FieldOverrider, at field) {
	fs.pointer(at.at("fieldPath"), f.FieldPath)
	if len(f.JSON) > 0 && len(f.YAML) > 0 {
		fs.fail(at.at("yaml"), diag.ConflictingFields, "cannot be given beside json", "keep the one that the text is in")
	}
	fs.fieldOperations(f.JSON, at.at("json"))
	fs.fieldOperations(f.YAML, at.at("yaml"))
}

func (fs *findings) fieldOperators(ops []karmada.FieldOperation, at field) {
	for i, op := range ops {
		fs.operator(at.at(i, "operator"), op.Operator)
	}
}

// fieldOperations holds paths and values. A null is no value: the API server drops
// it.
func (fs *findings) fieldOperations(ops []karmada.FieldOperation, at field) {
	for i, op := range ops {
		at := at.at(i)
		fs.pointer(at.at("subPath"), op.SubPath)
		switch removes, given := op.Operator == karmada.OverriderOpRemove, len(op.Value) > 0 && string(op.Value) != "null"; {
		case removes && given:
			fs.fail(at.at("value"), diag.ConflictingFields, "has no meaning with operator remove", "remove it")
		case !removes && !given:
			fs.fail(at.at("value"), diag.RequiredField, "is required", "write the value, or operator: remove")
		}
	}
}

// pointer reports what is no JSON pointer. The empty one is of the whole document,
// which an operation may change; a string or an image is never there.
func (fs *findings) pointer(at field, path string) {
	switch {
	case path == "":
		fs.warn(at, diag.PatchPath, "is empty, which means the whole document", `write a JSON pointer, as in /data/config.yaml`)
	case !strings.HasPrefix(path, "/"):
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not a JSON pointer", path), fmt.Sprintf("write %q", "/"+path))
	}
}

// plaintext only warns, because Karmada takes any patch and fails when it applies
// it (section B.6).
func (fs *findings) plaintext(p *karmada.PlaintextOverrider, at field) {
	fs.operator(at.at("operator"), p.Operator)
	switch {
	case p.Path == "":
		fs.warn(at.at("path"), diag.PatchPath, "is empty, so that the patch is of the whole object", "write a JSON pointer, as in /spec/replicas")
	case !strings.HasPrefix(p.Path, "/"):
		fs.warn(at.at("path"), diag.PatchPath, fmt.Sprintf("%q does not begin with a slash, so that the patch fails", p.Path), fmt.Sprintf("write %q", "/"+p.Path))
	}
	if p.Operator != karmada.OverriderOpRemove && len(p.Value) == 0 {
		fs.warn(at.at("value"), diag.PatchWithoutValue, "is not given, so that the field becomes null", "write the value, or operator: remove")
	}
}
