package validate

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkOverridePolicy holds both forms of rules against the same demands. Karmada looks
// into the old form only for its targetCluster and for what the schema says; the
// rest fails when it applies (section B.1).
func checkOverridePolicy(fs *findings, p *karmada.OverridePolicy, at field) {
	s := &p.Spec
	if checkTooManyOverriders(fs, s, at) {
		return
	}
	checkResourceSelectors(fs, at.at("resourceSelectors"), s.ResourceSelectors, &p.ObjectMeta)
	if s.OverrideRules != nil && (len(s.OverrideRules) > 0 || p.Kind == "ClusterOverridePolicy") {
		checkOldForm(fs, s, at)
		for i := range s.OverrideRules {
			at, o := at.at("overrideRules", i), &s.OverrideRules[i].Overriders
			checkClusterAffinity(fs, at.at("targetCluster"), s.OverrideRules[i].TargetCluster)
			checkOverriders(fs, o, at.at("overriders"))
			checkOverriderContents(fs, o, at.at("overriders"))
		}
	}
	if len(s.OverrideRules) > 0 {
		return
	}
	checkClusterAffinity(fs, at.at("targetCluster"), s.TargetCluster)
	checkOverriders(fs, &s.Overriders, at.at("overriders"))
	fs.unchecked("in this old form Karmada takes it without a look", func(fs *findings) {
		checkOverriderContents(fs, &s.Overriders, at.at("overriders"))
	})
}

// What an override policy may hold, which Karmada does not bound.
const (
	mostRules      = 10_000
	mostOverriders = 50_000
)

// checkTooManyOverriders refuses a policy that nobody wrote by hand: each of its overriders may
// act on each object of the source.
func checkTooManyOverriders(fs *findings, s *karmada.OverrideSpec, at field) bool {
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

// checkOldForm refuses it beside rules. A fieldOverrider alone Karmada does not see
// there (section B.1).
func checkOldForm(fs *findings, s *karmada.OverrideSpec, at field) {
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

// checkOverriders holds what the schema does, and warns of traps.
func checkOverriders(fs *findings, o *karmada.Overriders, at field) {
	if count(o) == 0 {
		fs.warn(at, diag.ChangesNothing, "has no overrider", "add one, or remove the rule")
		return
	}
	for i := range o.ImageOverrider {
		checkImageOverrider(fs, &o.ImageOverrider[i], at.at("imageOverrider", i))
	}
	for i := range o.CommandOverrider {
		checkCommandOverrider(fs, &o.CommandOverrider[i], at.at("commandOverrider", i))
	}
	for i := range o.ArgsOverrider {
		checkCommandOverrider(fs, &o.ArgsOverrider[i], at.at("argsOverrider", i))
	}
	for i := range o.LabelsOverrider {
		checkMetadataOverrider(fs, &o.LabelsOverrider[i], at.at("labelsOverrider", i))
	}
	for i := range o.AnnotationsOverrider {
		checkMetadataOverrider(fs, &o.AnnotationsOverrider[i], at.at("annotationsOverrider", i))
	}
	for i := range o.FieldOverrider {
		at := at.at("fieldOverrider", i)
		if f := o.FieldOverrider[i]; len(f.JSON)+len(f.YAML) == 0 {
			fs.fail(at, diag.RequiredField, "has no operation in json or yaml, and needs one", "")
		}
		checkFieldOperators(fs, o.FieldOverrider[i].JSON, at.at("json"))
		checkFieldOperators(fs, o.FieldOverrider[i].YAML, at.at("yaml"))
	}
	for i := range o.Plaintext {
		checkPlaintext(fs, &o.Plaintext[i], at.at("plaintext", i))
	}
}

// checkOverriderContents holds what the webhook looks at.
func checkOverriderContents(fs *findings, o *karmada.Overriders, at field) {
	for i, image := range o.ImageOverrider {
		if image.Predicate != nil {
			checkPointer(fs, at.at("imageOverrider", i, "predicate", "path"), image.Predicate.Path)
		}
	}
	for i, l := range o.LabelsOverrider {
		checkLabels(fs, at.at("labelsOverrider", i, "value"), l.Value)
	}
	for i, a := range o.AnnotationsOverrider {
		checkAnnotations(fs, at.at("annotationsOverrider", i, "value"), a.Value)
	}
	for i := range o.FieldOverrider {
		checkFieldOverrider(fs, &o.FieldOverrider[i], at.at("fieldOverrider", i))
	}
}

func checkMetadataOverrider(fs *findings, o *karmada.LabelAnnotationOverrider, at field) {
	checkOperator(fs, at.at("operator"), o.Operator)
	if o.Value == nil {
		fs.fail(at.at("value"), diag.RequiredField, "is required", "write a mapping of keys to values")
		return
	}
	checkChangesSomething(fs, at.at("value"), len(o.Value))
}

func checkOperator(fs *findings, at field, op karmada.OverriderOperator) {
	oneOf(fs, at, op, karmada.OverriderOpAdd, karmada.OverriderOpRemove, karmada.OverriderOpReplace)
}

func checkChangesSomething(fs *findings, at field, values int) {
	if values == 0 {
		fs.warn(at, diag.ChangesNothing, "is empty, so that nothing changes", "")
	}
}

func checkCommandOverrider(fs *findings, c *karmada.CommandArgsOverrider, at field) {
	oneOf(fs, at.at("operator"), c.Operator, karmada.OverriderOpAdd, karmada.OverriderOpRemove)
	checkChangesSomething(fs, at.at("value"), len(c.Value))
}

// checkFieldOverrider holds for the patch of a document in a string (section B.7).
func checkFieldOverrider(fs *findings, f *karmada.FieldOverrider, at field) {
	checkPointer(fs, at.at("fieldPath"), f.FieldPath)
	if len(f.JSON) > 0 && len(f.YAML) > 0 {
		fs.fail(at.at("yaml"), diag.ConflictingFields, "cannot be given beside json", "keep the one that the text is in")
	}
	checkFieldOperations(fs, f.JSON, at.at("json"))
	checkFieldOperations(fs, f.YAML, at.at("yaml"))
}

func checkFieldOperators(fs *findings, ops []karmada.FieldOperation, at field) {
	for i, op := range ops {
		checkOperator(fs, at.at(i, "operator"), op.Operator)
	}
}

// checkFieldOperations holds paths and values. A null is no value: the API server drops
// it.
func checkFieldOperations(fs *findings, ops []karmada.FieldOperation, at field) {
	for i, op := range ops {
		at := at.at(i)
		checkPointer(fs, at.at("subPath"), op.SubPath)
		switch removes, given := op.Operator == karmada.OverriderOpRemove, len(op.Value) > 0 && string(op.Value) != "null"; {
		case removes && given:
			fs.fail(at.at("value"), diag.ConflictingFields, "has no meaning with operator remove", "remove it")
		case !removes && !given:
			fs.fail(at.at("value"), diag.RequiredField, "is required", "write the value, or operator: remove")
		}
	}
}

// checkPointer reports what is no JSON pointer. The empty one is of the whole document,
// which an operation may change; a string or an image is never there.
func checkPointer(fs *findings, at field, path string) {
	switch {
	case path == "":
		fs.warn(at, diag.PatchPath, "is empty, which means the whole document", `write a JSON pointer, as in /data/config.yaml`)
	case !strings.HasPrefix(path, "/"):
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is not a JSON pointer", path), fmt.Sprintf("write %q", "/"+path))
	}
}

// checkPlaintext only warns, because Karmada takes any patch and fails when it applies
// it (section B.6).
func checkPlaintext(fs *findings, p *karmada.PlaintextOverrider, at field) {
	checkOperator(fs, at.at("operator"), p.Operator)
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
