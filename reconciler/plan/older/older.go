// Package older says what units of an older version of the source would be on the fleet of today: where their
// templates go now, with how many replicas, and which files clusters should have of them. The clusters, the
// state and the time are those of the plan; policies, templates, overrides and releases are those of
// the older commit.
package older

import (
	"maps"
	"reflect"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/plan/virtual"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// Version is an older version of the source, expanded for the fleet of today.
type Version struct {
	Commit   string
	Config   render.ConfigSpec
	Expanded *expand.Result
	// Of names the unit of each of its policies.
	Of map[object.Ref]rollouts.Unit
}

// Source returns an older source as it is evaluated today: its objects, with the clusters, what taints them, and what policies say
// that acts at once, of now. What stands in clusters' own directories is in no unit.
func Source(then, now render.Source) render.Source {
	isFleet := func(o *object.Object) bool {
		r := o.Ref()
		return r.Kind == "Cluster" && r.Group == "cluster.karmada.io" || r.Kind == "ClusterTaintPolicy" && r.Group == "policy.karmada.io" ||
			r.Kind == "Remedy" && r.Group == "remedy.karmada.io"
	}
	objs := slices.DeleteFunc(slices.Clone(then.Objects), isFleet)
	claiming := map[object.Ref]int{}
	for i, o := range objs {
		if r := o.Ref(); r.Group == "policy.karmada.io" && (r.Kind == "PropagationPolicy" || r.Kind == "ClusterPropagationPolicy") {
			claiming[r] = i
		}
	}
	for _, o := range now.Objects {
		if isFleet(o) {
			objs = append(objs, o)
		} else if i, ok := claiming[o.Ref()]; ok {
			objs[i] = acting(objs[i], o)
		}
	}
	then.Objects, then.Bound = objs, nil
	then.Config.Failover, then.Config.Descheduler = now.Config.Failover, now.Config.Descheduler
	return then
}

// atOnce are the fields of a policy's spec that no digest has, for they act at once (see package units).
var atOnce = []string{"failover", "suspension"}

// acting is a policy of then with what acts at once of now: so a newer version that waits ends a suspension.
func acting(then, now *object.Object) *object.Object {
	was, ok := then.Content()["spec"].(map[string]any)
	if !ok {
		return then
	}
	is, _ := now.Content()["spec"].(map[string]any)
	spec := maps.Clone(was)
	for _, field := range atOnce {
		if v, ok := is[field]; ok {
			spec[field] = v
		} else {
			delete(spec, field)
		}
	}
	if reflect.DeepEqual(spec, was) {
		return then // what is remembered of it serves
	}
	content := maps.Clone(then.Content())
	content["spec"] = spec
	return then.With(content)
}

// Input is what units of a version are asked with.
type Input struct {
	Version *Version
	// Asked is what the plan decides by: its state, time, and how work leaves clusters. Policies and
	// templates are the version's.
	Asked schedule.Input
	// Has appends what clusters have of an object, with its replicas where they can be told, in the order of names.
	Has   func(to []schedule.Target, r object.Ref) []schedule.Target
	Write manifest.Input // its policies, decisions and config are the version's
	// Backends is what was found of the Services that an object sends traffic to.
	Backends func(*schedule.Decision) map[string]ingress.Found
	Units    []rollouts.Unit
	// Recorded is what was recorded of units last.
	Recorded map[rollouts.Unit]*rollouts.Rollout
	// Renderer is the version of what renders.
	Renderer string
	// Memo remembers digests.
	Memo *units.Memo
}

// Units is what units of a version would be today.
type Units struct {
	Decisions []schedule.Decision          // in the order of refs: of the units, and of what may be pulled along
	Found     map[rollouts.Unit]units.Unit // those that are there
	Rows      map[object.Ref]manifest.Row
	Blobs     manifest.Blobs
	// Source reports whether the source of the version has an object, and whether a policy claims it there.
	Source func(object.Ref) (isThere, isClaimed bool)
}

// Evaluate decides about units of a version, and writes them out. Division is steady from how it was before.
func Evaluate(in Input) Units {
	wanted := map[rollouts.Unit]bool{}
	for _, name := range in.Units {
		wanted[name] = true
	}
	asked := in.Asked
	asked.Policies = in.Version.Expanded.Policies
	var claimed []*policies.Propagation
	asked.Templates, claimed = in.Version.templates(wanted)
	st := *asked.State
	st.Bindings = in.bindings(asked.Templates, claimed)
	asked.State = &st
	decided := schedule.Decide(asked)
	u := Units{
		Decisions: decided.Decisions, Found: map[rollouts.Unit]units.Unit{}, Rows: map[object.Ref]manifest.Row{}, Source: in.Version.source,
	}
	var mine []schedule.Decision
	for _, is := range units.Find(units.Input{
		Expanded: in.Version.Expanded, Decisions: decided.Decisions, Of: in.Version.Of, Config: &in.Version.Config, Renderer: in.Renderer,
		Memo: in.Memo, Bindings: in.Version.unrendered(asked.State.Bindings),
	}) {
		if !wanted[is.Unit] {
			continue
		}
		u.Found[is.Unit] = is
		for _, r := range is.Refs {
			if d := schedule.Find(decided.Decisions, r); d != nil { // its release can be rendered
				is := *d
				is.Backends = in.Backends(d)
				mine = append(mine, is)
			}
		}
	}
	slices.SortFunc(mine, func(a, b schedule.Decision) int { return a.Ref().Compare(b.Ref()) })
	write := in.Write
	write.Policies, write.Decisions, write.Bound, write.Config = asked.Policies, mine, nil, in.Version.Config
	write.Failures = in.Version.failures()
	written := manifest.WriteAlone(write)
	rows, _ := virtual.Settle(virtual.Input{ // what is wrong with it now is said of the version of now
		Policies: asked.Policies, Decisions: mine, Rows: written.Rows, Namespaces: in.Version.Config.Namespaces,
	})
	for _, row := range rows {
		u.Rows[row.Ref] = in.keeping(row, mine)
	}
	u.Blobs = written.Blobs
	return u
}

// failures are the releases of the version that cannot be rendered now, but for those of clusters' own directories.
func (v *Version) failures() []expand.Failure {
	return slices.DeleteFunc(slices.Clone(v.Expanded.Failures), func(f expand.Failure) bool { return f.ID.Cluster != "" })
}

// keeping is a row that wants what cannot be rendered, of which nothing is decided, where clusters have it: nobody says that it is to go.
func (in *Input) keeping(row manifest.Row, decided []schedule.Decision) manifest.Row {
	if len(row.Blocks) == 0 || schedule.Find(decided, row.Ref) != nil {
		return row
	}
	for _, t := range in.Has(nil, row.Ref) {
		i, ok := in.Version.Expanded.Policies.Position(t.Name)
		if _, isWanted := row.Wanted(i); ok && !isWanted && row.Blocked(i) == reason.NotRendered {
			row.Want(i, manifest.Unwritten)
		}
	}
	return row
}

// unrendered are the bindings of what these rendered to: of a release that no policy claims nothing else says which unit has that.
func (v *Version) unrendered(bindings map[object.Ref]*karmada.ResourceBinding) map[object.Ref]*karmada.ResourceBinding {
	all := map[object.Ref]*karmada.ResourceBinding{}
	for r := range v.Expanded.Unrendered() {
		if b := bindings[r]; b != nil {
			all[r] = b
		}
	}
	return all
}

// templates are those of units, and those that these may pull along, each with the policy that claims it; nil for none.
func (v *Version) templates(wanted map[rollouts.Unit]bool) (all []*template.Template, claimed []*policies.Propagation) {
	x := v.Expanded
	pulls := false
	for _, p := range x.Policies.Set.Propagation {
		pulls = pulls || p.Spec.PropagateDeps && wanted[v.Of[p.Object.Ref()]]
	}
	for _, t := range x.Templates {
		p := claims(x, t)
		if p != nil && wanted[v.Of[p.Object.Ref()]] || p == nil && pulls {
			all, claimed = append(all, t), append(claimed, p)
		}
	}
	return all, claimed
}

func claims(x *expand.Result, t *template.Template) *policies.Propagation {
	if t.Part != nil {
		return t.Part.Policy
	}
	return x.Policies.Claims.Policy(t.Selected())
}

// source reports whether the version has an object, and whether a policy claims it: also of what a release rendered to that cannot be
// rendered.
func (v *Version) source(r object.Ref) (isThere, isClaimed bool) {
	if v.Expanded.Unrendered()[r] {
		return true, true
	}
	all := v.Expanded.Templates
	i, ok := slices.BinarySearchFunc(all, r, func(t *template.Template, r object.Ref) int { return t.Ref().Compare(r) })
	return ok, ok && claims(v.Expanded, all[i]) != nil
}

// bindings are those of the state, but that each says where its template is by the version: as was recorded of it, or as was decided of
// this version, too, where the binding says so, for then one decision serves both. Otherwise, as where the record is older than what is
// recorded of divisions, and where nothing is divided, it is where clusters have it. Claimed are the policies that claim the templates.
func (in *Input) bindings(templates []*template.Template, claimed []*policies.Propagation) map[object.Ref]*karmada.ResourceBinding {
	all, placements := maps.Clone(in.Asked.State.Bindings), map[*policies.Propagation]string{}
	var have []schedule.Target
	for n, t := range templates {
		b, p := all[t.Ref()], claimed[n]
		if p == nil || !p.Divides() || t.Part != nil && len(t.Part.Failed) > 0 {
			if b == nil {
				continue
			}
			if have = in.Has(have[:0], t.Ref()); slices.Equal(have, b.Spec.Clusters) {
				continue // what is remembered of the binding serves
			}
			is := *b
			is.Spec.Clusters = slices.Clone(have)
			all[t.Ref()] = &is
			continue
		}
		if _, known := placements[p]; !known {
			placements[p] = state.Placement(&p.Spec.Placement)
		}
		if is := in.divided(t, p, b, placements[p]); is != nil {
			all[t.Ref()] = is
		}
	}
	return all
}

// divided is the binding of a template of the version whose replicas are divided by a policy with a placement, as state.Placement
// prints it. B is that of the state. It is nil if neither that nor the record says anything.
func (in *Input) divided(
	t *template.Template, p *policies.Propagation, b *karmada.ResourceBinding, placement string,
) *karmada.ResourceBinding {
	was := in.Recorded[in.Version.Of[p.Object.Ref()]].Division(in.Version.Commit, t.Ref())
	if b == nil {
		if was == nil {
			return nil
		}
		b = state.NewBinding(t.Object.APIVersion(), t.Ref())
	}
	is := *b
	switch {
	case was != nil:
		is.Spec.Clusters = make([]schedule.Target, 0, len(was.Clusters))
		for _, name := range slices.Sorted(maps.Keys(was.Clusters)) {
			is.Spec.Clusters = append(is.Spec.Clusters, schedule.Target{Name: name, Replicas: was.Clusters[name]})
		}
	case state.DecidedBy(b, placement) && b.Spec.Replicas == in.replicas(t):
		return b
	default:
		is.Spec.Clusters = in.Has(nil, t.Ref())
	}
	return state.AsPlacedBy(is, placement)
}

// replicas is how many replicas a template of the version asks for.
func (in *Input) replicas(t *template.Template) int32 {
	asked := in.Asked
	asked.Policies = in.Version.Expanded.Policies
	return asked.Replicas(t)
}
