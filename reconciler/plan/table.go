package plan

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/policies/match"
	mapped "github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/consumers"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/ingress"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/replicas"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/virtual"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// table answers the roll-out: what manifest wants, held against what is published.
type table struct {
	in      *Input
	decided *schedule.Result
	rows    []manifest.Row // in the order of refs
	blobs   *manifest.Blobs
	// group tells which clusters have the same published tree, and built is that tree, nil
	// for none: most clusters share a few.
	group []int
	built []*files.Folder
	trees []layout.Tree // that hold what is wanted, as far as it can be carried out
	// unlisted is what clusters have that no kustomization lists.
	unlisted unlisted
	replicas *replicas.Counter
	byPath   map[string]int                    // rows; nil until it is asked
	had      map[object.Ref]manifest.Published // what clusters have, of objects that were asked about
	pulled   schedule.Pulled                   // nil until it is asked
	// stopped are the clusters of which it cannot be told what they are to hold.
	stopped map[int]reason.Reason
	// recorded is what was left as it was by the plan that is made again; nil for a plan of its own.
	recorded    map[object.Ref]groups.By[state.Left]
	leaving     map[object.Ref][]string // see Plan.Leaving
	foundations foundations             // see addFoundations
	// units are those of objects that go out in stages, by number, of are their rows, and staged is what was decided of them.
	units     map[object.Ref]int
	of        map[int][]int
	staged    []stage.Output
	mover     *mover
	wanted    ingress.Result // of the decisions
	exchanged *services.Laid // what services clusters exchange by trees
}

func newTable(in *Input, decided *schedule.Result) *table {
	t := &table{
		in: in, decided: decided,
		replicas: in.Memo.replicas.Counter(in.Expanded.Policies.Interpreter, in.Expanded.Policies.InterpreterDigest),
		leaving:  leaving(decided.Decisions, &in.State), had: map[object.Ref]manifest.Published{}, stopped: virtual.Stopped(in.Expanded.Policies),
	}
	t.mover = newMover(t)
	groups := map[files.ID]int{}
	for _, c := range in.Expanded.Policies.Fleet.Clusters() {
		built := in.Published[c.Name].Built
		id := files.ID{}
		if built != nil {
			id = built.ID()
		}
		n, ok := groups[id]
		if !ok {
			n = len(t.built)
			groups[id] = n
			t.built = append(t.built, built)
		}
		t.group = append(t.group, n)
	}
	return t
}

// virtual is the mapping of the cluster with an index; nil for one with an API server of its own.
func (t *table) virtual(i int) *mapped.Mapping { return t.in.Expanded.Policies.Virtual.At(i) }

// cluster is the name of the cluster with an index.
func (t *table) cluster(i int) string { return t.in.Expanded.Policies.Fleet.Clusters()[i].Name }

// have is what clusters have of an object.
func (t *table) have(r object.Ref) manifest.Published {
	is, known := t.had[r]
	if !known {
		is = lookUp(t, r)
		t.had[r] = is
	}
	return is
}

// lookUp looks up in what is published what clusters have of an object.
func lookUp(t *table, r object.Ref) manifest.Published {
	path := tree.Path(r)
	found, of := make([]*files.Blob, 0, len(t.built)), t.group
	for _, built := range t.built {
		var e files.Entry
		if built != nil {
			e, _ = built.Lookup(path)
		}
		found = append(found, e.Blob)
	}
	if t.in.Expanded.Policies.Virtual == nil {
		return manifest.NewPublished(found, of)
	}
	of = slices.Clone(of)
	for cluster := range of {
		if m, built := t.virtual(cluster), t.built[t.group[cluster]]; m != nil && built != nil {
			e, _ := built.Lookup(tree.Path(m.Ref(r)))
			found, of[cluster] = append(found, e.Blob), len(found)
		}
	}
	return manifest.NewPublished(found, of)
}

// changes returns what reports an object that a cluster gets otherwise than it has it, or loses, or got since the last record; nil if it
// stays as it is.
func changes(t *table, cluster int) func(object.Ref) bool {
	had, is := t.built[t.group[cluster]], t.trees[cluster].Folder
	if had == nil {
		had = files.NewFolder(nil)
	}
	known := had
	if u := t.in.Staging.Unrecorded[t.cluster(cluster)]; u != nil {
		known = u.Known
	}
	if had.ID() == is.ID() && known == had {
		return nil // which is so most of the time
	}
	return func(r object.Ref) bool {
		path := tree.Path(t.virtual(cluster).Ref(r))
		after, _ := is.Lookup(path)
		differs := func(from *files.Folder) bool { e, _ := from.Lookup(path); return e.ID != after.ID }
		return differs(had) || known != had && differs(known)
	}
}

// before answers for what was published last.
func (t *table) before() manifest.Before {
	return manifest.Before{
		Had: func(r object.Ref) func(int) bool {
			have := t.have(r)
			return func(cluster int) bool { return have.In(cluster) != nil }
		},
		Sent: func(r object.Ref, cluster string) bool { return state.Sends(t.in.State.Bindings[r], cluster) },
		Own: func(cluster int) []object.Ref {
			return slices.DeleteFunc(tree.Namespaces(t.built[t.group[cluster]]), func(r object.Ref) bool { return !match.ClustersOwn(r) })
		},
		Leaving: func(d *schedule.Decision) []string { return t.leaving[d.Ref()] },
		HoldsData: func(r object.Ref, cluster int) bool {
			have := t.have(r)
			return guard.HoldsData(r, have.In(cluster))
		},
	}
}

// Stopped are the clusters of which it cannot be told what they are to hold.
func (t *table) Stopped() map[int]reason.Reason { return t.stopped }

// isRecorded reports a plan that is made again, and of which is recorded what it left: that is all that was in the way. Where a push
// came to some branches alone nothing is recorded, and what follows from an object that cannot be made is found again.
func isRecorded(in *Input) bool { return in.Replay != nil && in.Replay.State.Commit != "" }

// Blocked lists the rows with a block.
func (t *table) Blocked() (rows []int) {
	for i := range t.rows {
		r := &t.rows[i]
		isUnwritten := func(w manifest.Want) bool { return w.Blob == manifest.Unwritten }
		switch replay := isRecorded(t.in); {
		case len(t.stopped) > 0,
			!replay && (len(r.Blocks) > 0 || !t.unlisted.stays[r.Ref].IsEmpty()),
			replay && (t.recorded[r.Ref] != nil || slices.ContainsFunc(r.Wants, isUnwritten)):
			rows = append(rows, i)
		}
	}
	return rows
}

// Row makes the row of an object.
func (t *table) Row(i int) rollout.Row {
	r := &t.rows[i]
	d := t.decided.Find(r.Ref)
	row := rollout.Row{
		Divided: d != nil && isShared(d), Abandons: d != nil && abandons(t.in, d), IsSettled: isRecorded(t.in), Unit: t.units[r.Ref],
		Needs: append(t.needs(r.Ref, d), foundationsOf(t, r)...),
	}
	have, recorded := t.have(r.Ref), t.recorded[r.Ref]
	stood, stands := r.Stood()
	wants, has := r.Clusters(), have.Clusters().Or(kept(recorded)).Without(stood).Or(stands)
	cells := groups.By[rollout.Cell]{}.
		With(rollout.Cell{Want: true, Have: true}, wants.And(has)).
		With(rollout.Cell{Want: true}, wants.Without(has)).
		With(rollout.Cell{Have: true}, has.Without(wants)).
		With(rollout.Cell{}, recorded.Clusters().Without(wants.Or(has)))
	cells = groups.Join(cells, blocks(t, r, wants), func(c rollout.Cell, why reason.Reason, _ bool) rollout.Cell {
		c.Block = why
		return c
	})
	if steps := slices.Concat(t.leaving[r.Ref], t.mover.stays[r.Ref]); len(steps) > 0 {
		cells = in(cells, named(t, steps), func(c *rollout.Cell) { c.Step = true })
	}
	if row.Divided {
		scales := groups.Where(len(t.group), func(cluster int) bool {
			want, isWanted := r.Wanted(cluster)
			return t.scales(d, cluster, isWanted, want.Blob, have.In(cluster))
		})
		cells = in(cells, scales, func(c *rollout.Cell) { c.Scales = true })
	}
	row.Cells = cells
	return row
}

// isShared reports a template of which each cluster has a part: replicas, or the bounds of them. What has neither is whole in each,
// also by a policy that divides.
func isShared(d *schedule.Decision) bool {
	return d.Divided() && (d.Size.IsWorkload() || d.Shares != nil)
}

// in returns cells of which those of some clusters are changed.
func in(cells groups.By[rollout.Cell], clusters groups.Set, change func(*rollout.Cell)) groups.By[rollout.Cell] {
	of := groups.By[bool]{}.With(true, clusters)
	return groups.Join(cells, of, func(c rollout.Cell, isIn, _ bool) rollout.Cell {
		if isIn {
			change(&c)
		}
		return c
	})
}

// named is the set of clusters with some names.
func named(t *table, names []string) groups.Set {
	return groups.Collect(func(yield func(int) bool) {
		for _, name := range names {
			if i, ok := t.in.Expanded.Policies.Position(name); ok && !yield(i) {
				return
			}
		}
	})
}

// kept are the clusters that keep an object by what is recorded.
func kept(recorded groups.By[state.Left]) groups.Set {
	return recorded.Where(func(l state.Left) bool { return l.Kept })
}

// blocks say why what is wanted of a row cannot be carried out in clusters, which is what the row says, and that what no kustomization
// lists stays. Of a plan that is made again the record says it; only where an object has no binding and is not there, no record does.
// Wants are the clusters in which something is wanted.
func blocks(t *table, r *manifest.Row, wants groups.Set) groups.By[reason.Reason] {
	if t.in.Replay == nil {
		return r.Blocks.With(reason.Unlisted, t.unlisted.stays[r.Ref].Without(wants).Without(r.Blocks.Clusters()))
	}
	all := r.Blocks.Without(r.Blocks.Clusters().Without(r.Unwritten()))
	recorded := groups.Join(t.recorded[r.Ref], r.Blocks, func(l state.Left, why reason.Reason, _ bool) reason.Reason {
		return cmp.Or(l.Reason, waitsForStage(why), reason.NotRead)
	})
	for _, g := range recorded {
		all = all.With(g.Is, g.Clusters)
	}
	return all
}

// waitsForStage is a block of a cell if that waits for its stage; empty for none. Of an object without a binding the record has no
// reason, and this is what it was.
func waitsForStage(block reason.Reason) reason.Reason {
	if block.IsStaged() {
		return block
	}
	return ""
}

// abandons reports that a template leaves clusters with nothing left behind: where not even the last
// copy stays, what it needs leaves at once, as in Karmada.
func abandons(in *Input, d *schedule.Decision) bool {
	return d.Moves != nil && in.Source.Config.Failover.LastCopy != render.LastCopyKeep
}

// needs are the rows of what an object needs where it stays: what it pulled along, what scales it and, of an object that
// goes out in stages or is not in the source, its namespace.
func (t *table) needs(r object.Ref, d *schedule.Decision) (rows []int) {
	var refs []object.Ref
	isUnlisted, isStaged := !t.unlisted.stays[r].IsEmpty(), t.units[r] > 0
	if isUnlisted || d != nil && d.Policy != nil && d.Policy.Spec.PropagateDeps {
		refs = slices.Clone(t.pulledBefore(r))
	}
	if d != nil && d.Scaler != nil && d.Shares == nil {
		refs = append(refs, d.Scaler.Ref()) // a copy that stays is scaled still
	}
	if (isUnlisted || isStaged) && r.Namespace != "" {
		refs = append(refs, object.Ref{Kind: "Namespace", Name: r.Namespace})
	}
	for _, need := range refs {
		if n, ok := t.find(need); ok {
			rows = append(rows, n)
		}
	}
	return rows
}

// pulledBefore returns what a template pulled along by the last decisions.
func (t *table) pulledBefore(r object.Ref) []object.Ref {
	if t.pulled == nil {
		t.pulled = schedule.PulledBefore(t.decided.Decisions, &t.in.State)
	}
	return t.pulled.Of(r)
}

// Unit lists the rows of a unit that goes out in stages.
func (t *table) Unit(n int) []int {
	if t.of == nil {
		t.of = map[int][]int{}
		for i := range t.rows {
			if n := t.units[t.rows[i].Ref]; n > 0 {
				t.of[n] = append(t.of[n], i)
			}
		}
	}
	return t.of[n]
}

// find returns the row of an object.
func (t *table) find(r object.Ref) (int, bool) {
	return slices.BinarySearchFunc(t.rows, r, func(row manifest.Row, r object.Ref) int { return row.Ref.Compare(r) })
}

// scales reports whether a cluster would have other replicas of a divided template than it
// has. What cannot be told may be other.
func (t *table) scales(d *schedule.Decision, cluster int, wanted bool, blob int32, have *files.Blob) bool {
	want, has := replicas.Count{Known: true}, replicas.Count{Known: true}
	if have != nil {
		has = t.replicas.Of(have)
	}
	switch {
	case wanted && blob != manifest.Unwritten:
		if have != nil && have.ID() == t.blobs.At(blob).ID() {
			return false
		}
		want = t.replicas.Of(t.blobs.At(blob))
	case wanted:
		want = decidedIn(d, t.cluster(cluster))
	}
	return want != has || !want.Known
}

// decidedIn returns the replicas that a decision gives a cluster.
func decidedIn(d *schedule.Decision, cluster string) replicas.Count {
	for _, c := range d.Targets {
		if c.Name == cluster {
			return replicas.Count{N: c.Replicas, Known: true}
		}
	}
	return replicas.Count{Known: true}
}

// Differing lists the rows that want something else in a cluster than is there.
func (t *table) Differing(cluster int) (rows []int) {
	byPath := t.paths(t.virtual(cluster))
	for c := range files.Diff(t.built[t.group[cluster]], t.trees[cluster].Folder) {
		if i, ok := byPath[c.Path]; ok {
			rows = append(rows, i)
		}
	}
	return rows
}

// paths returns the rows by their paths in clusters with a mapping; those of clusters with an
// API server of their own are remembered.
func (t *table) paths(m *mapped.Mapping) map[string]int {
	if m == nil && t.byPath != nil {
		return t.byPath
	}
	byPath := make(map[string]int, len(t.rows))
	for i := range t.rows {
		byPath[tree.Path(m.Ref(t.rows[i].Ref))] = i
	}
	if m == nil {
		t.byPath = byPath
	}
	return byPath
}

// layOut makes the tree of each cluster, with what is left as it is.
func (t *table) layOut(left rollout.Remaining) {
	instead := make(map[int]groups.By[int32], len(left))
	for i, cells := range left {
		if len(cells) > 0 {
			instead[i] = stays(t, &t.rows[i], cells)
		}
	}
	in := layout.Input{Rows: t.rows, Blobs: t.blobs, Instead: instead, Virtual: t.in.Expanded.Policies.Virtual, Stays: t.stopped}
	for i := range t.group {
		in.Flux = append(in.Flux, t.flux(i))
	}
	t.trees, t.exchanged = t.wanted.Exchange.Lay(&in, layout.Trees(in))
}

// stays are the numbers of what clusters are to hold in cells of a row that are left as they are: what they have or, where a cluster shows
// an older version, that on the fleet of today.
func stays(t *table, row *manifest.Row, left rollout.LeftRow) groups.By[int32] {
	have := t.have(row.Ref)
	var all groups.Builder[int32]
	var last *files.Blob // most clusters keep the same
	number := int32(layout.Nothing)
	for _, l := range left {
		for cluster := range l.Clusters.All() {
			has := have.In(cluster)
			if !l.Is.Kept {
				has = nil
			}
			stands, isOlder := row.Standing(cluster)
			switch isOlder = isOlder && l.Is.Reason.IsStaged(); {
			case isOlder && stands == manifest.Nothing:
				stands = layout.Nothing
			case isOlder:
			case has == last:
				stands = number
			case has == nil:
				stands, last, number = layout.Nothing, nil, layout.Nothing
			default:
				stands = t.blobs.Add(has)
				last, number = has, stands
			}
			all.Add(cluster, stands)
		}
	}
	return all.By()
}

// Cluster is the plan for one cluster.
type Cluster struct {
	Name string
	// Tree is what the cluster should hold, without waybill.metadata.
	Tree    *files.Folder
	Objects int // manifests in Tree
	Sync    fluxsync.Sync
	Held    *guard.Hold // nil if the tree may be published
}

// carried is what is carried out of a plan.
type carried struct {
	released []guard.Held // that were held, and are allowed
	clusters []Cluster
	result   rollout.Result
	removals string // see Plan.Removals
	allowed  bool
	diags    []diag.Diagnostic
}

// clusters is the plan for each cluster, with nothing held.
func (t *table) clusters() []Cluster {
	all := make([]Cluster, len(t.trees))
	for i, tr := range t.trees {
		all[i] = Cluster{Name: t.cluster(i), Tree: tr.Folder, Objects: tr.Objects, Sync: t.flux(i).Sync}
	}
	return all
}

// flux says how Flux syncs a cluster.
func (t *table) flux(i int) tree.Flux {
	c := t.in.Expanded.Policies.Fleet.Clusters()[i]
	sync, _ := t.in.Source.Config.Publish.Flux.For(c.Name, c.Source.Annotations)
	_, sync.Encrypted = c.Source.Annotations[seal.RecipientsAnnotation]
	sync.Folder = t.in.Source.Config.Publish.Addresses().Of(c.Name).Folder
	sync.Links, _ = links.Parse(t.in.Source.Config.Publish.Links) // which the config was held against
	return tree.Flux{Sync: sync, Before: t.in.Published[c.Name]}
}

// consumers reports what those who sync the branches have to know.
func (t *table) consumers(clusters []Cluster) []diag.Diagnostic {
	if t.in.Medium != Branch {
		return nil
	}
	branches := make([]consumers.Branch, len(clusters))
	for i, c := range clusters {
		branches[i] = consumers.Branch{Tree: c.Tree, Flux: t.flux(i), Held: c.Held != nil}
	}
	return consumers.Check(t.in.Expanded.Policies, t.in.Source.Config, branches)
}
