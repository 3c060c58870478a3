package karmada

import (
	"fmt"
	"strings"
)

// overridePolicy holds both forms of rules against the same demands. Karmada looks
// into the old form only for its targetCluster, and the rest fails when it applies.
func (fs *findings) overridePolicy(p *OverridePolicy, at field) {
	s := &p.Spec
	fs.resourceSelectors(at.at("resourceSelectors"), s.ResourceSelectors, p.Namespace)
	if s.OverrideRules != nil {
		fs.oldForm(s, at)
		for i := range s.OverrideRules {
			at := at.at("overrideRules", i)
			fs.clusterAffinity(at.at("targetCluster"), s.OverrideRules[i].TargetCluster)
			fs.overriders(&s.OverrideRules[i].Overriders, at.at("overriders"))
		}
		return
	}
	fs.clusterAffinity(at.at("targetCluster"), s.TargetCluster)
	fs.overriders(&s.Overriders, at.at("overriders"))
}

// oldForm refuses it beside rules. A fieldOverrider alone Karmada does not see
// there (section B.1).
func (fs *findings) oldForm(s *OverrideSpec, at field) {
	const hint = "move it into a rule of overrideRules"
	if s.TargetCluster != nil {
		fs.fail(at.at("targetCluster"), conflict, "cannot be given beside overrideRules", hint)
	}
	o := s.Overriders
	seen := o
	seen.FieldOverrider = nil
	switch {
	case !seen.empty():
		fs.fail(at.at("overriders"), conflict, "cannot be given beside overrideRules", hint)
	case !o.empty():
		fs.warn(at.at("overriders", "fieldOverrider"), "unused-field", "does nothing beside overrideRules", hint)
	}
}

func (o *Overriders) empty() bool {
	return len(o.Plaintext)+len(o.ImageOverrider)+len(o.CommandOverrider)+len(o.ArgsOverrider)+
		len(o.LabelsOverrider)+len(o.AnnotationsOverrider)+len(o.FieldOverrider) == 0
}

func (fs *findings) overriders(o *Overriders, at field) {
	if o.empty() {
		fs.warn(at, "changes-nothing", "has no overrider", "add one, or remove the rule")
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
	for i, l := range o.LabelsOverrider {
		at := at.at("labelsOverrider", i)
		fs.operator(at.at("operator"), l.Operator)
		fs.labels(at.at("value"), l.Value)
		fs.changesSomething(at.at("value"), len(l.Value))
	}
	for i, a := range o.AnnotationsOverrider {
		at := at.at("annotationsOverrider", i)
		fs.operator(at.at("operator"), a.Operator)
		fs.annotations(at.at("value"), a.Value)
		fs.changesSomething(at.at("value"), len(a.Value))
	}
	for i := range o.FieldOverrider {
		fs.fieldOverrider(&o.FieldOverrider[i], at.at("fieldOverrider", i))
	}
	for i := range o.Plaintext {
		fs.plaintext(&o.Plaintext[i], at.at("plaintext", i))
	}
}

func (fs *findings) operator(at field, op OverriderOperator) {
	oneOf(fs, at, op, OverriderOpAdd, OverriderOpRemove, OverriderOpReplace)
}

func (fs *findings) changesSomething(at field, values int) {
	if values == 0 {
		fs.warn(at, "changes-nothing", "is empty, so that nothing changes", "")
	}
}

func (fs *findings) commandOverrider(c *CommandArgsOverrider, at field) {
	fs.require(at.at("containerName"), c.ContainerName, "write the name of a container; init containers are never changed")
	oneOf(fs, at.at("operator"), c.Operator, OverriderOpAdd, OverriderOpRemove)
	fs.changesSomething(at.at("value"), len(c.Value))
}

// fieldOverrider holds for the patch of a document in a string (section B.7).
func (fs *findings) fieldOverrider(f *FieldOverrider, at field) {
	fs.pointer(at.at("fieldPath"), f.FieldPath)
	switch {
	case len(f.JSON) > 0 && len(f.YAML) > 0:
		fs.fail(at.at("yaml"), conflict, "cannot be given beside json", "keep the one that the text is in")
	case len(f.JSON) == 0 && len(f.YAML) == 0:
		fs.fail(at, requiredField, "has no operation in json or yaml, and needs one", "")
	}
	fs.fieldOperations(f.JSON, at.at("json"))
	fs.fieldOperations(f.YAML, at.at("yaml"))
}

func (fs *findings) fieldOperations(ops []FieldOperation, at field) {
	for i, op := range ops {
		at := at.at(i)
		fs.pointer(at.at("subPath"), op.SubPath)
		fs.operator(at.at("operator"), op.Operator)
		switch removes, given := op.Operator == OverriderOpRemove, len(op.Value) > 0; {
		case removes && given:
			fs.fail(at.at("value"), conflict, "has no meaning with operator remove", "remove it")
		case !removes && !given:
			fs.fail(at.at("value"), requiredField, "is required", "")
		}
	}
}

// pointer reports what is no JSON pointer.
func (fs *findings) pointer(at field, path string) {
	if path == "" {
		fs.require(at, path, `write a JSON pointer, as in /data/config.yaml`)
	} else if !strings.HasPrefix(path, "/") {
		fs.fail(at, invalidValue, fmt.Sprintf("%q is not a JSON pointer", path), fmt.Sprintf("write %q", "/"+path))
	}
}

// plaintext only warns, because Karmada takes any patch and fails when it applies
// it (section B.6).
func (fs *findings) plaintext(p *PlaintextOverrider, at field) {
	fs.operator(at.at("operator"), p.Operator)
	switch {
	case p.Path == "":
		fs.warn(at.at("path"), "patch-path", "is empty, so that the patch is of the whole object", "write a JSON pointer, as in /spec/replicas")
	case !strings.HasPrefix(p.Path, "/"):
		fs.warn(at.at("path"), "patch-path", fmt.Sprintf("%q does not begin with a slash, so that the patch fails", p.Path), fmt.Sprintf("write %q", "/"+p.Path))
	}
	if p.Operator != OverriderOpRemove && len(p.Value) == 0 {
		fs.warn(at.at("value"), "patch-without-value", "is not given, so that the field becomes null", "write the value, or operator: remove")
	}
}
