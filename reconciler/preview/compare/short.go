package compare

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
)

// short lists of which resources clusters whose capacity is other than it was have less than what is in them asks for, in the order of
// names. What is asked for is what was observed to be in use, with what the head puts there beyond the base; where nothing was observed,
// it is what the head puts there, counted as scheduling counts it.
func short(base, head *plan.Plan, within *Scope) (all []preview.Short) {
	before, after := summaries(base), summaries(head)
	other := map[string][]corev1.ResourceName{}
	for name, is := range after {
		was := before[name]
		if was == nil || !within.cluster(name) {
			continue
		}
		for r, q := range is.Allocatable {
			if had, ok := was.Allocatable[r]; !ok || q.Cmp(had) != 0 {
				other[name] = append(other[name], r)
			}
		}
	}
	if len(other) == 0 {
		return nil
	}
	were, are := loads(base, other), loads(head, other)
	for _, name := range slices.Sorted(maps.Keys(other)) {
		for _, r := range slices.Sorted(slices.Values(other[name])) {
			has, asked := after[name].Allocatable[r], asked(after[name], were, are, at{name, r})
			if asked.Cmp(has) <= 0 {
				continue
			}
			all = append(all, preview.Short{Cluster: name, Resource: string(r), Asked: asked.String(), Has: has.String(), By: are.of(at{name, r})})
		}
	}
	return all
}

// summaries are the summaries of the resources of clusters that have one, by their names.
func summaries(p *plan.Plan) map[string]*karmada.ResourceSummary {
	all := map[string]*karmada.ResourceSummary{}
	if p.Expanded.Policies == nil {
		return all
	}
	for _, c := range p.Expanded.Policies.Fleet.Clusters() {
		if s := c.Source.Status.ResourceSummary; s != nil {
			all[c.Name] = s
		}
	}
	return all
}

// load is what replicas of an object ask for, in all.
type load struct {
	object   object.Ref
	replicas int32
	asked    resource.Quantity
}

// at is a resource of a cluster.
type at struct {
	cluster  string
	resource corev1.ResourceName
}

type loaded map[at][]load

// loads are what the objects of a plan ask for of some resources of clusters.
func loads(p *plan.Plan, of map[string][]corev1.ResourceName) loaded {
	all := loaded{}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Size.Requirements == nil {
			continue
		}
		for _, t := range d.Targets {
			for _, r := range of[t.Name] {
				each := d.Size.Requirements.ResourceRequest[r]
				if r == corev1.ResourcePods {
					each = resource.MustParse("1")
				}
				asked := each.DeepCopy()
				asked.Mul(int64(t.Replicas))
				if !asked.IsZero() {
					all[at{t.Name, r}] = append(all[at{t.Name, r}], load{d.Ref(), t.Replicas, asked})
				}
			}
		}
	}
	return all
}

func (l loaded) sum(where at) (sum resource.Quantity) {
	for _, one := range l[where] {
		sum.Add(one.asked)
	}
	return sum
}

// asked is how much is asked for of a resource of a cluster, by what is in use there and by what the loads were and are.
func asked(s *karmada.ResourceSummary, were, are loaded, where at) resource.Quantity {
	sum := are.sum(where)
	used, observed := s.Allocated[where.resource]
	if !observed {
		return sum
	}
	sum.Sub(were.sum(where))
	sum.Add(used)
	sum.Add(s.Allocating[where.resource])
	return sum
}

// of are the loads of a resource of a cluster, the largest first.
func (l loaded) of(where at) (all []preview.Load) {
	by := slices.Clone(l[where])
	slices.SortFunc(by, func(a, b load) int { return cmp.Or(b.asked.Cmp(a.asked), a.object.Compare(b.object)) })
	for _, one := range by {
		all = append(all, preview.Load{Object: one.object, Replicas: one.replicas, Asked: one.asked.String()})
	}
	return all
}
