package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Level is how much care a change needs.
type Level string

// The levels, the worst first.
const (
	Broken    Level = "broken"    // the source has errors that it did not have
	Dangerous Level = "dangerous" // something that clusters have goes
	Careful   Level = "careful"   // something moves, does not fit, or cannot be carried out
	Safe      Level = "safe"      // what clusters have stays, changed or scaled, and something may be added
	Nothing   Level = "nothing"   // no cluster changes
)

// Part is a piece of a sentence. One that somebody else wrote, such as a name, is quoted where it is shown.
type Part struct {
	Text   string
	Quoted bool
}

// Verdict is the answer in a line: how much care a change needs, and what it does.
type Verdict struct {
	Level Level
	Parts []Part

	clauses []int // where each begins in Parts
}

// String is the sentence without the level.
func (v *Verdict) String() string {
	var b strings.Builder
	for _, p := range v.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func (v *Verdict) say(format string, args ...any) {
	v.Parts = append(v.Parts, Part{Text: fmt.Sprintf(format, args...)})
}

func (v *Verdict) quote(text string) { v.Parts = append(v.Parts, Part{Text: text, Quoted: true}) }

// quoteList quotes the names of clusters, or counts them if they are many, as what a noun says.
func (v *Verdict) quoteList(names []string, noun string) {
	const most = 3
	if len(names) > most {
		v.say("%s", words.Count(len(names), noun))
		return
	}
	for i, name := range names {
		if i > 0 {
			v.say(", ")
		}
		v.quote(name)
	}
}

// and begins a clause.
func (v *Verdict) and() {
	v.clauses = append(v.clauses, len(v.Parts))
	if len(v.Parts) > 0 {
		v.say("; ")
	}
}

// cut leaves the first clauses.
func (v *Verdict) cut() {
	if len(v.clauses) > mostClauses {
		v.Parts = append(v.Parts[:v.clauses[mostClauses]:v.clauses[mostClauses]], Part{Text: "; and more"})
	}
	v.clauses = nil
}

// mostClauses is how many things a verdict says at most.
const mostClauses = 3

// Verdict says what a change does, what needs most care first.
func (c *Comparison) Verdict() (v Verdict) {
	defer func() { v.cut() }()
	v.Level = Nothing
	raise := func(l Level) {
		levels := []Level{Broken, Dangerous, Careful, Safe, Nothing}
		if slices.Index(levels, l) < slices.Index(levels, v.Level) {
			v.Level = l
		}
	}
	if wrong := Mistakes(c.Diags); len(wrong) > 0 {
		raise(Broken)
		v.broken(wrong)
	}
	by := byVerb(c.Changes)
	gone := by[Disappears]
	if len(gone) > 0 {
		raise(Dangerous)
		v.removes(c, gone)
	}
	if c.Guard != nil && len(c.Guard.Holds) > 0 {
		raise(Dangerous)
		noun := "cluster"
		if len(gone) > 0 {
			noun = "other cluster"
		}
		v.holds(c.Guard.Holds, noun)
	}
	if len(c.Short) > 0 {
		raise(Careful)
		v.short(c.Short)
	}
	if moved := by[Moves]; len(moved) > 0 {
		raise(Careful)
		v.moves(moved)
	}
	if stay := by[Stays]; len(stay) > 0 {
		raise(Careful)
		v.stay(stay)
	}
	if frozen := by[Frozen]; len(frozen) > 0 {
		raise(Careful)
		v.freezes(frozen)
	}
	if scaled := by[Scales]; len(scaled) > 0 {
		raise(Safe)
		v.scales(scaled)
	}
	if changed := by[Changes]; len(changed) > 0 {
		raise(Safe)
		v.changes(changed)
	}
	if added := by[Appears]; len(added) > 0 {
		raise(Safe)
		v.objects("adds ", added)
		v.say(" to %s", words.Count(len(clustersOf(added, addedTo)), "cluster"))
	}
	if len(c.Services) > 0 {
		raise(Safe)
		v.exchanges(c.Services)
	}
	if v.Level == Nothing {
		v.say("no cluster changes")
	}
	if n := len(Mistakes(c.Already)); n > 0 {
		v.and()
		v.say("%s without this change, too", words.Count(n, "error"))
	}
	return v
}

func byVerb(all []Change) map[Verb][]*Change {
	by := map[Verb][]*Change{}
	for i := range all {
		by[all[i].Verb] = append(by[all[i].Verb], &all[i])
	}
	return by
}

// broken counts errors that are new.
func (v *Verdict) broken(wrong []diag.Diagnostic) {
	v.and()
	v.say("%s in the source, the first in ", words.Count(len(wrong), "new error"))
	v.quote(cmp.Or(wrong[0].Pos.String(), string(wrong[0].Code)))
}

// removes says what goes, and that it goes at once where it has not gone yet.
func (v *Verdict) removes(c *Comparison, gone []*Change) {
	v.objects("removes ", gone)
	v.say(" from %s", words.Count(len(clustersOf(gone, removedFrom)), "cluster"))
	if !c.IsDone {
		v.say(" at once, without an approval")
	}
}

// holds says what held clusters would lose if somebody lets it happen. Noun is what they are called.
func (v *Verdict) holds(holds []Hold, noun string) {
	v.and()
	var refs []object.Ref
	in, objects := map[string]bool{}, 0
	for _, h := range holds {
		for _, r := range h.Removals {
			refs = append(refs, r.Object)
		}
		for _, name := range h.Clusters {
			in[name] = true
		}
		objects += len(h.Clusters) * len(h.Removals)
	}
	v.say("removes ")
	v.named(refs)
	v.say(" from %s, %s in all, held until approved", words.Count(len(in), noun), words.Count(objects, "object"))
}

// stay says what clusters keep that are no longer registered, and which objects nobody decides in any other cluster.
func (v *Verdict) stay(changes []*Change) {
	v.objects("leaves ", changes)
	v.say(" in ")
	in := clustersOf(changes, func(c *Change) []string { return c.Detached })
	v.quoteList(in, "cluster")
	v.say(", no longer registered")
	alone := 0
	for _, c := range changes {
		if c.Elsewhere == 0 {
			alone += len(c.Objects)
		}
	}
	if alone > 0 {
		v.say("; of them %s in no other cluster", words.Count(alone, "object"))
	}
}

// objects says what is done to objects, with the one that matters most by its name.
func (v *Verdict) objects(does string, changes []*Change) {
	v.and()
	v.say("%s", does)
	var refs []object.Ref
	for _, c := range changes {
		refs = append(refs, c.Objects...)
	}
	v.named(refs)
}

// named names the object that matters most, and counts the others.
func (v *Verdict) named(refs []object.Ref) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b object.Ref) int {
		return cmp.Or(object.KindRank(a.Kind)-object.KindRank(b.Kind), a.Compare(b))
	})
	refs = slices.Compact(refs)
	if len(refs) == 0 {
		v.say("objects")
		return
	}
	v.quote(refs[0].Called())
	if n := len(refs) - 1; n > 0 {
		v.say(" and %s", words.Count(n, "more object"))
	}
}

func addedTo(c *Change) []string     { return c.Added }
func removedFrom(c *Change) []string { return c.Removed }

// clustersOf are those that are of changes, in their order, each once.
func clustersOf(changes []*Change, of func(*Change) []string) (names []string) {
	for _, c := range changes {
		names = append(names, of(c)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// touched are the clusters in which something of a change is other than before.
func touched(c *Change) (names []string) {
	names = slices.Concat(c.Added, c.Removed)
	for _, s := range c.Scaled {
		names = append(names, s.Clusters...)
	}
	for _, s := range c.Changed {
		names = append(names, s.Clusters...)
	}
	return names
}

func (v *Verdict) moves(moved []*Change) {
	v.objects("moves ", moved)
	from, to := clustersOf(moved, removedFrom), clustersOf(moved, addedTo)
	v.say(" from ")
	v.quoteList(from, "cluster")
	v.say(" to ")
	noun := "other cluster"
	if slices.ContainsFunc(to, func(name string) bool { return slices.Contains(from, name) }) {
		noun = "cluster"
	}
	v.quoteList(to, noun)
	v.because(moved)
}

// freezes says what stays as it is, and why; of what would leave clusters for others, which these are.
func (v *Verdict) freezes(frozen []*Change) {
	v.objects("leaves ", frozen)
	v.say(" as it is")
	in := func(kept bool) []string {
		return clustersOf(frozen, func(c *Change) (names []string) {
			for _, l := range c.Left {
				if l.Kept == kept {
					names = append(names, l.Clusters...)
				}
			}
			return names
		})
	}
	from, to := in(true), in(false)
	switch {
	case len(from) > 1 && len(to) == 0:
		v.say(" in %s", words.Count(len(from), "cluster"))
	case len(from) > 0 && len(to) > 0:
		v.say(", in ")
		v.quoteList(from, "cluster")
		v.say(" and not in ")
		v.quoteList(to, "other cluster")
	}
	if left := frozen[0].Left; len(left) > 0 && left[0].Reason != "" {
		v.say(": ")
		v.quote(left[0].Reason)
	}
}

func (v *Verdict) scales(scaled []*Change) {
	v.objects("scales ", scaled)
	before, after := 0, 0
	for _, c := range scaled {
		if c.Replicas != nil {
			before, after = before+c.Replicas.Before*len(c.Objects), after+c.Replicas.After*len(c.Objects)
		}
	}
	if before+after > 0 {
		v.say(" from %d to %d replicas in all", before, after)
	}
	v.say(" in %s", words.Count(len(clustersOf(scaled, touched)), "cluster"))
	v.because(scaled)
}
