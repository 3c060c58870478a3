package kubefleet

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selector reads a label selector; nil where there is none.
func (r *reader) selector(v any, at field) *metav1.LabelSelector {
	if v == nil {
		return nil
	}
	s := &metav1.LabelSelector{}
	fields := r.mapping(v, at, reflect.TypeOf(*s))
	labels := r.anyMapping(fields["matchLabels"], at.at("matchLabels"))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		at := at.at("matchLabels", key)
		if labels[key] == nil {
			r.fail(at, `write the value, or "" for an empty one`, "has no value")
		}
		s.MatchLabels[key] = r.text(labels[key], at)
		r.readable(metav1.LabelSelector{MatchLabels: map[string]string{key: s.MatchLabels[key]}}, at)
	}
	for i, v := range r.list(fields["matchExpressions"], at.at("matchExpressions")) {
		at := at.at("matchExpressions", i)
		e := r.requirement(v, at)
		if e.Key == "" || e.Operator == "" {
			r.fail(at, "write key and operator, as in {key: ring, operator: Exists}", "has no key, or no operator")
			continue
		}
		r.readable(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}, at)
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

func (r *reader) requirement(v any, at field) (e metav1.LabelSelectorRequirement) {
	fields := r.mapping(v, at, reflect.TypeOf(e))
	e.Key = r.text(fields["key"], at.at("key"))
	e.Operator = metav1.LabelSelectorOperator(r.text(fields["operator"], at.at("operator")))
	for i, v := range r.list(fields["values"], at.at("values")) {
		e.Values = append(e.Values, r.text(v, at.at("values", i)))
	}
	return e
}

// readable holds a part of a selector against what Kubernetes takes.
func (r *reader) readable(part metav1.LabelSelector, at field) {
	if _, err := metav1.LabelSelectorAsSelector(&part); err != nil {
		r.fail(at, "", "cannot be read: %s", err)
	}
}
