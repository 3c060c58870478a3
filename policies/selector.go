package policies

import (
	"path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// Subject is what resource selectors see of a template.
type Subject struct {
	APIVersion string
	Ref        object.Ref
	Labels     labels.Set
	// File is where it stands in the source; empty for what a release renders, which stands
	// nowhere.
	File string
	// Base reports that it is of a kustomization that others build on, which only a policy has that
	// names its folder.
	Base bool
}

// SubjectOf returns what selectors see of o.
func SubjectOf(o *object.Object) Subject {
	return Subject{APIVersion: o.APIVersion(), Ref: o.Ref(), Labels: o.Labels(), File: o.Pos().File, Base: o.IsBase()}
}

// Implicit is how closely a selector names a template (Karmada section A.3). A
// higher value is closer.
type Implicit int

// The implicit priorities.
const (
	NoMatch      Implicit = iota
	MatchAnyKind          // whatever its kind is, which Karmada has not
	MatchAll              // by kind alone
	MatchByLabel          // by a label selector, even an empty one
	MatchByName           // by name
)

// String names the way of matching.
func (i Implicit) String() string {
	return [...]string{"no match", "any kind", "kind", "labels", "name"}[i]
}

// Selectors is a policy's resourceSelectors, compiled, and the paths that the policy is for. The
// zero value selects nothing.
type Selectors struct {
	list  []selector
	paths ignore.List // empty: all
}

type selector struct {
	karmada.ResourceSelector
	labels labels.Selector
}

// Compile prepares the resource selectors of a policy with these annotations. One with a label
// selector that cannot be read matches nothing, as in Karmada; validation refuses it, so that no
// policy in force has one but beside a name, which alone decides.
func Compile(rs []karmada.ResourceSelector, annotations map[string]string) Selectors {
	out := Selectors{list: make([]selector, 0, len(rs)), paths: ignore.ParseList(annotations[karmada.PathsAnnotation])}
	for _, r := range rs {
		s := selector{ResourceSelector: r, labels: labels.Nothing()}
		if sel, err := metav1.LabelSelectorAsSelector(r.LabelSelector); err == nil {
			s.labels = sel
		}
		out.list = append(out.list, s)
	}
	return out
}

// Only returns the selector of a number alone, for the same paths.
func (ss Selectors) Only(i int) Selectors {
	return Selectors{list: ss.list[i : i+1], paths: ss.paths}
}

// IsEmpty reports that there is no selector, whatever the paths are.
func (ss Selectors) IsEmpty() bool { return len(ss.list) == 0 }

// Covers reports whether t stands where the policy is for.
func (ss Selectors) Covers(t Subject) bool {
	if t.Base {
		return ss.paths.Names(path.Dir(t.File))
	}
	return ss.paths.Len() == 0 || t.File != "" && ss.paths.Has(t.File)
}

// Match returns the closest match of any selector.
func (ss Selectors) Match(t Subject) Implicit {
	best := NoMatch
	for i := range ss.list {
		best = max(best, ss.list[i].match(t))
	}
	if best != NoMatch && !ss.Covers(t) {
		return NoMatch
	}
	return best
}

// MatchAnyLabels reports whether a selector by labels would match t with other labels.
func (ss Selectors) MatchAnyLabels(t Subject) bool {
	for i := range ss.list {
		byLabels := ss.list[i]
		if byLabels.LabelSelector == nil {
			continue
		}
		byLabels.labels = labels.Everything()
		if byLabels.match(t) != NoMatch {
			return ss.Covers(t)
		}
	}
	return false
}

// Kinds yields the apiVersion and kind of every selector.
func (ss Selectors) Kinds(yield func(apiVersion, kind string) bool) {
	for i := range ss.list {
		if !yield(ss.list[i].APIVersion, ss.list[i].Kind) {
			return
		}
	}
}

func (s *selector) match(t Subject) Implicit {
	switch {
	case s.Wild() && s.takes(t):
		return s.anyKind(t)
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

// takes reports whether a selector of any kind may take t: not what a release renders, since the
// release is the template, nor what others rest on. It takes what is in a namespace kube-* only
// if it names that.
func (s *selector) takes(t Subject) bool {
	switch {
	case t.File == "", t.Ref.Group == "" && t.Ref.Kind == "Namespace",
		t.Ref.Group == "apiextensions.k8s.io" && t.Ref.Kind == "CustomResourceDefinition",
		t.Ref.Group == "source.toolkit.fluxcd.io":
		return false
	case s.Namespace != "":
		return s.Namespace == t.Ref.Namespace
	}
	return !strings.HasPrefix(t.Ref.Namespace, "kube-")
}

// anyKind matches what a selector of any kind takes.
func (s *selector) anyKind(t Subject) Implicit {
	if s.Name != "" && s.Name != t.Ref.Name || s.Name == "" && s.LabelSelector != nil && !s.labels.Matches(t.Labels) {
		return NoMatch
	}
	return MatchAnyKind
}

// NearMiss reports a selector that would match but for the version in its
// apiVersion, which Karmada compares to the letter.
func (ss Selectors) NearMiss(t Subject) (apiVersion string, found bool) {
	for i := range ss.list {
		group, _ := object.GroupVersion(ss.list[i].APIVersion)
		if ss.list[i].APIVersion == t.APIVersion || group != t.Ref.Group {
			continue
		}
		other := t
		other.APIVersion = ss.list[i].APIVersion
		if ss.list[i].match(other) != NoMatch && ss.Covers(t) {
			return ss.list[i].APIVersion, true
		}
	}
	return "", false
}
