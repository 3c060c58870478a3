package override

import (
	"fmt"
	"maps"
	"slices"
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
// rule, which is 1 where it does. Errors are RuleErrors.
func (rs Rules) Apply(obj map[string]any, matching string) (map[string]any, []Step, error) {
	out, marked := obj, false
	var steps []Step
	var err error
	for n := next(matching, 0); n >= 0; n = next(matching, n+1) {
		r := rs.List[n]
		if rs.late && r.Policy.Namespaced() {
			break
		}
		if rs.Claimed && !marked && len(r.Overriders.Plaintext) > 0 {
			out, marked = withMetadata(out), true
		}
		if out, steps, err = apply(out, r, steps); err != nil {
			return nil, nil, err
		}
	}
	if rs.late {
		if rs.Claimed && !marked {
			out, marked = withMetadata(out), true
		}
		if out, steps, err = rs.applyLate(out, matching, steps); err != nil {
			return nil, nil, err
		}
	}
	if len(steps) == 0 {
		return obj, nil, nil
	}
	if marked {
		out = withoutMetadata(out, obj)
	}
	return out, steps, nil
}

// next returns the first rule from n on that matches; less than 0 if there is none.
func next(matching string, n int) int {
	i := strings.IndexByte(matching[n:], 1)
	if i < 0 {
		return i
	}
	return n + i
}

// applyLate applies the rules of the namespace that select what obj is now.
func (rs Rules) applyLate(obj map[string]any, matching string, steps []Step) (map[string]any, []Step, error) {
	now := rs.subject
	now.Labels = labelsOf(obj)
	for _, r := range rs.index.matching(now, ofNamespace) {
		n := slices.Index(rs.List, r)
		if n < 0 || matching[n] != 1 {
			continue
		}
		var err error
		if obj, steps, err = apply(obj, r, steps); err != nil {
			return nil, nil, err
		}
	}
	return obj, steps, nil
}

func apply(obj map[string]any, r *Rule, steps []Step) (map[string]any, []Step, error) {
	out, changes, err := Apply(obj, r.Overriders)
	if err != nil {
		return nil, nil, &RuleError{r, err}
	}
	return out, append(steps, Step{r, changes}), nil
}

func labelsOf(obj map[string]any) labels.Set {
	set := labels.Set{}
	m, err := valueAt(obj, "metadata", "labels")
	if m, ok := m.(map[string]any); ok && err == nil {
		for k, v := range m {
			if text, ok := v.(string); ok {
				set[k] = text
			}
		}
	}
	return set
}

// withMetadata returns obj with labels and annotations, empty where it has none.
func withMetadata(obj map[string]any) map[string]any {
	for _, field := range []string{"labels", "annotations"} {
		if v, err := valueAt(obj, "metadata", field); v == nil && err == nil {
			obj = with(obj, map[string]any{}, "metadata", field)
		}
	}
	return obj
}

// withoutMetadata undoes in obj what withMetadata added to the object it was
// before, where nothing was put into it.
func withoutMetadata(obj, before map[string]any) map[string]any {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return obj
	}
	old, _ := before["metadata"].(map[string]any)
	meta, obj = maps.Clone(meta), maps.Clone(obj)
	obj["metadata"] = meta
	for _, field := range []string{"labels", "annotations"} {
		if m, ok := meta[field].(map[string]any); ok && len(m) == 0 && old[field] == nil {
			restore(meta, old, field)
		}
	}
	if len(meta) == 0 && before["metadata"] == nil {
		restore(obj, before, "metadata")
	}
	return obj
}

// restore makes m[key] what it is in old, or takes it out.
func restore(m, old map[string]any, key string) {
	delete(m, key)
	if v, ok := old[key]; ok {
		m[key] = v
	}
}
