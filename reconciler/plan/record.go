package plan

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// record makes the next state.
func (t *table) record(
	out *carried, random state.Random, scripts argocd.Scripts, goes []rollouts.Rollout, wrong sourceerrors.Record,
) *files.Folder {
	c := state.Content{
		Left: t.leftByRef(out), Unrendered: t.in.Expanded.Unrendered(),
		Clusters: t.in.Expanded.Policies.Set.Clusters, Held: out.held(), When: t.in.Source.Revision.When,
		LastGood: t.in.Unresolved.Remembered(), Releases: t.releases(out), Random: random,
		Failover: t.failover(), Leaving: t.mover.record(out), Remedies: t.remedies(), Watch: t.watch(),
		Terms: state.TermsOf(&t.in.Source.Config), Unlisted: t.unlisted.all, Scripts: scripts, Rollouts: goes, SourceErrors: wrong,
		Booked: t.exchanged.Booked(),
	}
	if out.allowed && len(c.Held) == 0 { // what is still held waits for it
		c.LastGood = t.in.Unresolved.RememberedOnceAllowed()
	}
	for _, x := range t.in.Expanded.Policies.Set.Customizations {
		c.Interpreters = append(c.Interpreters, x.Value)
	}
	for i := range t.decided.Decisions {
		if b := t.decided.Decisions[i].Binding; b != nil {
			c.Bindings = append(c.Bindings, b)
		}
	}
	folder, err := state.Encode(c, &t.in.State, &t.in.Memo.state)
	if err != nil {
		panic("plan: what was decided here does not encode: " + err.Error())
	}
	return folder
}

// sourceErrors is what is recorded of the errors among what is wrong with the source.
func sourceErrors(in *Input, wrong []diag.Diagnostic) sourceerrors.Record {
	if in.Replay != nil {
		wrong = sourceerrors.Replayed(wrong, in.Replay.State.SourceErrors)
	}
	return sourceerrors.Of(wrong, in.Source.Revision.Commit, in.Source.Revision.When, in.State.SourceErrors)
}

// held says why clusters are held, by their names.
func (c *carried) held() map[string]string {
	held := map[string]string{}
	for _, h := range c.holds() {
		held[h.Cluster] = h.Hold.Reason
	}
	return held
}

// leftByRef lists what is left as it is, by object and in the order of clusters, as far as
// it is not what was decided anyway. What a held cluster would lose and nobody sends any
// longer is kept as well.
func (t *table) leftByRef(out *carried) map[object.Ref]groups.By[state.Left] {
	all := map[object.Ref]groups.By[state.Left]{}
	for i, cells := range out.result.Left {
		if len(cells) == 0 {
			continue
		}
		row := &t.rows[i]
		have := t.have(row.Ref)
		stood, _ := row.Stood()
		asDecided, somewhere := row.There(t.blobs, &have).Without(stood), have.Clusters()
		var left groups.By[state.Left]
		for _, l := range cells {
			as := asDecided
			if l.Is.Kept {
				as = as.And(somewhere) // what was there when the plan was made that is made again
			}
			left = left.With(state.Left{Kept: l.Is.Kept, Reason: l.Is.Reason}, l.Clusters.Without(as))
		}
		if len(left) > 0 {
			all[row.Ref] = left
		}
	}
	for _, h := range out.holds() {
		at, _ := t.in.Expanded.Policies.Position(h.Cluster)
		for _, removal := range h.Hold.Removals {
			left := all[removal.Object]
			all[removal.Object] = left.With(state.Left{Kept: true, Reason: reason.Held}, groups.Of(at).Without(left.Clusters()))
		}
	}
	return all
}

// releases is what the next state says of releases: what they rendered to, what those that
// failed rendered to before, and what held clusters may still have of before. Once it is
// settled that nothing is held, nor missing while it may be in what cannot be read, releases that
// failed are remembered with what they are made from now, be it without an object, so that nothing
// is looked for in them any longer. Of one that is remembered so that stays while something is held.
func (t *table) releases(out *carried) []state.Release {
	held := out.held()
	settled := len(held) == 0 && (out.allowed || len(t.in.Unresolved.Remembered().Objects) == 0)
	all := map[state.ReleaseID]state.Release{}
	add := func(id state.ReleaseID, objects []object.Ref, inputs string) {
		refs := slices.Concat(all[id].Objects, objects)
		slices.SortFunc(refs, object.Ref.Compare)
		all[id] = state.Release{Cluster: id.Cluster, Release: id.Release, Objects: slices.Compact(refs), Inputs: inputs}
	}
	for _, r := range t.in.Expanded.Releases {
		add(r.ID(), r.Objects, r.Inputs)
	}
	for _, f := range t.in.Expanded.Failures {
		inputs := f.Before
		if settled {
			inputs = f.Inputs
		}
		if _, rendered := all[f.ID]; rendered || f.Objects != nil || f.Before != "" || settled {
			add(f.ID, f.Objects, inputs)
		}
	}
	for _, r := range t.in.State.Releases {
		now, remembered := all[r.ID()]
		if _, isHeld := held[r.Cluster]; remembered && (isHeld || r.Cluster == "" && len(held) > 0) {
			add(r.ID(), r.Objects, now.Inputs)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b state.Release) int { return a.ID().Compare(b.ID()) })
}

// replay carries out what a recorded plan carried out: what it left is blocked, and nothing is judged.
func (t *table) replay() carried {
	t.recorded = leftBefore(t, &t.in.Replay.State)
	t.addRows(slices.Collect(maps.Keys(t.recorded)))
	out := carried{allowed: t.in.Replay.Allowed}
	out.result = rollout.Resolve(t, func(left rollout.Remaining) []int {
		t.layOut(left)
		return nil
	})
	out.clusters = t.clusters()
	for i := range out.clusters {
		if h, isHeld := t.in.Replay.State.Held[out.clusters[i].Name]; isHeld {
			out.clusters[i].Held = &guard.Hold{Reason: h.Message}
		}
	}
	return out
}

// leftBefore is what a state says of where objects are not as decided.
func leftBefore(t *table, s *state.State) map[object.Ref]groups.By[state.Left] {
	all := map[object.Ref]groups.By[state.Left]{}
	for r, left := range s.Left() {
		var by groups.Builder[state.Left]
		for _, l := range left {
			if i, ok := t.in.Expanded.Policies.Position(l.Cluster); ok {
				by.Add(i, l.Left)
			}
		}
		all[r] = by.By()
	}
	return all
}

// addRows adds rows for objects that have none. Nothing is wanted of them.
func (t *table) addRows(refs []object.Ref) {
	missing := map[object.Ref]bool{}
	for _, r := range refs {
		if _, ok := t.find(r); !ok {
			missing[r] = true
		}
	}
	if len(missing) == 0 {
		return
	}
	for r := range missing {
		t.rows = append(t.rows, manifest.Row{Ref: r})
	}
	slices.SortFunc(t.rows, func(a, b manifest.Row) int { return a.Ref.Compare(b.Ref) })
}

// leftIn is what is left as it is, by object.
func (t *table) leftIn(left rollout.Remaining) map[object.Ref]rollout.LeftRow {
	all := make(map[object.Ref]rollout.LeftRow, len(left))
	for i, cells := range left {
		if len(cells) > 0 {
			all[t.rows[i].Ref] = cells
		}
	}
	return all
}
