// Package walk walks at random through what may happen to a small fleet: files break, are
// mended, move and are renamed, clusters come and go, policies change, are suspended and fail,
// branches are edited by hand and refused by their server, and become folders of one branch, and
// branches again. After each step it publishes, and
// holds what is on the branches against laws. What the source means is known to the walk
// because it made it; it shares no code with the product.
//
// # The laws
//
//   - What the source wants in a cluster and was there does not disappear from it. What cannot
//     be read means what it meant when it could be read last.
//   - What is wanted somewhere and was somewhere is not nowhere, and a divided workload has no
//     fewer replicas than it had, unless it asks for fewer.
//   - Once all can be read and nothing is held, suspended or failing, the branches are what
//     the source means, and what a first publication of it would make them.
//   - What was published is not published again, and can be verified.
//
// Where somebody allows removals while something cannot be read, the first two are not asked:
// that is what was allowed. Nor is the second where a server takes some branches of a
// publication and not others: it speaks of all of them.
//
// # Running it
//
// A walk is a function of its seed. One that breaks a law is made as short as it can be, and
// printed with its steps and as a scenario, which package scenario runs.
//
//	go test ./test/walk -walk.seed 17 -walk.runs 1    walk 17 again
//	make walk                                         500 other walks
package walk

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seed  = flag.Uint64("walk.seed", 1, "seed of the first walk; the next one has the next seed")
	runs  = flag.Int("walk.runs", 15, "walks")
	steps = flag.Int("walk.steps", 20, "steps of a walk")
	whole = flag.Bool("walk.whole", false, "tell a walk that breaks a law as it is, without making it shorter")
)

// step is what happens between one publication and the next.
type step struct {
	ops    []op
	allow  bool // removals are allowed
	edit   bool // somebody edits a branch
	refuse bool // the server refuses a branch
	move   bool // the layout becomes the other one
	seed   uint64

	waits  time.Duration // that pass before all of it
	events []op          // what clusters report, and people command
}

// draw draws a walk. The first step makes a fleet.
func draw(seed uint64, count int) []step {
	if way := wayOf(seed); way.isStaged {
		return drawStaged(seed, count, way.isCalm)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	kinds := slices.Sorted(func(yield func(string) bool) {
		for k := range deeds {
			if k != "mend all" && !yield(k) {
				return
			}
		}
	})
	moves := rand.New(rand.NewPCG(seed, 4))
	var walk []step
	first := []string{"add cluster", "add cluster", "add cluster", "add object", "add object", "add object", "add object", "add object", "add policy", "add policy", "add override"}
	var st step
	for _, k := range first {
		st.ops = append(st.ops, op{k, r.Uint64()})
	}
	st.move = moves.IntN(2) == 0
	walk = append(walk, st)
	for range count - 1 {
		st := step{move: moves.IntN(8) == 0, allow: r.IntN(8) == 0, edit: r.IntN(12) == 0, refuse: r.IntN(15) == 0, seed: r.Uint64()}
		for range 1 + r.IntN(3) {
			st.ops = append(st.ops, op{kinds[r.IntN(len(kinds))], r.Uint64()})
		}
		if r.IntN(5) == 0 {
			st.ops = append(st.ops, op{"mend all", r.Uint64()})
		}
		walk = append(walk, st)
	}
	return walk
}

func TestWalk(t *testing.T) {
	var all counts
	for i := range *runs {
		s := *seed + uint64(i)
		walk := draw(s, *steps)
		f := run(t, walk, s, &all)
		if f == nil {
			continue
		}
		if !*whole {
			f = run(t, shorten(t, walk, s, f), s, &counts{})
		}
		t.Errorf("walk %d breaks a law: %s\n\nIn short:\n%s\nAs a scenario:\n\n%s", s, f.law, f.trace, f.scenario)
	}
	t.Logf("walks %d to %d: %+v", *seed, *seed+uint64(*runs)-1, all)
	all.enough(t)
}

// counts say that the laws were asked about something.
type counts struct {
	Steps, Troubled, Held, Allowed, Edited, Refused, Moved, FromScratch, Cells, Divided int
	Runs, Released, Returned, Stopped, Ended                                            int
}

func (c counts) enough(t *testing.T) {
	t.Helper()
	if *runs*(*steps) >= 300 && min(c.Troubled, c.Held, c.Allowed, c.Edited, c.Refused, c.Moved, c.FromScratch, c.Cells, c.Divided,
		c.Runs, c.Released, c.Returned, c.Stopped, c.Ended) == 0 {
		t.Errorf("something never happened: %+v", c)
	}
}

// shorten leaves out of a walk what it breaks the same law without: half of its steps, a quarter
// of them and so on to single ones, then what single steps do.
func shorten(t *testing.T, walk []step, seed uint64, f *failure) []step {
	t.Helper()
	breaks := func(w []step) bool {
		g := run(t, w, seed, &counts{})
		return g != nil && g.kind == f.kind
	}
	walk = walk[:f.step]
	for size := len(walk) / 2; size > 0; size /= 2 {
		for i := len(walk) - size; i >= 0; i -= size {
			if w := slices.Delete(slices.Clone(walk), i, i+size); breaks(w) {
				walk = w
			}
		}
	}
	for i := range walk {
		for again := true; again; {
			again = false
			for _, less := range lessThan(walk[i]) {
				w := slices.Clone(walk)
				if w[i] = less; breaks(w) {
					walk, again = w, true
					break
				}
			}
		}
	}
	return walk
}

// lessThan lists steps that do something less.
func lessThan(st step) []step {
	var out []step
	for i := range st.ops {
		less := st
		less.ops = slices.Delete(slices.Clone(st.ops), i, i+1)
		out = append(out, less)
	}
	for i := range st.events {
		less := st
		less.events = slices.Delete(slices.Clone(st.events), i, i+1)
		out = append(out, less)
	}
	for _, is := range []func(*step) *bool{
		func(s *step) *bool { return &s.allow }, func(s *step) *bool { return &s.edit },
		func(s *step) *bool { return &s.refuse }, func(s *step) *bool { return &s.move },
	} {
		if less := st; *is(&less) {
			*is(&less) = false
			out = append(out, less)
		}
	}
	return out
}

// failure is a law that was broken.
type failure struct {
	step                       int
	kind, law, trace, scenario string
}

func (s step) String() string {
	var more []string
	for name, is := range map[string]bool{"allow": s.allow, "edit": s.edit, "refuse": s.refuse, "move": s.move} {
		if is {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return strings.Join(more, ", ")
}
