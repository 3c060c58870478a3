package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Move is an object in a cluster that it leaves for others because it was so decided.
type Move struct {
	Object object.Ref
	From   string
	To     []string // clusters that get it by this plan or, if none does, that it goes to
	Way    move.Way
	Direct move.Direct // why it goes at once; empty if it does not
	// Stays says why it stays for now; empty if it goes. Until is when time alone may change that, zero for never.
	Stays reason.Reason
	Until time.Time
	// Within is how long that is from the beginning of the move; 0 for one that began before.
	Within time.Duration
	// Began reports that an earlier plan began the move.
	Began bool
}

// mover decides how objects leave clusters for others. What has begun to leave is decided before the table is settled,
// and what begins to once it is known what clusters lose, so that the guard judges a removal when its move begins, and
// when it happens.
type mover struct {
	table   *table
	rules   move.Rules
	leavers []leaver
	// stays are the clusters in which objects stay because the steps of their moves are not over.
	stays   map[object.Ref][]string
	recheck recheck.Recheck
	asks    map[object.Ref][]string // see Plan.Asks
}

// leaver is an object that leaves a cluster, as it is in the table.
type leaver struct {
	move.Copy

	row, at int // of the object, and of the cluster
	allowed bool
	arrives []string // the clusters that get it
	is      move.Verdict
}

func newMover(t *table) *mover {
	m := t.in.Source.Config.Publish.Moves
	return &mover{table: t, rules: move.Rules{Wait: m.Wait.Duration, Timeout: m.Timeout.Duration}, stays: map[object.Ref][]string{}}
}

// resume decides about what began to leave before.
func (m *mover) resume() {
	if m.table.in.Replay != nil {
		return // the record says what stays
	}
	for _, l := range m.table.in.State.Leaving {
		at, isThere := m.table.in.Expanded.Policies.Position(l.Cluster)
		row, known := m.table.find(l.Object)
		if !isThere || !known || !m.mayMove(row, at) {
			continue
		}
		is := m.leaver(row, at, func(cluster int, w manifest.Want) bool {
			return w.Blob >= 0 && m.table.rows[row].Blocked(cluster) == ""
		})
		if is.Began, is.allowed = true, l.Allowed; len(is.arrives) == 0 {
			is.Since = l.Since.Time
		}
		m.leavers = append(m.leavers, is)
	}
	m.settle(m.leavers)
}

// begin finds what begins to leave by what is carried out, and reports whether any of it stays for now, so that
// something else is carried out.
func (m *mover) begin(out *carried) bool {
	if m.table.in.Replay != nil || m.rules == (move.Rules{}) {
		return false
	}
	var begin []leaver
	for _, c := range m.removed(out) {
		row, at := c[0], c[1]
		if !m.mayMove(row, at) || m.table.mayLeave(m.table.rows[row].Ref, m.table.cluster(at)) {
			continue
		}
		l := m.leaver(row, at, func(cluster int, _ manifest.Want) bool {
			_, isLeft := out.result.Left[row].At(cluster)
			return !isLeft && out.clusters[cluster].Held == nil
		})
		if len(l.arrives) > 0 {
			l.allowed = isReleased(out.released, m.table.cluster(at), l.Ref)
			begin = append(begin, l)
		}
	}
	m.settle(begin)
	m.leavers = append(m.leavers, begin...)
	return slices.ContainsFunc(begin, func(l leaver) bool { return l.is.Stays != "" })
}

// removed lists the rows and clusters of what began to leave no move before, and is removed by what is carried out.
func (m *mover) removed(out *carried) (all [][2]int) {
	t, known := m.table, map[[2]files.ID][]string{}
	for i := range out.clusters {
		built := t.built[t.group[i]]
		if out.clusters[i].Held != nil || built == nil {
			continue
		}
		key := [2]files.ID{built.ID(), out.clusters[i].Tree.ID()}
		paths, ok := known[key]
		if !ok {
			paths = pathsGone(built, out.clusters[i].Tree)
			known[key] = paths
		}
		if len(paths) == 0 {
			continue
		}
		byPath := t.paths(t.virtual(i))
		for _, path := range paths {
			row, ok := byPath[path]
			if ok && state.FindLeaving(t.in.State.Leaving, t.rows[row].Ref, t.cluster(i)) == nil {
				all = append(all, [2]int{row, i})
			}
		}
	}
	return all
}

// pathsGone lists the paths that a tree has and the next one has not.
func pathsGone(before, after *files.Folder) (paths []string) {
	for c := range files.Diff(before, after) {
		if c.New.Name == "" {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// mayMove reports that an object which goes to some clusters is in one that it does not go to, for no other reason.
func (m *mover) mayMove(row, at int) bool {
	t, r := m.table, &m.table.rows[row]
	d := t.decided.Find(r.Ref)
	_, isWanted := r.Wanted(at)
	have := t.have(r.Ref)
	return d != nil && len(r.Wants) > 0 && !isWanted && have.In(at) != nil && !slices.Contains(t.leaving[r.Ref], t.cluster(at))
}

// leaver is an object that leaves a cluster now; arrives tells the clusters that get what they want.
func (m *mover) leaver(row, at int, arrives func(cluster int, w manifest.Want) bool) leaver {
	t, r := m.table, &m.table.rows[row]
	l := leaver{row: row, at: at, Copy: move.Copy{Ref: r.Ref, Cluster: t.cluster(at), Since: t.in.Now}}
	d, have := t.decided.Find(r.Ref), t.have(r.Ref)
	from := []map[string]string{d.Template.Object.Annotations()}
	if d.Template.Part != nil {
		from = append(from, d.Template.Part.Release.Annotations())
	}
	if d.Policy != nil {
		l.Group, from = d.Policy.String(), append(from, d.Policy.Object.Annotations())
	}
	l.Direct = move.DirectOf(r.Ref, d.Template.Content, from...)
	for _, w := range r.Wants {
		cluster, has := int(w.Cluster), have.In(int(w.Cluster))
		l.New = append(l.New, move.New{
			Cluster: t.cluster(cluster), IsPublished: has != nil && w.Blob >= 0 && has.ID() == t.blobs.At(w.Blob).ID(),
		})
		if has == nil && arrives(cluster, w) {
			l.arrives = append(l.arrives, t.cluster(cluster))
		}
	}
	return l
}

// settle decides about some of what leaves, and blocks the removal of what stays.
func (m *mover) settle(leavers []leaver) {
	m.alike(leavers)
	copies := make([]move.Copy, len(leavers))
	for i := range leavers {
		copies[i] = leavers[i].Copy
		m.ask(&copies[i])
	}
	verdicts, again := m.rules.Decide(copies, m.table.in.Evidence, m.table.in.Now)
	m.recheck = m.recheck.And(again)
	for i := range leavers {
		l := &leavers[i]
		if l.is = verdicts[i]; l.is.Stays != "" {
			m.table.rows[l.row].Block(l.at, l.is.Stays)
			m.stays[l.Ref] = append(m.stays[l.Ref], l.Cluster)
		}
	}
}

// alike has what something needs leave as that does: not before it and, where it is needed by nothing else, at once with
// what goes at once.
func (m *mover) alike(leavers []leaver) {
	at := map[[2]int]int{}
	for i := range leavers {
		at[[2]int{leavers[i].row, leavers[i].at}] = i
	}
	waits, direct := map[int]bool{}, map[int]bool{}
	for i := range leavers {
		l := &leavers[i]
		for _, need := range m.table.needs(l.Ref, m.table.decided.Find(l.Ref)) {
			if n, ok := at[[2]int{need, l.at}]; ok {
				waits[n], direct[n] = waits[n] || l.Direct == "", direct[n] || l.Direct != ""
			}
		}
	}
	for i := range leavers {
		switch l := &leavers[i]; {
		case waits[i]:
			l.Direct = ""
		case direct[i] && l.Direct == "" && l.Group == "":
			l.Direct = move.NeededByOne
		}
	}
}

// ask notes that it matters what clusters say of an object, of which the input knows nothing.
func (m *mover) ask(c *move.Copy) {
	if _, known := m.table.in.Evidence[c.Ref]; known || c.Direct != "" || m.rules.Timeout == 0 {
		return
	}
	if m.asks == nil {
		m.asks = map[object.Ref][]string{}
	}
	m.asks[c.Ref] = append(m.asks[c.Ref], c.Cluster)
	for _, n := range c.New {
		m.asks[c.Ref] = append(m.asks[c.Ref], n.Cluster)
	}
}

// wasAllowed reports that the removal of an object was allowed when its move began, and that it goes elsewhere still.
func (m *mover) wasAllowed(r object.Ref, cluster string) bool {
	l := state.FindLeaving(m.table.in.State.Leaving, r, cluster)
	d := m.table.decided.Find(r)
	return l != nil && l.Allowed && d != nil && len(d.Targets) > 0
}

// isReleased reports that a cluster which would be held for losing an object is released.
func isReleased(released []guard.Held, cluster string, r object.Ref) bool {
	return slices.ContainsFunc(released, func(h guard.Held) bool {
		return h.Cluster == cluster && slices.ContainsFunc(h.Hold.Removals, func(l guard.Removal) bool { return l.Object == r })
	})
}

// record is what the next state says of what leaves, by what is carried out.
func (m *mover) record(out *carried) (all []state.Leaving) {
	if m.table.in.Replay != nil {
		return m.recorded()
	}
	for i := range m.leavers {
		l := &m.leavers[i]
		if left, _ := out.result.Left[l.row].At(l.at); !left.Kept || !l.Began && l.is.Stays == "" {
			continue
		}
		is := state.Leaving{Object: l.Ref, Cluster: l.Cluster, Since: metav1.NewTime(m.table.in.Now.UTC()), Allowed: l.allowed}
		if was := state.FindLeaving(m.table.in.State.Leaving, l.Ref, l.Cluster); was != nil && !m.gets(l, out) {
			is.Since = was.Since
		}
		all = append(all, is)
	}
	slices.SortFunc(all, state.Leaving.Compare)
	return all
}

// gets reports that a cluster gets what leaves another one by what is carried out.
func (m *mover) gets(l *leaver, out *carried) bool {
	return slices.ContainsFunc(l.arrives, func(name string) bool {
		cluster, _ := m.table.in.Expanded.Policies.Position(name)
		_, isLeft := out.result.Left[l.row].At(cluster)
		return !isLeft && out.clusters[cluster].Held == nil
	})
}

// recorded is record of a plan that is made again: what was recorded then of objects that do not go where they were,
// since when the state before says, or since then.
func (m *mover) recorded() (all []state.Leaving) {
	for _, l := range m.table.in.Replay.State.Leaving {
		row, known := m.table.find(l.Object)
		at, isThere := m.table.in.Expanded.Policies.Position(l.Cluster)
		if !known || !isThere || m.table.decided.Find(l.Object) == nil {
			continue
		}
		if _, isWanted := m.table.rows[row].Wanted(at); isWanted {
			continue
		}
		was := state.FindLeaving(m.table.in.State.Leaving, l.Object, l.Cluster)
		if was == nil || !was.Since.Equal(&l.Since) {
			l.Since = metav1.NewTime(m.table.in.Now.UTC())
		}
		all = append(all, l)
	}
	return all
}

// moves are the moves of the plan, in the order of objects and clusters.
func (m *mover) moves() (all []Move) {
	for i := range m.leavers {
		l := &m.leavers[i]
		is := Move{Object: l.Ref, From: l.Cluster, To: l.arrives, Way: l.is.Way, Stays: l.is.Stays, Until: l.is.Until, Began: l.Began}
		if !l.Began && !l.is.Until.IsZero() {
			is.Within = l.is.Until.Sub(m.table.in.Now)
		}
		if len(is.To) == 0 {
			for _, n := range l.New {
				is.To = append(is.To, n.Cluster)
			}
		}
		if is.Way == move.AtOnce {
			is.Direct = l.Direct
			if is.Direct == "" {
				is.Direct = move.Unwatched
			}
		}
		all = append(all, is)
	}
	slices.SortFunc(all, func(a, b Move) int {
		return state.Leaving{Object: a.Object, Cluster: a.From}.Compare(state.Leaving{Object: b.Object, Cluster: b.From})
	})
	return all
}
