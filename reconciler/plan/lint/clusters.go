package lint

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// clusters reports names of clusters that are not registered, and labels and fields that no
// cluster has.
func (f *finder) clusters() {
	if len(f.policies.Fleet.Clusters()) == 0 {
		return
	}
	known := f.known()
	for _, p := range f.policies.Set.Propagation {
		r := &reader{known: known, object: p.Object}
		r.placement(&p.Spec.Placement)
		if s := p.Spec.Suspension; s != nil && s.DispatchingOnClusters != nil {
			r.names(s.DispatchingOnClusters.ClusterNames, at("spec", "suspension", "dispatchingOnClusters", "clusterNames"))
		}
		f.report(r.found...)
	}
	for _, p := range f.policies.Set.Override {
		r := &reader{known: known, object: p.Object}
		for i, rule := range p.Spec.Rules() {
			path := at("spec", "overrideRules", i, "targetCluster")
			if len(p.Spec.OverrideRules) == 0 {
				path = at("spec", "targetCluster")
			}
			r.affinity(rule.TargetCluster, path)
		}
		f.unknown[p] = len(r.found) > 0
		f.report(r.found...)
	}
	for _, p := range f.policies.Set.Taints {
		r := &reader{known: known, object: p.Object}
		r.affinity(p.Value.Spec.TargetClusters, at("spec", "targetClusters"))
		f.report(r.found...)
	}
}

// known is what clusters have.
type known struct {
	names  []string
	labels map[string][]string // values, by key
	fields map[string][]string // values, by field
}

func (f *finder) known() known {
	k := known{labels: map[string][]string{}, fields: map[string][]string{}}
	for _, c := range f.policies.Fleet.Clusters() {
		k.names = append(k.names, c.Name)
		for key, value := range c.Source.Labels {
			k.labels[key] = append(k.labels[key], value)
		}
		k.fields["provider"] = append(k.fields["provider"], c.Source.Spec.Provider)
		k.fields["region"] = append(k.fields["region"], c.Source.Spec.Region)
		k.fields["zone"] = append(append(k.fields["zone"], c.Source.Spec.Zones...), c.Source.Spec.Zone)
	}
	return k
}

// reader reads what an object says of clusters.
type reader struct {
	known

	object *object.Object
	found  []diag.Diagnostic
}

func at(path ...any) []any { return path }

func below(path []any, more ...any) []any { return append(slices.Clone(path), more...) }

func (r *reader) placement(p *karmada.Placement) {
	path := at("spec", "placement")
	r.affinity(p.ClusterAffinity, below(path, "clusterAffinity"))
	for i := range p.ClusterAffinities {
		term, here := &p.ClusterAffinities[i], below(path, "clusterAffinities", i)
		r.affinity(&term.ClusterAffinity, here)
		for j := range term.OverflowAffinities {
			r.affinity(&term.OverflowAffinities[j].ClusterAffinity, below(here, "overflowAffinities", j))
		}
	}
	if s := p.ReplicaScheduling; s != nil && s.WeightPreference != nil {
		for i := range s.WeightPreference.StaticWeightList {
			r.affinity(&s.WeightPreference.StaticWeightList[i].TargetCluster, below(path, "replicaScheduling", "weightPreference", "staticWeightList", i, "targetCluster"))
		}
	}
}

func (r *reader) affinity(a *karmada.ClusterAffinity, path []any) {
	if a == nil {
		return
	}
	r.names(a.ClusterNames, below(path, "clusterNames"))
	r.names(a.ExcludeClusters, below(path, "exclude"))
	if a.FieldSelector != nil {
		for i, e := range a.FieldSelector.MatchExpressions {
			if e.Operator == corev1.NodeSelectorOpIn {
				r.values("cluster has the "+e.Key, e.Values, r.fields[e.Key], below(path, "fieldSelector", "matchExpressions", i, "values"))
			}
		}
	}
	if a.LabelSelector == nil {
		return
	}
	for key, value := range a.LabelSelector.MatchLabels {
		r.label(key, []string{value}, below(path, "labelSelector", "matchLabels", key))
	}
	for i, e := range a.LabelSelector.MatchExpressions {
		here := below(path, "labelSelector", "matchExpressions", i)
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpExists {
			r.label(e.Key, e.Values, here)
		}
	}
}

// names reports names that no cluster has.
func (r *reader) names(list []string, path []any) {
	for i, name := range list {
		if _, ok := slices.BinarySearch(r.known.names, name); !ok {
			r.found = append(r.found, diag.Diagnostic{
				Code: diag.UnknownCluster, Severity: diag.Warning, Pos: r.object.FieldPos(below(path, i)),
				Message: fmt.Sprintf("%s names the cluster %q, which is not registered", policies.Name(r.object), name),
				Hint:    words.Meant(name, r.known.names, "registered are "+words.List(r.known.names)),
			})
		}
	}
}

// label reports a label that no cluster has.
func (r *reader) label(key string, values []string, path []any) {
	if _, ok := r.labels[key]; !ok {
		var keys []string
		for k := range r.labels {
			keys = append(keys, k)
		}
		r.say("no cluster has the label "+key, words.Meant(key, distinct(keys), "waybill get clusters -o yaml shows their labels"), path)
		return
	}
	r.values("cluster has the label "+key, values, r.labels[key], path)
}

// values reports values that no cluster has.
func (r *reader) values(what string, values, known []string, path []any) {
	for _, v := range values {
		if !slices.Contains(known, v) {
			given := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == "" })
			r.say(fmt.Sprintf("no %s %q", what, v), words.Meant(v, distinct(given), "clusters have "+listed(given)), path)
		}
	}
}

func listed(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return words.List(distinct(values))
}

func (r *reader) say(what, hint string, path []any) {
	r.found = append(r.found, diag.Diagnostic{
		Code: diag.UnknownLabel, Severity: diag.Warning, Pos: r.object.FieldPos(path),
		Message: policies.Name(r.object) + " selects clusters by what none has: " + what, Hint: hint,
	})
}
