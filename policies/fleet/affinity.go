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
// empty affinity matches every cluster. An expression that cannot be read matches no
// cluster, as in Karmada; validation refuses it, so that no policy in force has one.
func Compile(a *karmada.ClusterAffinity) Matcher {
	if a == nil {
		return Matcher{}
	}
	var m Matcher
	if len(a.ExcludeClusters) > 0 {
		m.rules = append(m.rules, excluded(nameSet(a.ExcludeClusters)))
	}
	if a.LabelSelector != nil {
		m.rules = append(m.rules, labelRules(a.LabelSelector)...)
	}
	if a.FieldSelector != nil {
		for i, e := range a.FieldSelector.MatchExpressions {
			m.rules = append(m.rules, newFieldRule(i, e))
		}
	}
	if len(a.ClusterNames) > 0 {
		m.rules = append(m.rules, named(nameSet(a.ClusterNames)))
	}
	return m
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

// never holds for no cluster, for the reason that it is.
type never string

func (never) holds(*Cluster) bool   { return false }
func (n never) why(*Cluster) string { return string(n) }

func labelRules(s *metav1.LabelSelector) []rule {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return []rule{never(fmt.Sprintf("labelSelector cannot be read: %v", err))}
	}
	var rules []rule
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		rules = append(rules, &labelRule{r})
	}
	return rules
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

// fieldRule is one expression of a field selector. Provider and region are selected
// by as labels are, in which an empty field is missing; zones are compared.
type fieldRule struct {
	corev1.NodeSelectorRequirement
	selects *labels.Requirement // nil for zones
}

func newFieldRule(i int, e corev1.NodeSelectorRequirement) rule {
	if e.Key == "zone" {
		return &fieldRule{NodeSelectorRequirement: e}
	}
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
		corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
		corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
	}
	r, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
	if err != nil {
		return never(fmt.Sprintf("fieldSelector.matchExpressions[%d] cannot be read: %v", i, err))
	}
	return &fieldRule{e, r}
}

// fields is a cluster by its fields that are selected by as labels are.
type fields Cluster

func (f *fields) Get(field string) string {
	switch field {
	case "provider":
		return f.Provider
	case "region":
		return f.Region
	}
	return ""
}

// Has reports whether the field is there, and not empty.
func (f *fields) Has(field string) bool { return f.Get(field) != "" }

// Lookup is Get and Has.
func (f *fields) Lookup(field string) (string, bool) { return f.Get(field), f.Has(field) }

func (r *fieldRule) holds(c *Cluster) bool {
	if r.selects != nil {
		return r.selects.Matches((*fields)(c))
	}
	in := slices.ContainsFunc(c.Zones, func(z string) bool { return slices.Contains(r.Values, z) })
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return in
	case corev1.NodeSelectorOpNotIn:
		return !in
	case corev1.NodeSelectorOpExists:
		return len(c.Zones) > 0
	case corev1.NodeSelectorOpDoesNotExist:
		return len(c.Zones) == 0
	default:
		return false
	}
}

func (r *fieldRule) why(c *Cluster) string {
	is := "empty"
	switch value := map[string]string{"provider": c.Provider, "region": c.Region}[r.Key]; {
	case value != "":
		is = fmt.Sprintf("%q", value)
	case r.Key == "zone" && len(c.Zones) > 0:
		is = "[" + strings.Join(c.Zones, " ") + "]"
	}
	return fmt.Sprintf("field %s is %s, want %s %v", r.Key, is, r.Operator, r.Values)
}
