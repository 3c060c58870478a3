package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
)

// edits are the steering objects that two plans have otherwise.
type edits struct {
	policies  map[object.Ref]edit
	overrides map[object.Ref]edit
	clusters  map[string]edit
	others    []edit
}

// edit is an object before and after; nil where there is none.
type edit struct {
	base, head *object.Object
	what       string // it is called
	// open reports that values of it may be shown.
	open bool
}

// sides are the policies of both plans; empty for a plan that nobody made of a source.
func sides(base, head *plan.Plan) (a, b policies.Set) {
	if l := base.Expanded.Policies; l != nil {
		a = l.Set
	}
	if l := head.Expanded.Policies; l != nil {
		b = l.Set
	}
	return a, b
}

func newEdits(base, head *plan.Plan) edits {
	a, b := sides(base, head)
	e := edits{policies: map[object.Ref]edit{}, overrides: map[object.Ref]edit{}, clusters: map[string]edit{}}
	propagation := func(p *policies.Propagation) *object.Object { return p.Object }
	for _, x := range edited(objects(a.Propagation, propagation), objects(b.Propagation, propagation)) {
		x.open = true
		e.policies[x.one().Ref()] = x
	}
	override := func(p *policies.Override) *object.Object { return p.Object }
	for _, x := range edited(objects(a.Override, override), objects(b.Override, override)) {
		e.overrides[x.one().Ref()] = x
	}
	cluster := func(c policies.Cluster) *object.Object { return c.Object }
	for _, x := range edited(objects(a.Clusters, cluster), objects(b.Clusters, cluster)) {
		e.clusters[x.one().Ref().Name] = x
	}
	e.others = slices.Concat(
		edited(located(a.Taints), located(b.Taints)), edited(located(a.Quotas), located(b.Quotas)),
		edited(located(a.Rebalancers), located(b.Rebalancers)), edited(located(a.Scalers), located(b.Scalers)),
		edited(located(a.Autoscalers), located(b.Autoscalers)), edited(located(a.Remedies), located(b.Remedies)),
		edited(located(a.Customizations), located(b.Customizations)),
	)
	return e
}

func objects[T any](all []T, of func(T) *object.Object) (objs []*object.Object) {
	for _, x := range all {
		objs = append(objs, of(x))
	}
	return objs
}

func located[T any](all []policies.Located[T]) []*object.Object {
	return objects(all, func(l policies.Located[T]) *object.Object { return l.Object })
}

// edited are the objects that differ, in the order of refs.
func edited(base, head []*object.Object) (all []edit) {
	before := map[object.Ref]*object.Object{}
	for _, o := range base {
		before[o.Ref()] = o
	}
	for _, o := range head {
		was := before[o.Ref()]
		delete(before, o.Ref())
		if was != o && (was == nil || string(was.YAML()) != string(o.YAML())) {
			all = append(all, edit{base: was, head: o, what: policies.Name(o)})
		}
	}
	for _, o := range base {
		if before[o.Ref()] == o {
			all = append(all, edit{base: o, what: policies.Name(o)})
		}
	}
	return all
}

// one is the newer of both.
func (e edit) one() *object.Object {
	if e.head != nil {
		return e.head
	}
	return e.base
}

// maxFields is how many fields of one object are named.
const maxFields = 3

// causes say what was edited, and where.
func (e edit) causes() (all []preview.Cause) {
	switch {
	case e.base == nil:
		return []preview.Cause{{Message: e.what + " is new", Pos: e.head.Origin()}}
	case e.head == nil:
		return []preview.Cause{{Message: e.what + " is gone", Pos: e.base.Origin()}}
	}
	differ := fields.Diff(object.WithoutApplied(e.base.Content()), object.WithoutApplied(e.head.Content()), nil)
	for _, f := range differ[:min(maxFields, len(differ))] {
		of := e.head
		if f.Op == fields.Remove {
			of = e.base
		}
		all = append(all, preview.Cause{Message: e.what + ": " + e.field(f), Pos: of.FieldPos(f.Steps)})
	}
	if n := len(differ) - maxFields; n > 0 {
		all = append(all, preview.Cause{Message: fmt.Sprintf("%s: and %d more fields", e.what, n), Pos: e.head.Origin()})
	}
	return all
}

// field says what became of a field.
func (e edit) field(f fields.Field) string {
	from, to := "", ""
	if e.open {
		from, to = scalar(f.From), scalar(f.To)
	}
	switch {
	case f.Op == fields.Add && to != "":
		return f.Path + " is " + to
	case f.Op == fields.Add:
		return f.Path + " is added"
	case f.Op == fields.Remove && from != "":
		return f.Path + " is no longer " + from
	case f.Op == fields.Remove:
		return f.Path + " is removed"
	case from != "" && to != "":
		return f.Path + " goes from " + from + " to " + to
	}
	return f.Path + " changes"
}

// scalar prints a short plain value; empty for any other.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 0 && len(v) <= 60 {
			return v
		}
	case int64, float64, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// clusterEdit is what was edited of a cluster's registration: labels, taints and where it is may be
// shown, and what it is reached by may not.
func clusterEdit(e edit) []preview.Cause {
	switch {
	case e.base == nil:
		return []preview.Cause{{Message: e.what + " is new", Pos: e.head.Origin()}}
	case e.head == nil:
		return []preview.Cause{{Message: e.what + " is no longer registered", Pos: e.base.Origin()}}
	}
	without := func(o *object.Object) *object.Object { return o.With(withoutAccess(o.Content())) }
	if shown := (edit{base: without(e.base), head: without(e.head), what: e.what, open: true}).causes(); len(shown) > 0 {
		return shown
	}
	return []preview.Cause{{Message: e.what + " changes", Pos: e.head.Origin()}}
}

// withoutAccess returns a Cluster without what says how it is reached.
func withoutAccess(content map[string]any) map[string]any {
	out := maps.Clone(content)
	spec, _ := content["spec"].(map[string]any)
	kept := map[string]any{}
	for _, key := range []string{"provider", "region", "zone", "zones", "taints", "resourceModels"} {
		if v, ok := spec[key]; ok {
			kept[key] = v
		}
	}
	out["spec"] = kept
	return out
}
