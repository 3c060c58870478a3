// Package lastgood makes the source to plan from, of a source of which parts cannot be
// read: what is missing from it, and may be in such a part, is as it was when it was last
// good.
//
// It goes by object, not by file. What the source held when it was published last is known:
// the objects of that commit, and those that had been taken from earlier ones already. An
// object that is known and missing may be in any part that cannot be read and that changed
// since: its file may have been renamed, or it may have been moved there. As long as such a
// part cannot be read, the object stays. When all are read, and it is in none, it is gone.
// A part that is as it was when the object was still there cannot hold it, but one in which
// the object was when that could be read last: it may have been copied out of it.
//
// The package is pure: the earlier commits that it needs are read by whoever asks.
package lastgood

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Unresolved is what is not known of a source.
type Unresolved struct {
	// HoldReason says why it is not known what the source wants, so that nothing may change;
	// empty where it is known. What is noted first counts.
	HoldReason string
	// MayHideClusters reports that a part which cannot be read may hold what was never there.
	MayHideClusters bool
	// OutOfReach is an earlier commit that is needed and cannot be read; empty for none.
	OutOfReach string
	// Forgot reports that objects which may be in such a part were allowed to go.
	Forgot bool
	Diags  []diag.Diagnostic

	memory state.LastGood
	lost   map[render.Place]bool // objects of memory that are out of reach
}

// Remembered is what the next state is to remember.
func (d *Unresolved) Remembered() state.LastGood { return d.memory }

// RememberedOnceAllowed is what the next state is to remember once removals were allowed:
// what is out of reach is not waited for any longer.
func (d *Unresolved) RememberedOnceAllowed() state.LastGood {
	m := d.memory
	m.Objects = slices.DeleteFunc(slices.Clone(m.Objects), func(g state.Good) bool { return d.lost[render.Place{Cluster: g.Cluster, Ref: g.Object}] })
	return m
}

// Input is what there is to restore, and with what.
type Input struct {
	Source render.Source
	State  *state.State
	// Earlier holds the commits that Commits names, as far as they could be read.
	Earlier map[string]render.Source
	// Ahead are commits that were published in part, after the one that the state names:
	// where a push is not atomic, a branch may be ahead.
	Ahead []string
	// Allows reports whether removals with a digest are allowed.
	Allows func(digest string) bool
	// ByComment says what guard.Allowance means by it.
	ByComment bool
	// Cache remembers what policies decoded to.
	Cache policies.Cache
}

// Commits lists the earlier commits that Restore needs: none while all can be read.
func Commits(in Input) []string {
	if len(broken(in.Source, in.Cache)) == 0 {
		return nil
	}
	all := map[string]bool{}
	for _, commit := range in.published() {
		all[commit] = true
	}
	for _, g := range in.State.LastGood.Objects {
		all[g.Commit] = true
	}
	for part := range in.State.LastGood.Broken {
		if commit := in.State.LastGood.Broken[part].Commit; commit != "" && len(in.State.LastGood.Objects) == 0 {
			all[commit] = true // the older form names no objects
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// published lists the commits that were published last, the latest one at the end.
func (in *Input) published() []string {
	if in.State.Published.Commit == "" {
		return in.Ahead
	}
	return append([]string{in.State.Published.Commit}, in.Ahead...)
}

// Restore returns the source to plan from, and what is not known of it.
func Restore(in Input) (render.Source, Unresolved) {
	parts := broken(in.Source, in.Cache)
	if len(parts) == 0 {
		return in.Source, Unresolved{}
	}
	m := newRestorer(&in, parts)
	for _, k := range slices.SortedFunc(maps.Keys(m.known), render.Place.Compare) {
		m.consider(k, m.known[k])
	}
	m.forget()
	return m.restored(), m.unresolved
}

// Goods lists the objects of the whole source that were taken from earlier commits when it
// was published last.
func Goods(in Input) []*object.Object {
	var objs []*object.Object
	for _, g := range in.State.LastGood.Objects {
		earlier := in.Earlier[g.Commit]
		if o := earlier.Find(render.Place{Cluster: g.Cluster, Ref: g.Object}); o != nil && g.Cluster == "" {
			objs = append(objs, o)
		}
	}
	return objs
}

// Inherited lists the objects of the whole source, as they were last good, that are to be
// known when the source is read once more: those that Restore would take, and those that stand
// in a file which cannot be used.
func Inherited(in Input) []*object.Object {
	parts := broken(in.Source, in.Cache)
	if len(parts) == 0 {
		return nil
	}
	m := newRestorer(&in, parts)
	var objs []*object.Object
	for k, w := range m.known {
		m.consider(k, w)
		if now := m.have[k]; now != nil && k.Cluster == "" && slices.ContainsFunc(parts, func(p render.Broken) bool { return p.Holds(now) }) {
			objs = append(objs, w.object)
		}
	}
	m.forget()
	for k, t := range m.taken {
		if k.Cluster == "" {
			objs = append(objs, t.object)
		}
	}
	render.SortObjects(objs)
	return objs
}

// broken lists what of a source cannot be read or has an error.
func broken(s render.Source, c policies.Cache) []render.Broken {
	set, _, _ := policies.Settings{Failover: s.Config.Failover.Enabled}.Load(slices.DeleteFunc(slices.Clone(s.Objects), func(o *object.Object) bool { return !render.IsPolicy(o.Ref()) }), c)
	return slices.Concat(s.Broken, set.Broken)
}

// restorer restores what is missing of a source.
type restorer struct {
	in    *Input
	parts []render.Broken
	have  map[render.Place]*object.Object // what the source has, and is sound
	other map[render.Place]bool           // what it has as well, and is not
	known map[render.Place]was            // what it had
	taken map[render.Place]was
	// unsound are the parts that could not be read in the commits that were published last.
	unsound    map[string]map[string]bool
	unresolved Unresolved
}

// was is what an object was when it was last good.
type was struct {
	object *object.Object
	commit string
	in     []string // parts that may hold it, by the last plan; then by this one
	moved  bool     // it is not in its own file: where it is, if anywhere, is not known
}

func newRestorer(in *Input, parts []render.Broken) *restorer {
	m := &restorer{in: in, parts: parts, have: map[render.Place]*object.Object{}, other: map[render.Place]bool{}, known: map[render.Place]was{}, taken: map[render.Place]was{}, unsound: map[string]map[string]bool{}}
	m.unresolved.memory.Broken, m.unresolved.memory.Also = map[string]state.Part{}, map[string][]string{}
	m.unresolved.lost = map[render.Place]bool{}
	published := in.published()
	for _, commit := range published {
		m.unsound[commit] = map[string]bool{}
		for _, p := range broken(in.Earlier[commit], in.Cache) {
			m.unsound[commit][p.String()] = true
		}
	}
	for _, p := range parts {
		commit := m.soundIn(p.String(), published)
		if before, ok := in.State.LastGood.Broken[p.String()]; ok {
			commit = before.Commit
		}
		m.unresolved.memory.Broken[p.String()] = state.Part{Digest: p.Digest, Commit: commit}
	}
	in.Source.Each(func(k render.Place, o *object.Object) {
		if m.isUnsound(k) {
			m.other[k] = true
		} else {
			m.have[k] = o
		}
	})
	if len(published) > 0 {
		m.remember(published)
	}
	return m
}

// part returns the part of a name; nil if it can be read now.
func (m *restorer) part(name string) *render.Broken {
	i := slices.IndexFunc(m.parts, func(p render.Broken) bool { return p.String() == name })
	if i < 0 {
		return nil
	}
	return &m.parts[i]
}

// consider takes a known object from where it was last good, if it is missing and may be in
// what cannot be read.
func (m *restorer) consider(k render.Place, w was) {
	if m.have[k] != nil {
		m.mayBeTwice(k, w)
		return
	}
	before := w.in
	w.in, w.moved = nil, true
	for _, p := range m.parts {
		own := p.Holds(w.object) && (p.Ref == (object.Ref{}) || p.Cluster == k.Cluster)
		changed := m.changed(p)
		switch {
		case own && (changed || slices.Contains(before, p.String())), own && p.Ref != (object.Ref{}):
			w.moved = false
		case slices.Contains(before, p.String()):
		case !changed || !mayHold(p, k) || m.isElsewhere(k):
			continue
		}
		w.in = append(w.in, p.String())
	}
	if len(w.in) == 0 {
		return
	}
	if m.other[k] { // it may be one of two still when the next plan asks
		w.in = append(w.in, k.String())
	}
	slices.Sort(w.in)
	w.in = slices.Compact(w.in)
	m.taken[k] = w
}

// mayBeTwice remembers the parts that held an object which stands elsewhere now: it may have been
// copied. What is missing may be in any part that changed; what is there may be in its own.
func (m *restorer) mayBeTwice(k render.Place, w was) {
	var also []string
	for _, p := range m.parts {
		own := p.Path != "" && p.Holds(w.object) && m.changed(p)
		if (own || slices.Contains(w.in, p.String())) && !p.Holds(m.have[k]) {
			also = append(also, p.String())
		}
	}
	if also != nil {
		m.unresolved.memory.Also[k.String()] = also
	}
}

// changed reports whether a part is not as it was when it was published last. A folder may
// be remembered by the file in it that is to blame.
func (m *restorer) changed(p render.Broken) bool {
	before, ok := m.in.State.LastGood.Broken[p.String()]
	if ok || !p.Dir {
		return !ok || before.Digest != p.Digest
	}
	for name, part := range m.in.State.LastGood.Broken {
		if strings.HasPrefix(name, p.String()) && part.Digest == p.Digest {
			return false
		}
	}
	return true
}

// mayHold reports whether a part may hold an object that is not its own: a file any, an object that
// is twice in one scope the one of its name that was in another, and a policy with an error a policy
// by another name.
func mayHold(p render.Broken, k render.Place) bool {
	if p.Path != "" || p.Ref == k.Ref {
		return true
	}
	return k.Cluster == "" && render.IsPolicy(p.Ref) && render.IsPolicy(k.Ref)
}

// isElsewhere reports whether an object stands, since it was published last, in another
// directory, or in none.
func (m *restorer) isElsewhere(k render.Place) bool {
	for other := range m.have {
		if _, was := m.known[other]; other.Ref == k.Ref && !was {
			return true
		}
	}
	return false
}

// forget lets go what is allowed to: what may be in a part that cannot be read, and was in
// none of its own.
func (m *restorer) forget() {
	missing := slices.SortedFunc(maps.Keys(m.taken), render.Place.Compare)
	missing = slices.DeleteFunc(missing, func(k render.Place) bool { return !m.taken[k].moved })
	if len(missing) == 0 {
		return
	}
	h := sha256.New()
	names, in := make([]string, 0, len(missing)), map[string]bool{}
	for _, k := range missing {
		fmt.Fprintln(h, k)
		names = append(names, k.String())
		for _, part := range m.taken[k].in {
			in[part] = true
		}
	}
	digest := hex.EncodeToString(h.Sum(nil)[:8])
	if m.in.Allows != nil && m.in.Allows(digest) {
		m.unresolved.Forgot = true
		for _, k := range missing {
			delete(m.taken, k)
		}
		return
	}
	m.unresolved.Diags = append(m.unresolved.Diags, diag.Diagnostic{
		Code: diag.MissingWhileBroken, Severity: diag.Warning,
		Message: fmt.Sprintf("%s: not in the source any longer, and may be in %s, which cannot be read; what is missing stays as it was", words.List(names), words.List(slices.Sorted(maps.Keys(in)))),
		Hint:    "mend what cannot be read; or let them go: " + (&guard.Allowance{ByComment: m.in.ByComment}).ToForget(digest),
	})
}

// restored is the source with what was taken from earlier commits.
func (m *restorer) restored() render.Source {
	out := m.in.Source
	out.Objects = slices.DeleteFunc(slices.Clone(out.Objects), func(o *object.Object) bool { _, is := m.taken[render.Place{Ref: o.Ref()}]; return is })
	out.Bound = maps.Clone(out.Bound)
	for cluster, objs := range out.Bound {
		out.Bound[cluster] = slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { _, is := m.taken[render.Place{Cluster: cluster, Ref: o.Ref()}]; return is })
	}
	var replaced []*object.Object
	for _, o := range m.in.Source.Objects {
		if _, is := m.taken[render.Place{Ref: o.Ref()}]; is {
			replaced = append(replaced, o)
		}
	}
	_, _, diags := policies.Settings{Failover: m.in.Source.Config.Failover.Enabled}.Load(replaced, m.in.Cache)
	m.unresolved.Diags = append(m.unresolved.Diags, diags...)
	covered := map[string]bool{}
	for _, k := range slices.SortedFunc(maps.Keys(m.taken), render.Place.Compare) {
		t := m.taken[k]
		if k.Cluster == "" {
			out.Objects = append(out.Objects, t.object)
		} else {
			out.Bound[k.Cluster] = append(out.Bound[k.Cluster], t.object)
		}
		m.unresolved.memory.Objects = append(m.unresolved.memory.Objects, state.Good{Object: k.Ref, Cluster: k.Cluster, Commit: t.commit, In: t.in})
		if !t.moved {
			for _, part := range t.in {
				covered[part] = true
			}
		}
	}
	for _, p := range m.parts {
		m.unresolved.MayHideClusters = m.unresolved.MayHideClusters || !covered[p.String()] && p.Path != "" && len(m.known) > 0
	}
	return out
}
