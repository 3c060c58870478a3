package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
)

// cells reads cells of "want/have[/block][/scales]": w is a cell that wants the object, h one
// that has it, b one that is blocked, s one whose replicas would change.
func cells(text string) groups.By[Cell] {
	var out []Cell
	for f := range strings.FieldsSeq(text) {
		c := Cell{Want: strings.Contains(f, "w"), Have: strings.Contains(f, "h"), Scales: strings.Contains(f, "s"), Step: strings.Contains(f, "m")}
		if strings.Contains(f, "b") {
			c.Block = "blocked"
		}
		out = append(out, c)
	}
	return each(out...)
}

// each are the cells, or what is left of them, of clusters in their order.
func each[V comparable](all ...V) groups.By[V] {
	return groups.Each(groups.First(len(all)).All(), func(cluster int) (V, bool) { return all[cluster], true })
}

// TestFrozen is the table of what may not be carried out, in words: w wanted, h there, b
// blocked, s other replicas, m left because it failed.
func TestFrozen(t *testing.T) {
	for _, tt := range []struct {
		cells   string
		divided bool
		want    reason.Reason
	}{
		{"", false, ""},
		{"w", false, ""},
		{"h", false, ""},
		{"wh", false, ""},
		{"wb", false, ""},  // new, and nowhere to begin with
		{"hb", false, ""},  // kept
		{"whb", false, ""}, // kept as it is
		{"w h", false, ""}, // moves
		// Nowhere: it would leave where it is, and not arrive.
		{"wb h", false, reason.Nowhere},
		{"wb h h", false, reason.Nowhere},
		{"wb h wb", false, reason.Nowhere},
		{"wb h w", false, ""},   // it arrives elsewhere
		{"wb h wh", false, ""},  // it stays elsewhere
		{"wb h whb", false, ""}, // it is kept where it is wanted
		{"wb hb", false, ""},    // nothing is removed
		{"wb h hb", false, reason.Nowhere},
		// Twice: it would arrive before it leaves.
		{"hb w", false, reason.Twice},
		{"hb w w", false, reason.Twice},
		{"hb w h", false, reason.Twice},
		{"hb w wh", false, ""},  // it is in several places anyway
		{"hb w whb", false, ""}, // likewise
		{"hb wb", false, ""},    // nothing arrives
		// Short: some replicas would go before others come.
		{"whs whbs", true, reason.Short},
		{"whs whbs", false, ""},
		{"whs whb", true, ""}, // the blocked cell keeps its share
		{"wh whbs", true, ""}, // the free cells keep theirs
		{"hs wbs", true, reason.Nowhere},
		{"ws wbs", true, ""}, // new: what can run runs
		{"ws wbs hs", true, reason.Short},
		{"ws hbs", true, reason.Twice},
		// Lost: what left a cluster that does not answer stays there, and the rest goes on.
		{"hbm w", false, ""},
		{"hbms whs", true, ""},
		{"hbms ws whs", true, ""},
		{"hbms whbs whs", true, reason.Short}, // another block does what it does
		// Moves: the old copies stay until the new ones are healthy, and these come, or wait for a reason of their own.
		{"hbm w hbm", false, ""},
		{"hbm w wb", false, ""},
		{"ws hbms ws", true, ""},
		{"hbms ws wbs", true, ""}, // no old one goes yet, whatever comes
		{"hms ws wbs", true, reason.Short},
		{"hbm wb", false, ""},
		{"hbm hb w", false, reason.Twice},
		{"hbm wb h", false, reason.Nowhere},
		// A cell that moves and is not blocked counts as any other.
		{"hm wb", false, reason.Nowhere},
		{"wm hb", false, reason.Twice},
		{"whms whbs", true, reason.Short},
	} {
		if got := Frozen(tt.divided, cells(tt.cells)); got != tt.want {
			t.Errorf("%q, divided %t: frozen because %q, want %q", tt.cells, tt.divided, got, tt.want)
		}
	}
}

// rows is a table in memory.
type rows []Row

func (t rows) Row(i int) Row { return t[i] }

func (t rows) Stopped() map[int]reason.Reason { return nil }

// stopped is a table in which nothing is known of a cluster.
type stopped struct {
	rows

	cluster int
}

func (t stopped) Stopped() map[int]reason.Reason {
	return map[int]reason.Reason{t.cluster: reason.NotMapped}
}

func (t stopped) Blocked() (all []int) {
	for i := range t.rows {
		all = append(all, i)
	}
	return all
}

func (t rows) Unit(n int) (list []int) {
	for i, r := range t {
		if r.Unit == n {
			list = append(list, i)
		}
	}
	return list
}

func (t rows) Blocked() (list []int) {
	for i, r := range t {
		if r.isBlocked() {
			list = append(list, i)
		}
	}
	return list
}

func (t rows) Differing(cluster int) (list []int) {
	for i, r := range t {
		if c, _ := r.Cells.At(cluster); c.Want != c.Have || c.Scales {
			list = append(list, i)
		}
	}
	return list
}

// lost is what a cluster loses: by row.
func (t rows) lost(cluster int, left Remaining) (list []int) {
	for i, r := range t {
		c, _ := r.Cells.At(cluster)
		if _, isLeft := left[i].At(cluster); c.Have && !c.Want && !isLeft {
			list = append(list, i)
		}
	}
	return list
}

// atMost holds clusters that lose more than n objects.
func (t rows) atMost(n int) Judge {
	return func(left Remaining) (held []int) {
		for cluster := range 4 {
			if len(t.lost(cluster, left)) > n {
				held = append(held, cluster)
			}
		}
		return held
	}
}

func leftAt(r Result, row, cluster int) Left {
	l, _ := r.Left[row].At(cluster)
	return l
}

func TestNothingBlockedCostsNothing(t *testing.T) {
	table := rows{{Cells: cells("w h")}, {Cells: cells("h w")}}
	r := Resolve(table, table.atMost(9))
	if len(r.Left)+len(r.Frozen)+len(r.Held) > 0 {
		t.Errorf("left are %v, frozen %v, held %v", r.Left, r.Frozen, r.Held)
	}
}

func TestAHeldClusterFreezesWhatMovesToIt(t *testing.T) {
	// Cluster 0 loses three objects, and is held; the last object moves to it from 1.
	table := rows{{Cells: cells("h")}, {Cells: cells("h")}, {Cells: cells("h")}, {Cells: cells("w h")}}
	r := Resolve(table, table.atMost(2))
	if !r.Held[0] || r.Held[1] || r.Frozen[3] != reason.Nowhere || leftAt(r, 3, 1) != (Left{Kept: true, Reason: reason.Nowhere}) || leftAt(r, 3, 0) != (Left{Reason: reason.Held}) {
		t.Errorf("held are %v, frozen %v, left %v", r.Held, r.Frozen, r.Left)
	}
}

// TestAHoldMayLeadToAnother: what is frozen because of a hold is not lost elsewhere, and what
// arrives nowhere else may make another cluster lose all.
func TestAHoldMayLeadToAnother(t *testing.T) {
	table := rows{{Cells: cells("h")}, {Cells: cells("h")}, {Cells: cells("hs w h"), Divided: true}}
	asked := 0
	r := Resolve(table, func(left Remaining) []int {
		asked++
		if asked == 2 {
			return []int{2}
		}
		return table.atMost(1)(left)
	})
	if asked != 3 || !r.Held[0] || !r.Held[2] || r.Held[1] {
		t.Errorf("asked %d times, held are %v", asked, r.Held)
	}
}

func TestWhatIsKeptKeepsWhatItNeeds(t *testing.T) {
	table := rows{
		{Cells: cells("h wb"), Needs: []int{1}},
		{Cells: cells("h w")},
		{Cells: cells("h w")},
	}
	r := Resolve(table, table.atMost(9))
	if r.Frozen[0] != reason.Nowhere || leftAt(r, 1, 0) != (Left{Kept: true, Reason: reason.Needed}) || len(r.Left[2]) > 0 {
		t.Errorf("frozen are %v, left %v", r.Frozen, r.Left)
	}
}

// TestWhatIsInTheWayIsNotThatItIsNeeded: of what is needed where it is blocked anyway, the block is what is said.
func TestWhatIsInTheWayIsNotThatItIsNeeded(t *testing.T) {
	table := rows{
		{Cells: cells("h wb"), Needs: []int{1}},
		{Cells: cells("hb w")},
	}
	r := Resolve(table, table.atMost(9))
	if got := leftAt(r, 1, 0); got != (Left{Kept: true, Reason: "blocked"}) {
		t.Errorf("of what is needed is left %v", got)
	}
}

func TestAllOfAStoppedClusterStays(t *testing.T) {
	table := stopped{rows{{Cells: cells("h")}, {Cells: cells("w h")}, {Cells: cells("hb")}, {Cells: cells("w wh")}}, 0}
	r := Resolve(table, table.atMost(9))
	for i, want := range []LeftRow{
		each(Left{true, reason.NotMapped}),
		each(Left{false, reason.NotMapped}, Left{true, reason.Nowhere}),
		each(Left{true, "blocked"}), // what was in the way already
		each(Left{false, reason.NotMapped}),
	} {
		if got := r.Left[i]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of row %d is left %v, want %v", i, got, want)
		}
	}
	if len(r.Held) > 0 {
		t.Errorf("%v are held as well", r.Held)
	}
}

func TestBlocksThatStandAside(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  Row
		want reason.Reason
	}{
		{"the new copy waits until the old one is gone", Row{Cells: each(Cell{Want: true, Block: reason.NotGone}, Cell{Have: true})}, ""},
		{"what is not listed stays", Row{Cells: each(Cell{Have: true, Block: reason.Unlisted}, Cell{Want: true})}, ""},
		{"an old version stays until its stage comes", Row{Cells: each(Cell{Have: true, Block: reason.WaitsForStage}, Cell{Want: true})}, ""},
		{"another block is in the way", Row{Cells: each(Cell{Want: true, Block: reason.Failed}, Cell{Have: true})}, reason.Nowhere},
		{"it was settled before", Row{IsSettled: true, Cells: each(Cell{Want: true, Block: reason.Failed}, Cell{Have: true})}, ""},
	} {
		r := Resolve(rows{tt.row}, func(Remaining) []int { return nil })
		if r.Frozen[0] != tt.want {
			t.Errorf("%s: frozen because %q, want %q", tt.name, r.Frozen[0], tt.want)
		}
	}
}

// TestAUnitIsOneVersionInACluster: a row that is left as it is in a cluster has those left there that go out
// with it, and nowhere else.
func TestAUnitIsOneVersionInACluster(t *testing.T) {
	table := rows{
		{Cells: cells("whb wh"), Unit: 1},
		{Cells: cells("wh whs"), Unit: 1},
		{Cells: cells("h wh"), Unit: 1},
		{Cells: cells("wh whs")},
	}
	r := Resolve(table, table.atMost(9))
	for i, want := range []LeftRow{
		each(Left{true, "blocked"}), each(Left{true, reason.Together}), each(Left{true, reason.Together}), nil,
	} {
		if got := r.Left[i]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of row %d is left %v, want %v", i, got, want)
		}
	}
	if len(r.Frozen) > 0 {
		t.Errorf("frozen are %v", r.Frozen)
	}
}

// TestWhatLeavesWithAStepFreezesNothing: the new copies for which an old one waits would not come otherwise.
func TestWhatLeavesWithAStepFreezesNothing(t *testing.T) {
	table := rows{{Cells: cells("hbm w wh"), Unit: 1}, {Divided: true, Cells: cells("hs ws whs"), Unit: 1}}
	r := Resolve(table, table.atMost(9))
	if want := each(Left{true, reason.Together}); len(r.Frozen) > 0 || fmt.Sprint(r.Left[1]) != fmt.Sprint(want) {
		t.Errorf("frozen are %v, left of what leaves with it %v, want %v", r.Frozen, r.Left[1], want)
	}
}

// TestAHeldUnitIsHeld: of what stays because its cluster is held that is why, also of what goes out together.
func TestAHeldUnitIsHeld(t *testing.T) {
	table := rows{{Cells: cells("h wh"), Unit: 1}, {Cells: cells("wh"), Unit: 1}}
	r := Resolve(table, func(Remaining) []int { return []int{0} })
	for i := range table {
		if got, _ := r.Left[i].At(0); got.Reason != reason.Held {
			t.Errorf("row %d stays because %q", i, got.Reason)
		}
	}
}

// TestAFrozenRowFreezesItsUnit: what may be carried out nowhere has what goes out with it left everywhere.
func TestAFrozenRowFreezesItsUnit(t *testing.T) {
	table := rows{{Cells: cells("wb h"), Unit: 1}, {Cells: cells("w wh h"), Unit: 1}}
	r := Resolve(table, table.atMost(9))
	want := each(Left{false, reason.Together}, Left{true, reason.Together})
	if r.Frozen[0] != reason.Nowhere || fmt.Sprint(r.Left[1]) != fmt.Sprint(want) {
		t.Errorf("frozen are %v, left of the other %v, want %v", r.Frozen, r.Left[1], want)
	}
	if got, _ := r.Left[0].At(1); got.Reason != reason.Nowhere {
		t.Errorf("the frozen row stays because %q", got.Reason)
	}
}

func TestWhatAbandonsAClusterLeavesNothingItNeeds(t *testing.T) {
	for _, abandons := range []bool{false, true} {
		table := rows{{Cells: cells("hb"), Needs: []int{1}, Abandons: abandons}, {Cells: cells("h")}}
		r := Resolve(table, table.atMost(9))
		if _, stays := r.Left[1].At(0); stays == abandons {
			t.Errorf("abandons: %t; what it needs stays: %t", abandons, stays)
		}
	}
}

// FuzzResolve holds the result to its laws, on tables of up to four rows and clusters.
func FuzzResolve(f *testing.F) {
	f.Add([]byte{0x31, 0x12, 0x04, 0x7f, 0xff, 0x00, 0x91, 0x3c, 0x55, 0xaa, 0x0f, 0xf0, 0x42, 0x18, 0x81, 0x24, 0x03})
	f.Add([]byte("1\x12\x042000000000\x18020")) // a need that blocks a cell of a row
	f.Add([]byte("0\xfe0110020"))               // the old copy stays for now, one new one comes, and the cluster of the other is held
	f.Fuzz(func(t *testing.T, data []byte) {
		table, limit := tableOf(data)
		r := Resolve(table, table.atMost(limit))
		for i, row := range table {
			if broken := law(row, r, i); broken != "" {
				t.Errorf("row %d %+v: %s; left %v, frozen %q, held %v", i, row, broken, r.Left[i], r.Frozen[i], r.Held)
			}
		}
		for cluster := range 4 {
			if !r.Held[cluster] && len(table.lost(cluster, r.Left)) > limit {
				t.Errorf("cluster %d loses %v, and is not held", cluster, table.lost(cluster, r.Left))
			}
		}
		if other := Resolve(table.withoutSteps(), table.withoutSteps().atMost(limit)); !table.needs() &&
			fmt.Sprint(other.Frozen, other.Held) != fmt.Sprint(r.Frozen, r.Held) {
			t.Errorf("steps of moves change what is frozen, %v, or held, %v; without them it is %v and %v", r.Frozen, r.Held, other.Frozen, other.Held)
		}
		if again := Resolve(table, table.atMost(limit)); fmt.Sprint(again) != fmt.Sprint(r) {
			t.Errorf("resolved again it is %v, and was %v", again, r)
		}
	})
}

// tableOf makes a table of bytes.
func tableOf(data []byte) (table rows, limit int) {
	if len(data) == 0 {
		return nil, 0
	}
	limit = int(data[0] % 4)
	for n := 1; n+4 <= len(data) && len(table) < 4; n += 4 {
		row := Row{Divided: data[n]&0x80 != 0}
		row.Cells = groups.Each(groups.First(4).All(), func(cluster int) (Cell, bool) {
			b := data[n+cluster]
			c := Cell{Want: b&1 != 0, Have: b&2 != 0, Scales: b&4 != 0}
			if b&0x18 == 0x18 {
				c.Block = "blocked"
			}
			if isLeft := c.Have && !c.Want; isLeft && b&0x60 == 0x60 {
				c.Block, c.Step = reason.Moving, true
			}
			c.Scales = c.Scales || c.Want != c.Have
			return c, c.Want || c.Have
		})
		if needs := int(data[n]>>5) & 3; needs < len(table) {
			row.Needs = []int{needs}
		}
		table = append(table, row)
	}
	return table, limit
}

// law says which law a row of a result breaks, by a reading of its own: what a cluster has
// afterwards is what it had where the row is left, and what it wants elsewhere.
func law(row Row, r Result, i int) string {
	var before, steps, after, wanted, served, blocked, changed int
	for cluster, c := range row.Cells.All() {
		l, left := r.Left[i].At(cluster)
		has := c.Want && !left || left && c.Have
		if left && l.Kept != c.Have {
			return "what is left is not what is there"
		}
		if !left && (c.Block != "" || r.Held[cluster] && c.Want != c.Have) {
			return "a blocked cell is carried out"
		}
		before, after, wanted = before+count(c.Have), after+count(has), wanted+count(c.Want)
		served += count(has && c.Want)
		steps += count(left && c.Have && c.Step) // no replica of the old copies goes until that is over
		blocked += count(left && c.Scales && !c.Step)
		changed += count(!left && c.Scales)
	}
	switch {
	case before > 0 && wanted > 0 && after == 0:
		return "it was somewhere, is wanted somewhere, and is nowhere"
	case before > 0 && wanted > 0 && served == 0 && after < before && blocked > 0:
		return "it leaves a cluster although it arrives nowhere"
	case row.Divided && before > steps && blocked > 0 && changed > 0:
		return "some of its replicas change and others cannot"
	case r.Frozen[i] != "" && !r.Left[i].Clusters().Equal(row.Cells.Clusters()):
		return "it is frozen, and part of it is carried out"
	case len(r.Held) == 0 && r.Frozen[i] == "" && !row.isBlocked() && len(r.Left[i]) > 0 && !needed(r.Left[i]):
		return "nothing is in the way, and it is left"
	}
	return ""
}

// withoutSteps is the table without the copies that stay because a step of their move is not over.
func (t rows) withoutSteps() (out rows) {
	for _, row := range t {
		row.Cells = slices.DeleteFunc(slices.Clone(row.Cells), func(g groups.Group[Cell]) bool { return g.Is.Step })
		out = append(out, row)
	}
	return out
}

func (r *Row) isBlocked() bool {
	return slices.ContainsFunc(r.Cells, func(g groups.Group[Cell]) bool { return g.Is.Block != "" })
}

func (t rows) needs() bool {
	return slices.ContainsFunc(t, func(r Row) bool { return len(r.Needs) > 0 })
}

func needed(left LeftRow) bool {
	for _, l := range left {
		if l.Is.Reason == reason.Needed {
			return true
		}
	}
	return false
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
