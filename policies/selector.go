package policies

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Subject is what resource selectors see of a template.
type Subject struct {
	APIVersion string
	Ref        object.Ref
	Labels     labels.Set
}

// SubjectOf returns what selectors see of o.
func SubjectOf(o *object.Object) Subject {
	return Subject{APIVersion: o.APIVersion(), Ref: o.Ref(), Labels: o.Labels()}
}

// Implicit is how closely a selector names a template (Karmada section A.3). A
// higher value is closer.
type Implicit int

// The implicit priorities.
const (
	NoMatch      Implicit = iota
	MatchAll              // by kind alone
	MatchByLabel          // by a label selector, even an empty one
	MatchByName           // by name
)

// String names the way of matching.
func (i Implicit) String() string {
	return [...]string{"no match", "kind", "labels", "name"}[i]
}

// Selectors is a policy's resourceSelectors, compiled.
type Selectors []selector

type selector struct {
	karmada.ResourceSelector
	labels labels.Selector
}

// Compile prepares resource selectors. One with a label selector that cannot be read
// matches nothing, as in Karmada; validation refuses it, so that no policy in force has one
// but beside a name, which alone decides.
func Compile(rs []karmada.ResourceSelector) Selectors {
	out := make(Selectors, 0, len(rs))
	for _, r := range rs {
		s := selector{ResourceSelector: r, labels: labels.Nothing()}
		if sel, err := metav1.LabelSelectorAsSelector(r.LabelSelector); err == nil {
			s.labels = sel
		}
		out = append(out, s)
	}
	return out
}

// Match returns the closest match of any selector.
func (ss Selectors) Match(t Subject) Implicit {
	best := NoMatch
	for i := range ss {
		best = max(best, ss[i].match(t))
	}
	return best
}

// MatchAnyLabels reports whether a selector by labels would match t with other labels.
func (ss Selectors) MatchAnyLabels(t Subject) bool {
	for i := range ss {
		byLabels := ss[i]
		if byLabels.LabelSelector == nil {
			continue
		}
		byLabels.labels = labels.Everything()
		if byLabels.match(t) != NoMatch {
			return true
		}
	}
	return false
}

// Kinds yields the apiVersion and kind of every selector.
func (ss Selectors) Kinds(yield func(apiVersion, kind string) bool) {
	for i := range ss {
		if !yield(ss[i].APIVersion, ss[i].Kind) {
			return
		}
	}
}

func (s *selector) match(t Subject) Implicit {
	switch {
	case s.APIVersion != t.APIVersion || s.Kind != t.Ref.Kind,
		s.Namespace != "" && s.Namespace != t.Ref.Namespace:
		return NoMatch
	case s.Name != "":
		if s.Name == t.Ref.Name {
			return MatchByName
		}
		return NoMatch
	case s.LabelSelector != nil:
		if s.labels.Matches(t.Labels) {
			return MatchByLabel
		}
		return NoMatch
	}
	return MatchAll
}

// NearMiss reports a selector that would match but for the version in its
// apiVersion, which Karmada compares to the letter.
func (ss Selectors) NearMiss(t Subject) (apiVersion string, found bool) {
	for i := range ss {
		group, _ := object.GroupVersion(ss[i].APIVersion)
		if ss[i].APIVersion == t.APIVersion || group != t.Ref.Group {
			continue
		}
		other := t
		other.APIVersion = ss[i].APIVersion
		if ss[i].match(other) != NoMatch {
			return ss[i].APIVersion, true
		}
	}
	return "", false
}
