package override

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Step is what one rule changed.
type Step struct {
	Rule    *Rule
	Changes []Change
}

// RuleError says which rule cannot be applied.
type RuleError struct {
	Rule *Rule
	Err  error
}

func (e *RuleError) Error() string { return fmt.Sprintf("%s: %v", e.Rule, e.Err) }

// Unwrap returns the cause.
func (e *RuleError) Unwrap() error { return e.Err }

// Apply applies the rules of the list that match, one after the other. Matching has a byte a
// rule, which is 1 where it does. What the steps changed is recorded if Explain is set.
// Errors are RuleErrors.
func (rs Rules) Apply(obj map[string]any, matching string) (map[string]any, []Step, error) {
	r := reviser{applier: applier{draft: newDraft(obj), explains: rs.Explain}}
	for n := next(matching, 0); n >= 0; n = next(matching, n+1) {
		rule := rs.List[n]
		if rs.late && rule.Policy.Namespaced() {
			break
		}
		if rs.Claimed && len(rule.Overriders.Plaintext) > 0 {
			r.mark()
		}
		if err := r.step(rule); err != nil {
			return nil, nil, err
		}
	}
	if rs.late {
		if rs.Claimed {
			r.mark()
		}
		if err := rs.applyLate(&r, matching); err != nil {
			return nil, nil, err
		}
	}
	if !r.changed {
		return obj, r.steps, nil
	}
	r.unmark(obj)
	return r.object(), r.steps, nil
}

// reviser carries an object through rules.
type reviser struct {
	applier

	steps  []Step
	marked bool
}

func (r *reviser) step(rule *Rule) error {
	if err := r.apply(rule.Overriders); err != nil {
		return &RuleError{rule, err}
	}
	r.steps = append(r.steps, Step{rule, r.changes})
	return nil
}

// next returns the first rule from n on that matches; less than 0 if there is none.
func next(matching string, n int) int {
	i := strings.IndexByte(matching[n:], 1)
	if i < 0 {
		return i
	}
	return n + i
}

// applyLate applies the rules of the namespace that select what the object is now.
func (rs Rules) applyLate(r *reviser, matching string) error {
	now := rs.subject
	now.Labels = r.labelSet()
	open := make(map[*Rule]bool, len(rs.List))
	for n := next(matching, 0); n >= 0; n = next(matching, n+1) {
		open[rs.List[n]] = true
	}
	for _, rule := range rs.index.matching(now, ofNamespace) {
		if !open[rule] {
			continue
		}
		if err := r.step(rule); err != nil {
			return err
		}
	}
	return nil
}

func (r *reviser) labelSet() labels.Set {
	set := labels.Set{}
	n, err := r.at("metadata", "labels")
	if err != nil || n == nil || n.open() != mapping {
		return set
	}
	for key, v := range n.fields {
		if text, ok := v.text(); ok {
			set[key] = text
		}
	}
	return set
}

// markFields are those that Karmada gives to what a policy claims.
var markFields = []string{"labels", "annotations"}

// mark gives the object labels and annotations, empty where it has none.
func (r *reviser) mark() {
	if r.marked {
		return
	}
	r.marked = true
	changed := r.changed
	for _, field := range markFields {
		if n, err := r.at("metadata", field); n.isNull() && err == nil {
			r.put(map[string]any{}, "metadata", field)
		}
	}
	r.changed = changed
}

// unmark undoes what mark added to the object that it was before, where nothing was put
// into it.
func (r *reviser) unmark(before map[string]any) {
	r.root.open()
	meta := r.root.fields["metadata"]
	if !r.marked || meta == nil || meta.open() != mapping {
		return
	}
	old, _ := before["metadata"].(map[string]any)
	for _, field := range markFields {
		if n := meta.fields[field]; n != nil && n.open() == mapping && len(n.fields) == 0 && old[field] == nil {
			restore(meta, old, field)
		}
	}
}

// restore makes a field what it is in old, or takes it out.
func restore(n *node, old map[string]any, key string) {
	delete(n.fields, key)
	if v, ok := old[key]; ok {
		n.fields[key] = &node{value: v}
	}
}
