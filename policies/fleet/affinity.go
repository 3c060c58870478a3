package fleet

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Matcher is a compiled cluster affinity. The zero value matches every cluster.
type Matcher struct {
	rules []rule // all must hold
}

// rule is one demand of an affinity.
type rule interface {
	holds(c *Cluster) bool
	why(c *Cluster) string // says why the rule does not hold
}

// Compile prepares an affinity for matching, by Karmada section A.7: a cluster
// that is excluded by name does not match; of the others those match for which
// labelSelector, fieldSelector and clusterNames, where given, all hold. A nil or
// empty affinity matches every cluster. The error says which expression Karmada's
// validation would have refused.
func Compile(a *karmada.ClusterAffinity) (Matcher, error) {
	if a == nil {
		return Matcher{}, nil
	}
	var m Matcher
	if len(a.ExcludeClusters) > 0 {
		m.rules = append(m.rules, excluded(nameSet(a.ExcludeClusters)))
	}
	if a.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(a.LabelSelector)
		if err != nil {
			return Matcher{}, fmt.Errorf("compiling labelSelector: %w", err)
		}
		requirements, _ := selector.Requirements()
		for _, r := range requirements {
			m.rules = append(m.rules, &labelRule{r})
		}
	}
	if a.FieldSelector != nil {
		for i, e := range a.FieldSelector.MatchExpressions {
			r, err := newFieldRule(e)
			if err != nil {
				return Matcher{}, fmt.Errorf("compiling fieldSelector.matchExpressions[%d]: %w", i, err)
			}
			m.rules = append(m.rules, r)
		}
	}
	if len(a.ClusterNames) > 0 {
		m.rules = append(m.rules, named(nameSet(a.ClusterNames)))
	}
	return m, nil
}

// Matches reports whether the affinity matches c. It does not allocate.
func (m Matcher) Matches(c *Cluster) bool {
	for _, r := range m.rules {
		if !r.holds(c) {
			return false
		}
	}
	return true
}

// Why returns the first reason for which c does not match, for people to read,
// such as: label region is "us", want In [eu]. It is empty when c matches.
func (m Matcher) Why(c *Cluster) string {
	for _, r := range m.rules {
		if !r.holds(c) {
			return r.why(c)
		}
	}
	return ""
}

// names is a set of cluster names.
type names map[string]struct{}

func nameSet(list []string) names {
	set := make(names, len(list))
	for _, n := range list {
		set[n] = struct{}{}
	}
	return set
}

// excluded holds for the clusters that are not in it.
type excluded names

func (e excluded) holds(c *Cluster) bool {
	_, in := e[c.Name]
	return !in
}

func (excluded) why(c *Cluster) string { return fmt.Sprintf("name %q is excluded", c.Name) }

// named holds for the clusters that are in it.
type named names

func (n named) holds(c *Cluster) bool {
	_, in := n[c.Name]
	return in
}

func (n named) why(c *Cluster) string {
	return fmt.Sprintf("name %q is not among the %d in clusterNames", c.Name, len(n))
}

// labelRule is one requirement of a label selector.
type labelRule struct {
	labels.Requirement
}

func (r *labelRule) holds(c *Cluster) bool { return r.Matches(labels.Set(c.Labels)) }

func (r *labelRule) why(c *Cluster) string {
	is := "missing"
	if v, ok := c.Labels[r.Key()]; ok {
		is = fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("label %s is %s, want %s", r.Key(), is, r.want())
}

// want spells the requirement as people write it in matchExpressions.
func (r *labelRule) want() string {
	switch r.Operator() {
	case selection.Exists:
		return "Exists"
	case selection.DoesNotExist:
		return "DoesNotExist"
	case selection.NotIn:
		return fmt.Sprintf("NotIn %v", r.Values().List())
	default:
		return fmt.Sprintf("In %v", r.Values().List())
	}
}

// fieldRule is one expression of a field selector.
type fieldRule struct {
	field    string // provider, region or zone
	operator corev1.NodeSelectorOperator
	values   []string
}

func newFieldRule(e corev1.NodeSelectorRequirement) (fieldRule, error) {
	switch e.Key {
	case "provider", "region", "zone":
	default:
		return fieldRule{}, fmt.Errorf("key %q: want provider, region or zone", e.Key)
	}
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
	default:
		return fieldRule{}, fmt.Errorf("operator %q: want In or NotIn", e.Operator)
	}
	if len(e.Values) == 0 {
		return fieldRule{}, fmt.Errorf("operator %q: want at least one value", e.Operator)
	}
	return fieldRule{e.Key, e.Operator, e.Values}, nil
}

// holds takes an empty field to be in no list, so that NotIn holds for it.
func (r fieldRule) holds(c *Cluster) bool {
	var in bool
	switch r.field {
	case "provider":
		in = c.Provider != "" && slices.Contains(r.values, c.Provider)
	case "region":
		in = c.Region != "" && slices.Contains(r.values, c.Region)
	default:
		in = slices.ContainsFunc(c.Zones, func(z string) bool { return slices.Contains(r.values, z) })
	}
	return in == (r.operator == corev1.NodeSelectorOpIn)
}

func (r fieldRule) why(c *Cluster) string {
	is := "empty"
	switch value := map[string]string{"provider": c.Provider, "region": c.Region}[r.field]; {
	case value != "":
		is = fmt.Sprintf("%q", value)
	case r.field == "zone" && len(c.Zones) > 0:
		is = "[" + strings.Join(c.Zones, " ") + "]"
	}
	return fmt.Sprintf("field %s is %s, want %s %v", r.field, is, r.operator, r.values)
}
