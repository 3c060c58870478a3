// Package rollout decides what is carried out of what was decided. It is one table: a row
// for an object, a cell for the object in a cluster.
//
//	want     what should be there: the object, or nothing
//	have     what is there now: the object, or nothing
//	block    why want cannot be carried out there now (package reason); or nothing
//
//	deliver  want, not blocked
//	remove   have, no want, not blocked
//	keep     have, blocked: what is there stays as it is
//	miss     want, no have, blocked: what should be there is not
//
// A row is frozen, so that each cell which has the object keeps it and each other misses
// it, if carrying it out would leave the object
//
//	nowhere  some cell misses it, some would remove it, and none delivers or keeps what it wants
//	twice    a blocked cell keeps what it should remove, a new one would deliver, and no
//	         cluster has it before and after
//	short    its replicas are divided, those of a blocked cell would change, and so would
//	         those of one that is not blocked
//
// and what a row needs is not removed from where the row keeps it. Rows that go out in stages together are one
// version: where one of them is left as it is, all are.
//
// A block does not count for that where it stands for itself (reason.IsAside), and where it is a step: the
// object leaves the cluster because that failed, or for others, one after the other. All cells of a stopped
// cluster are blocked: of one of which it cannot be told what it is to hold.
//
// Clusters are held by a judge, who sees what each would lose. Every cell of a held cluster
// is blocked. That may freeze rows, which may change what others lose, so that Resolve asks
// the judge again until nothing changes; holds and frozen rows only grow, so that it ends.
// Only rows with a block enter: with nothing wrong the table costs nothing.
package rollout

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
)

// Cell is an object in a cluster that should have it or has it. In most clusters it is the same.
type Cell struct {
	Want, Have bool
	// Scales reports that carrying out what is wanted changes how many replicas the
	// cluster has. It matters in divided rows only.
	Scales bool
	// Step reports that the object is leaving the cluster one step after the other, because that, or what is
	// there, failed, or for others that get it first: whatever is in the way there freezes nothing.
	Step  bool
	Block reason.Reason
}

// isAside reports that the block of a cell freezes nothing.
func (c *Cell) isAside() bool { return c.Block != "" && (c.Step || c.Block.IsAside()) }

// Row is an object.
type Row struct {
	Divided bool
	Cells   groups.By[Cell]
	// Needs are the rows that this one needs where it stays.
	Needs []int
	// Unit is what the object goes out in stages with, and is one version with in a cluster: where one object is
	// left as it is, so are the others. 0 is none.
	Unit int
	// Abandons reports that the object leaves clusters with nothing left behind: what it needs there
	// goes at once.
	Abandons bool
	// IsSettled reports that what is in the way is all that there was when the row was settled before:
	// nothing follows from it.
	IsSettled bool
}

// Table answers for rows, which it numbers. Of a row that nobody asks for nothing is made.
type Table interface {
	// Blocked lists the rows with a block.
	Blocked() []int
	// Row makes a row, which belongs to who asks.
	Row(i int) Row
	// Stopped are the clusters of which it cannot be told what they are to hold, and why: all that they
	// have stays as it is, be it in a row or not.
	Stopped() map[int]reason.Reason
	// Unit lists the rows of a unit.
	Unit(n int) []int
	// Differing lists the rows that want something else in a cluster than is there.
	Differing(cluster int) []int
}

// Left is a cell that is left as it is.
type Left struct {
	Kept   bool // the object is there; otherwise it is missed
	Reason reason.Reason
}

// Remaining lists the cells that are left as they are, by row.
type Remaining map[int]LeftRow

// LeftRow are the cells of a row that are left as they are.
type LeftRow = groups.By[Left]

// Result is what is not carried out. Every other cell is as it is wanted.
type Result struct {
	Left Remaining
	// Frozen lists the rows of which nothing is carried out.
	Frozen map[int]reason.Reason
	// Held lists the clusters of which nothing is carried out.
	Held map[int]bool
	// Stopped is that of the table.
	Stopped map[int]reason.Reason
}

// Judge returns clusters that are to be held in view of what is left.
type Judge func(left Remaining) []int

// Resolve settles what is carried out.
func Resolve(t Table, judge Judge) Result {
	s := settling{table: t, rows: map[int]*Row{}, whole: map[int]groups.Set{}, result: Result{
		Left: Remaining{}, Frozen: map[int]reason.Reason{}, Held: map[int]bool{}, Stopped: t.Stopped(),
	}}
	for cluster, why := range s.result.Stopped {
		s.holds = s.holds.With(why, groups.Of(cluster))
	}
	s.enter(t.Blocked())
	for {
		s.settle()
		grew := false
		for _, cluster := range judge(s.result.Left) {
			if s.result.Held[cluster] {
				continue
			}
			s.result.Held[cluster], grew = true, true
			if s.result.Stopped[cluster] == "" {
				s.holds = s.holds.With(reason.Held, groups.Of(cluster))
			}
			s.enter(t.Differing(cluster))
		}
		if !grew {
			return s.result
		}
	}
}

// settling is a table on its way to a result.
type settling struct {
	table Table
	rows  map[int]*Row // that entered
	// holds are the clusters of which all is left as it is, and whole those of which all of a unit is, by unit.
	holds  groups.By[reason.Reason]
	whole  map[int]groups.Set
	result Result
}

// enter lets rows in.
func (s *settling) enter(rows []int) {
	for _, i := range rows {
		if s.rows[i] == nil {
			row := s.table.Row(i)
			s.rows[i] = &row
		}
	}
}

// settle freezes rows, and blocks what they need, until nothing changes.
func (s *settling) settle() {
	for changed := true; changed; {
		changed = false
		for _, i := range slices.Sorted(maps.Keys(s.rows)) {
			row := s.rows[i]
			blocked := s.withHolds(row)
			if s.result.Frozen[i] == "" && !row.IsSettled {
				if why := Frozen(row.Divided, blocked); why != "" {
					s.result.Frozen[i], changed = why, true
				}
			}
			s.result.Left[i] = left(blocked, s.result.Frozen[i])
			changed = s.blockNeeds(row, s.result.Left[i]) || changed
			changed = s.blockTogether(row, s.result.Left[i]) || changed
		}
	}
}

// withHolds returns the cells of a row in which those of held and of stopped clusters are blocked: that is why the rest of a unit stays
// there, too.
func (s *settling) withHolds(row *Row) groups.By[Cell] {
	if len(s.holds) == 0 {
		return row.Cells
	}
	return groups.Join(row.Cells, s.holds, func(c Cell, why reason.Reason, isHeld bool) Cell {
		if isHeld && (c.Block == "" || c.Block == reason.Together) {
			c.Block = why
		}
		return c
	})
}

// blockNeeds blocks the removal of what a row needs, where the row is kept.
func (s *settling) blockNeeds(row *Row, left LeftRow) (changed bool) {
	if len(row.Needs) == 0 || len(left) == 0 || row.Abandons || row.IsSettled {
		return false
	}
	s.enter(row.Needs)
	kept := left.Where(func(l Left) bool { return l.Kept })
	for _, i := range row.Needs {
		isRemoved := func(c Cell) bool { return c.Have && !c.Want }
		changed = s.rows[i].block(kept, reason.Needed, isRemoved) || changed
	}
	return changed
}

// blockTogether blocks the rows of a unit in the clusters where one of them is left as it is. For the rows that wait
// for their stage the whole unit waits anyway. What leaves a cluster with one that leaves it step by step does so, too: its replicas
// elsewhere would wait for this step, and with them the new copies for which it waits.
func (s *settling) blockTogether(row *Row, left LeftRow) (changed bool) {
	if row.Unit == 0 || row.IsSettled {
		return false
	}
	stays := left.Where(func(l Left) bool { return !l.Reason.IsStaged() && l.Reason != reason.Together }) // which is so of few
	if stays = stays.Without(s.whole[row.Unit]); stays.IsEmpty() {
		return false
	}
	s.whole[row.Unit] = s.whole[row.Unit].Or(stays)
	steps := row.Cells.Where(func(c Cell) bool { return c.Step && c.Block != "" })
	s.enter(s.table.Unit(row.Unit))
	for _, i := range s.table.Unit(row.Unit) {
		s.rows[i].step(steps)
		s.rows[i].block(stays, reason.Together, func(Cell) bool { return true })
	}
	return true
}

// step has an object leave clusters one step after the other, if it leaves them.
func (r *Row) step(clusters groups.Set) {
	for _, g := range r.Cells {
		in := g.Clusters.And(clusters)
		if g.Is.Have && !g.Is.Want && !g.Is.Step && !in.IsEmpty() {
			g.Is.Step = true
			r.Cells = r.Cells.With(g.Is, in)
		}
	}
}

// block blocks cells of clusters, of those that something is true of, unless something does already, and reports whether there are any.
func (r *Row) block(clusters groups.Set, why reason.Reason, is func(Cell) bool) (changed bool) {
	for _, g := range r.Cells {
		in := g.Clusters.And(clusters)
		if g.Is.Block != "" || !is(g.Is) || in.IsEmpty() {
			continue
		}
		g.Is.Block = why
		r.Cells, changed = r.Cells.With(g.Is, in), true
	}
	return changed
}

// left lists the cells that are left as they are; with why set, the row is frozen. That what it goes out with stays is no reason of a
// row that has its own.
func left(cells groups.By[Cell], why reason.Reason) (out LeftRow) {
	for _, g := range cells {
		is := cmp.Or(g.Is.Block, why)
		if is == reason.Together {
			is = cmp.Or(why, is)
		}
		if is != "" {
			out = out.With(Left{Kept: g.Is.Have, Reason: is}, g.Clusters)
		}
	}
	return out
}

// Frozen says why nothing of a row may be carried out; empty if it may.
func Frozen(divided bool, cells groups.By[Cell]) reason.Reason {
	var s sum
	for i := range cells {
		if c := &cells[i].Is; !c.isAside() {
			s.add(c)
		}
	}
	switch {
	case s.misses && s.removes && !s.served:
		return reason.Nowhere
	case s.keepsUnwanted && s.arrives && !s.stays:
		return reason.Twice
	case divided && s.has && s.blockedScales && s.freeScales:
		return reason.Short
	}
	return ""
}

// sum is what there is among the cells of a row.
type sum struct {
	has           bool // a cell has the object
	stays         bool // a cell has it before and after
	served        bool // a cell delivers it, or keeps what it wants
	misses        bool // a cell wants it, and is blocked
	removes       bool // a cell removes it
	keepsUnwanted bool // a cell has it, does not want it, and is blocked
	arrives       bool // a cell that had nothing delivers it
	blockedScales bool // the replicas of a blocked cell would change
	freeScales    bool // those of another would
}

func (s *sum) add(c *Cell) {
	switch blocked := c.Block != ""; {
	case c.Want && c.Have:
		s.stays, s.served = true, true
	case c.Want && blocked:
		s.misses = true
	case c.Want:
		s.arrives, s.served = true, true
	case c.Have && blocked:
		s.keepsUnwanted = true
	case c.Have:
		s.removes = true
	}
	s.has = s.has || c.Have
	s.blockedScales = s.blockedScales || c.Scales && c.Block != ""
	s.freeScales = s.freeScales || c.Scales && c.Block == ""
}
