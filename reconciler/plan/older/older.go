// Package older says what units of an older version of the source would be on the fleet of today: where their
// templates go now, with how many replicas, and which files clusters should have of them. The clusters, the
// state and the time are those of the plan; policies, templates, overrides and releases are those of
// the older commit.
package older

import (
	"maps"
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

// Source returns an older source as it is evaluated today: its objects, with the clusters, and what taints
// them, of now. What stands in clusters' own directories is in no unit.
func Source(then, now render.Source) render.Source {
	isFleet := func(o *object.Object) bool {
		r := o.Ref()
		return r.Kind == "Cluster" && r.Group == "cluster.karmada.io" || r.Kind == "ClusterTaintPolicy" && r.Group == "policy.karmada.io" ||
			r.Kind == "Remedy" && r.Group == "remedy.karmada.io"
	}
	objs := slices.DeleteFunc(slices.Clone(then.Objects), isFleet)
	for _, o := range now.Objects {
		if isFleet(o) {
			objs = append(objs, o)
		}
	}
	then.Objects, then.Bound = objs, nil
	then.Config.Failover, then.Config.Descheduler = now.Config.Failover, now.Config.Descheduler
	return then
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
	// Open are the runs that are open.
	Open map[rollouts.Unit]*rollouts.Rollout
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

// Evaluate decides about units of a version, and writes them out. Division is steady from what clusters have.
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

// bindings are those of the state, but that they say where templates are by what clusters have, unless what they record was decided of
// this version, too: then one decision serves both, also where it has not come to clusters yet. What clusters have is how a version
// was divided that they show, but for what those got more that show another one; the target of a run is divided anew. Claimed are the
// policies that claim the templates.
func (in *Input) bindings(templates []*template.Template, claimed []*policies.Propagation) map[object.Ref]*karmada.ResourceBinding {
	all, placements := maps.Clone(in.Asked.State.Bindings), map[*policies.Propagation]string{}
	var have []schedule.Target
	for n, t := range templates {
		b := all[t.Ref()]
		if b == nil {
			continue
		}
		have = in.Has(have[:0], t.Ref())
		p := claimed[n]
		isDivided := p != nil && p.Divides() && (t.Part == nil || len(t.Part.Failed) == 0)
		if !isDivided && slices.Equal(have, b.Spec.Clusters) {
			continue // what is remembered of the binding serves
		}
		is := *b
		if is.Spec.Clusters = slices.Clone(have); !isDivided {
			all[t.Ref()] = &is
			continue
		}
		if _, known := placements[p]; !known {
			placements[p] = state.Placement(&p.Spec.Placement)
		}
		run, replicas := in.Open[in.Version.Of[p.Object.Ref()]], in.replicas(t)
		switch isDecided := state.PlacedBy(b, placements[p]) && b.Spec.Replicas == replicas; {
		case isDecided:
		case run != nil && run.Status.Target.Commit == in.Version.Commit:
			all[t.Ref()] = &is
		default:
			is.Spec.Clusters = in.divided(run, t, is.Spec.Clusters, b.Spec.Clusters, replicas)
			all[t.Ref()] = state.AsPlacedBy(is, placements[p])
		}
	}
	return all
}

// divided is how the replicas of a template of the version were divided among clusters that have it, in a run, if one is open, by
// which some of these have the larger of two shares: what they have together beyond the replicas is taken off those that show another
// version, and have no more than their share of that, as it was decided; whoever has more than that has its share of this version. It is
// taken off what they have beyond their share of this version, were it divided anew, first.
func (in *Input) divided(
	run *rollouts.Rollout, t *template.Template, have, decided []schedule.Target, replicas int32,
) (targets []schedule.Target) {
	excess, isDecided := -replicas, make(map[schedule.Target]bool, len(decided))
	for _, t := range decided {
		isDecided[t] = true
	}
	for _, t := range have {
		excess += t.Replicas
	}
	if run == nil || excess <= 0 {
		return have
	}
	targets = slices.Clone(have)
	for _, share := range []func(cluster string) int32{in.anew(t), func(string) int32 { return 0 }} {
		for i, t := range have {
			if is, known := run.Clusters[t.Name]; known && is.Shows != in.Version.Commit && isDecided[t] {
				less := min(excess, max(0, targets[i].Replicas-share(t.Name)))
				targets[i].Replicas, excess = targets[i].Replicas-less, excess-less
			}
		}
	}
	return slices.DeleteFunc(targets, func(t schedule.Target) bool { return t.Replicas == 0 && !slices.Contains(have, t) })
}

// anew returns the shares of clusters in a template of the version, were it divided anew.
func (in *Input) anew(t *template.Template) func(cluster string) int32 {
	asked := in.Asked
	asked.Policies, asked.Templates = in.Version.Expanded.Policies, []*template.Template{t}
	st := *asked.State
	st.Bindings, asked.State = nil, &st
	decided := schedule.Find(schedule.Decide(asked).Decisions, t.Ref())
	return func(cluster string) int32 {
		for _, is := range decided.Scheduled {
			if is.Name == cluster {
				return is.Replicas
			}
		}
		return 0
	}
}

// replicas is how many replicas a template of the version asks for.
func (in *Input) replicas(t *template.Template) int32 {
	asked := in.Asked
	asked.Policies = in.Version.Expanded.Policies
	return asked.Replicas(t)
}
