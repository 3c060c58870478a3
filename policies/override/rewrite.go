package override

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// errPrivate stands for what went wrong with an object that may hold values of Secrets.
var errPrivate = errors.New("why is not said, for the object may hold values of Secrets")

// Rewrite returns content, which is what an object says, as Apply changes it. The diagnostic
// says why it cannot be changed: rules that make another object of it fail, too.
func (rs Rules) Rewrite(o *object.Object, content map[string]any, matching string) (map[string]any, *diag.Diagnostic) {
	rs = rs.about(o)
	changed, steps, err := rs.Apply(content, matching)
	if err != nil {
		return nil, failed(o, err)
	}
	if len(steps) == 0 {
		return changed, nil
	}
	if renamed := sameName(o, changed); renamed != nil {
		rs.Explain = true
		if _, steps, err = rs.Apply(content, matching); err == nil {
			err = &RuleError{Rule: renaming(steps), Err: renamed}
		}
		return nil, failed(o, err)
	}
	return changed, nil
}

// Applied is a rule and what it changed, for people to read.
type Applied struct {
	Rule    string   `json:"rule"`
	Where   string   `json:"where"`
	Changes []Change `json:"changes,omitempty"`
}

// Trace says what each rule changes in the content of an object, as far as they can be
// applied.
func (rs Rules) Trace(o *object.Object, content map[string]any, matching string) (all []Applied, err error) {
	rs = rs.about(o)
	rs.Explain = true
	_, steps, err := rs.Apply(content, matching)
	for _, step := range steps {
		if o.Private() {
			step.Changes = Withheld(step.Changes)
		}
		all = append(all, Applied{step.Rule.String(), step.Rule.pos().String(), step.Changes})
	}
	if err != nil && o.Private() {
		err = errPrivate
	}
	return all, err
}

// about returns the rules for an object: a Namespace counts as claimed, whatever brought it.
func (rs Rules) about(o *object.Object) Rules {
	rs.Claimed = rs.Claimed || o.Ref().Kind == "Namespace"
	return rs
}

func (r *Rule) pos() diag.Pos {
	return r.Policy.Object.FieldPos([]any{"spec", "overrideRules", r.Index})
}

// renaming returns the rule that changed what an object is called, or the last one.
func renaming(steps []Step) *Rule {
	for _, s := range steps {
		if slices.ContainsFunc(s.Changes, func(c Change) bool {
			return slices.Contains([]string{"", "/kind", "/apiVersion", "/metadata", "/metadata/name", "/metadata/namespace"}, c.Path)
		}) {
			return s.Rule
		}
	}
	return steps[len(steps)-1].Rule
}

// failed says which rule cannot be applied to an object.
func failed(o *object.Object, err error) *diag.Diagnostic {
	d := &diag.Diagnostic{
		Code: diag.OverrideFailed, Severity: diag.Error, Pos: o.Origin(),
		Message: fmt.Sprintf("%s cannot be overridden: %v", o.Ref(), err),
		Hint:    "there it stays as it was last published; narrow the policy's resourceSelectors, or mend the path",
	}
	if e, ok := errors.AsType[*RuleError](err); ok {
		if o.Private() {
			e.Err = errPrivate
		}
		d.Pos = e.Rule.pos()
		d.Message = fmt.Sprintf("%s cannot be applied to %s: %v", e.Rule, o.Ref(), e.Err)
	}
	return d
}

// sameName refuses rules that make another object of the object.
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
