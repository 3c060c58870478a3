package plan

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// What a plan leaves as it is, is recorded in Karmada's own words: spec.clusters of a
// binding is what was decided, status.aggregatedStatus lists the clusters where the object
// is not as decided, with the reason, and whether it is there. A binding whose template has
// gone, or has no policy any longer, stays as long as some cluster keeps the object. What
// is left and never had a binding, such as a Namespace that goes along, stands in a table
// of its own. Held clusters have a condition.

// record makes the next state.
func (t *table) record(out *carried, random state.Random) *files.Folder {
	left := t.leftByRef(out)
	c := state.Content{
		LastGood: t.in.Doubt.Remembered(), Releases: t.releases(out), Kept: map[object.Ref][]string{},
		Clusters: t.clusterFolder(out), Random: random,
	}
	if out.allowed {
		c.LastGood = t.in.Doubt.RememberedOnceAllowed()
	}
	for i := range t.decided.Decisions {
		d := &t.decided.Decisions[i]
		if d.Binding != nil {
			c.Bindings = append(c.Bindings, withStatus(d.Binding, left[d.Ref()]))
			delete(left, d.Ref())
		}
	}
	for r, in := range left {
		if old := t.in.State.Bindings[r]; old != nil {
			if kept := leftOver(old, in); kept != nil {
				c.Bindings = append(c.Bindings, kept)
			}
			continue
		}
		for cluster, l := range in {
			if l.Kept {
				c.Kept[r] = append(c.Kept[r], cluster)
			}
		}
		slices.Sort(c.Kept[r])
	}
	slices.SortFunc(c.Bindings, func(x, y *karmada.ResourceBinding) int {
		return state.TemplateRef(x).Compare(state.TemplateRef(y))
	})
	folder, err := state.Encode(c, &t.in.State)
	if err != nil {
		panic("plan: a binding that was made here does not encode: " + err.Error())
	}
	return folder
}

// leftByRef lists what is left as it is, by object and the name of the cluster, as far as
// it is not what was decided anyway. What a held cluster would lose and nobody sends any
// longer is kept as well.
func (t *table) leftByRef(out *carried) map[object.Ref]map[string]rollout.Left {
	all := map[object.Ref]map[string]rollout.Left{}
	note := func(r object.Ref, cluster string, l rollout.Left) {
		if all[r] == nil {
			all[r] = map[string]rollout.Left{}
		}
		all[r][cluster] = l
	}
	for i, cells := range out.result.Left {
		row := &t.rows[i]
		have := t.have(row.Ref)
		for cluster, l := range cells {
			want, wanted := row.Wanted(cluster)
			b := have(cluster)
			if asDecided := wanted && b != nil && want.Blob >= 0 && t.blobs.At(want.Blob).ID() == b.ID() || !wanted && b == nil && !l.Kept; !asDecided {
				note(row.Ref, t.cluster(cluster), l)
			}
		}
	}
	for _, c := range out.clusters {
		if c.Held == nil {
			continue
		}
		for _, removal := range c.Held.Removals {
			if all[removal.Object][c.Name] == (rollout.Left{}) {
				note(removal.Object, c.Name, rollout.Left{Kept: true, Reason: rollout.Held})
			}
		}
	}
	return all
}

// withStatus returns a binding that says where its object is not as decided.
func withStatus(b *karmada.ResourceBinding, left map[string]rollout.Left) *karmada.ResourceBinding {
	status := statusOf(left)
	if slices.Equal(b.Status.AggregatedStatus, status) {
		return b
	}
	out := *b
	out.Status.AggregatedStatus = status
	return &out
}

func statusOf(left map[string]rollout.Left) (items []karmada.AggregatedStatusItem) {
	for _, cluster := range slices.Sorted(maps.Keys(left)) {
		items = append(items, karmada.AggregatedStatusItem{ClusterName: cluster, Applied: left[cluster].Kept, AppliedMessage: string(left[cluster].Reason)})
	}
	return items
}

// leftOver returns the last binding of an object that nobody sends any longer: with the
// clusters that keep it; nil if none does.
func leftOver(old *karmada.ResourceBinding, left map[string]rollout.Left) *karmada.ResourceBinding {
	gone := func(c karmada.TargetCluster) bool { return !left[c.Name].Kept }
	out := *old
	out.Spec.Clusters = slices.DeleteFunc(slices.Clone(old.Spec.Clusters), gone)
	out.Spec.RequiredBy = nil
	for _, s := range old.Spec.RequiredBy {
		if s.Clusters = slices.DeleteFunc(slices.Clone(s.Clusters), gone); len(s.Clusters) > 0 {
			out.Spec.RequiredBy = append(out.Spec.RequiredBy, s)
		}
	}
	kept := withStatus(&out, left)
	if len(kept.Spec.Clusters)+len(kept.Spec.RequiredBy) == 0 && !slices.ContainsFunc(kept.Status.AggregatedStatus, func(s karmada.AggregatedStatusItem) bool { return s.Applied }) {
		return nil
	}
	return kept
}

// releases is what the next state says of releases: what they rendered to, what those that
// failed rendered to before, and what held clusters may still have of before. Once nothing
// is held, releases that failed are remembered with what they are made from now, be it
// without an object, so that nothing is looked for in them any longer.
func (t *table) releases(out *carried) []state.Release {
	x := t.in.Expanded
	all := map[state.ReleaseID]map[object.Ref]bool{}
	add := func(id state.ReleaseID, refs []object.Ref) {
		if all[id] == nil {
			all[id] = map[object.Ref]bool{}
		}
		for _, r := range refs {
			all[id][r] = true
		}
	}
	held := map[string]bool{}
	for _, c := range out.clusters {
		if c.Held != nil {
			held[c.Name] = true
		}
	}
	settled := out.settled()
	for _, r := range x.Releases {
		add(r.ID(), r.Objects)
	}
	for _, f := range x.Failures {
		if f.Objects != nil || settled {
			add(state.ReleaseID(f.ID), f.Objects)
		}
	}
	for _, r := range t.in.State.Releases {
		isHeld := held[r.Cluster] || r.Cluster == "" && len(held) > 0
		if isHeld && all[r.ID()] != nil {
			add(r.ID(), r.Objects)
		}
	}
	var list []state.Release
	inputs := t.inputs(out)
	for _, id := range slices.SortedFunc(maps.Keys(all), state.ReleaseID.Compare) {
		list = append(list, state.Release{Cluster: id.Cluster, Release: id.Release, Objects: slices.SortedFunc(maps.Keys(all[id]), object.Ref.Compare), Inputs: inputs[id]})
	}
	return list
}

// settled reports that nothing is held, or that what was is allowed.
func (c *carried) settled() bool {
	return c.allowed || !slices.ContainsFunc(c.clusters, func(c Cluster) bool { return c.Held != nil })
}

// inputs is what releases are made from, for the next plan to compare with. What those that
// failed are made from counts once it is settled that nothing moved into them.
func (t *table) inputs(out *carried) map[state.ReleaseID]string {
	all, settled := map[state.ReleaseID]string{}, out.settled()
	for _, r := range t.in.Expanded.Releases {
		all[r.ID()] = r.Inputs
	}
	for _, f := range t.in.Expanded.Failures {
		if all[state.ReleaseID(f.ID)] = f.Before; settled {
			all[state.ReleaseID(f.ID)] = f.Inputs
		}
	}
	return all
}

// replay carries out what a recorded plan carried out.
func (t *table) replay() carried {
	recorded := t.in.Replay.State.Left()
	var missing []object.Ref
	for r := range recorded {
		if _, ok := t.find(r); !ok {
			missing = append(missing, r)
		}
	}
	t.addRows(missing)
	out := carried{allowed: t.in.Replay.Allowed, result: rollout.Result{Left: map[int]map[int]rollout.Left{}, Frozen: map[int]rollout.Reason{}, Held: map[int]bool{}}}
	for r, clusters := range recorded {
		i, _ := t.find(r)
		out.result.Left[i] = map[int]rollout.Left{}
		for name, l := range clusters {
			if cluster, ok := t.in.Expanded.Law.Index(name); ok {
				out.result.Left[i][cluster] = rollout.Left{Kept: l.Applied, Reason: rollout.Reason(l.AppliedMessage)}
			}
		}
	}
	t.missUnwritten(out.result.Left)
	t.trees = t.layOut(out.result.Left)
	for i, c := range t.clusters() {
		if reason := t.in.Replay.State.Held[c.Name].Message; reason != "" {
			out.result.Held[i], c.Held = true, &guard.Hold{Reason: reason}
		}
		out.clusters = append(out.clusters, c)
	}
	return out
}

// missUnwritten leaves out what cannot be written: where an object has no binding and is not
// there, no record says so.
func (t *table) missUnwritten(all map[int]map[int]rollout.Left) {
	for i := range t.rows {
		row := &t.rows[i]
		for _, w := range row.Wants {
			if w.Blob != manifest.Unwritten {
				continue
			}
			if all[i] == nil {
				all[i] = map[int]rollout.Left{}
			}
			if _, recorded := all[i][int(w.Cluster)]; !recorded {
				all[i][int(w.Cluster)] = rollout.Left{Reason: rollout.Reason(row.Blocks[w.Cluster])}
			}
		}
	}
}

// addRows adds rows for objects of which nothing is wanted.
func (t *table) addRows(refs []object.Ref) {
	for _, r := range refs {
		t.rows = append(t.rows, manifest.Row{Ref: r})
	}
	slices.SortFunc(t.rows, func(a, b manifest.Row) int { return a.Ref.Compare(b.Ref) })
}

// left is what is left as it is of an object, by the name of the cluster.
func (m *made) left(r object.Ref) map[string]rollout.Left {
	i, ok := m.table.find(r)
	if !ok {
		return nil
	}
	out := map[string]rollout.Left{}
	for cluster, l := range m.result.Left[i] {
		out[m.table.cluster(cluster)] = l
	}
	return out
}
