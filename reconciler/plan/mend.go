package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// mender replaces broken parts of a source by their last sound version.
type mender struct {
	in       *Input
	missing  map[string]bool
	lastGood map[string]string          // what the next state remembers
	unsound  map[string]map[string]bool // by commit, the parts that are broken there, too
	// unsure says why what a part held, or which policies there are, is not known, so that
	// nothing may change; empty if it is known.
	unsure string
	// lost are the parts of which no sound version can be had.
	lost []string
	// hidden are the objects that went missing while something broke, by where they were,
	// with the part in which they may be now. Nobody may take them for removed.
	hidden map[string]string
	// strange reports a broken part that held nothing before: what it holds now is not
	// known.
	strange bool
}

const outOfReach = "it would change while part of the source cannot be read, and an earlier version of that part is out of reach"

// mend adds to objs, those of the whole source or of the directory of a cluster, what the
// broken parts held when they were last sound. Objects of a broken file that could be
// read stay as they are now; a broken object is replaced. Where there is no earlier plan
// there is nothing to lose.
func (m *mender) mend(objs []*object.Object, broken []render.Broken, cluster string) []*object.Object {
	var hiding hideout
	have := map[object.Ref]bool(nil)
	for _, b := range append(slices.Clone(broken), m.stillBroken(objs, broken, cluster)...) {
		if b.Ref != (object.Ref{}) && b.Cluster != cluster {
			continue // a file may hold anything, an object is one of its scope
		}
		if m.isNew(b) {
			hiding.add(b)
		}
		commit, ok := m.in.State.LastGood[b.String()]
		if !ok {
			commit = m.in.State.SourceCommit
		}
		m.lastGood[b.String()] = commit
		if commit == "" {
			continue // it never was sound, and holds nothing
		}
		good, ok := m.in.LastGood[commit]
		switch {
		case !ok:
			m.missing[commit], m.unsure = true, outOfReach
			m.lost = append(m.lost, b.String())
			continue
		case m.isUnsound(commit, good, b): // another version of Waybill may have found it sound
			m.unsure = fmt.Sprintf("it would change while %s has an error, and had it when it was published last", b)
			m.lost = append(m.lost, b.String())
			continue
		}
		if have == nil {
			have = object.Refs(objs)
		}
		if b.Ref != (object.Ref{}) {
			objs = slices.DeleteFunc(slices.Clone(objs), b.Holds)
			delete(have, b.Ref)
		}
		objs = m.restore(objs, have, in(good, cluster), b)
	}
	m.hide(objs, broken, cluster, hiding)
	return objs
}

// hideout is where what is missing may be: any object in a file, a policy by another name
// in one with an error.
type hideout struct{ file, policy string }

func (h *hideout) add(b render.Broken) {
	if b.Path != "" {
		h.file = b.String()
	} else {
		h.policy = b.String()
	}
}

// of returns where an object may be; empty for nowhere.
func (h *hideout) of(r object.Ref) string {
	if h.file == "" && render.IsPolicyGroup(r.Group) {
		return h.policy
	}
	return h.file
}

// isNew reports whether a part may hold what it did not hold at the last publication.
func (m *mender) isNew(b render.Broken) bool {
	last := m.in.State.SourceCommit
	if last == "" || b.Path == "" && !render.IsPolicyGroup(b.Ref.Group) {
		return false
	}
	good, ok := m.in.LastGood[last]
	if !ok {
		m.missing[last], m.unsure = true, outOfReach
		return false
	}
	if b.Path == "" {
		return !slices.ContainsFunc(good.Objects, b.Holds)
	}
	return !slices.ContainsFunc(good.Broken, func(was render.Broken) bool { return was.String() == b.String() && was.Digest == b.Digest })
}

// hide notes what there was at the last publication and is not, once all is mended, if a
// part may hide it; and what a part that is still broken may have hidden before.
func (m *mender) hide(objs []*object.Object, broken []render.Broken, cluster string, hiding hideout) {
	if hiding == (hideout{}) && len(m.in.State.Hidden) == 0 {
		return
	}
	have := map[string]bool{}
	for _, o := range objs {
		have[keyOf(o.Ref(), cluster)] = true
	}
	if hiding != (hideout{}) {
		for _, o := range in(m.in.LastGood[m.in.State.SourceCommit], cluster) {
			if key, at := keyOf(o.Ref(), cluster), hiding.of(o.Ref()); at != "" && !have[key] && !m.isSeen(o.Ref()) {
				m.hidden[key] = at
			}
		}
	}
	for key, part := range m.in.State.Hidden {
		inScope := strings.HasPrefix(key, "cluster "+cluster+"/") || cluster == "" && !strings.HasPrefix(key, "cluster ")
		if inScope && !have[key] && slices.ContainsFunc(broken, func(b render.Broken) bool { return b.String() == part }) {
			m.hidden[key] = part
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.hidden)) {
		if m.unsure == "" && strings.Contains(key, ".karmada.io/") {
			m.unsure = fmt.Sprintf("it would change while %s is missing, which may be in %s, which cannot be read", key, m.hidden[key])
		}
	}
}

// isSeen reports whether the source has an object anywhere, be it in another directory.
func (m *mender) isSeen(r object.Ref) bool {
	is := func(o *object.Object) bool { return o.Ref() == r }
	for _, objs := range m.in.Source.Bound {
		if slices.ContainsFunc(objs, is) {
			return true
		}
	}
	return slices.ContainsFunc(m.in.Source.Objects, is)
}

// keyOf names an object of the whole source or of the directory of a cluster, as the state
// does.
func keyOf(r object.Ref, cluster string) string {
	return render.Broken{Ref: r, Cluster: cluster}.String()
}

// hides reports whether a part that is broken may hold an object which a cluster had.
func (m *mender) hides(r object.Ref, cluster string) bool {
	return m.hidden[keyOf(r, "")] != "" || m.hidden[keyOf(r, cluster)] != ""
}

// stillBroken returns the objects that were broken, look sound, and may not be while a file
// is broken: the second of two definitions may be in it.
func (m *mender) stillBroken(objs []*object.Object, broken []render.Broken, cluster string) []render.Broken {
	if len(m.in.State.LastGood) == 0 || !slices.ContainsFunc(broken, func(b render.Broken) bool { return b.Path != "" }) {
		return nil
	}
	var still []render.Broken
	for _, o := range objs {
		b := render.Broken{Ref: o.Ref(), Cluster: cluster}
		if _, was := m.in.State.LastGood[b.String()]; was && !slices.Contains(broken, b) {
			still = append(still, b)
		}
	}
	return still
}

// restore adds to objs, of which have says what is there, what a broken part held, as far as
// it is missing.
func (m *mender) restore(objs []*object.Object, have map[object.Ref]bool, good []*object.Object, b render.Broken) []*object.Object {
	known := false
	for _, o := range good {
		if !b.Holds(o) {
			continue
		}
		known = true
		if !have[o.Ref()] {
			objs, have[o.Ref()] = append(objs, o), true
		}
	}
	m.strange = m.strange || !known
	return objs
}

// in returns the objects of a source that are bound to a cluster, or to none.
func in(s render.Source, cluster string) []*object.Object {
	if cluster == "" {
		return s.Objects
	}
	return s.Bound[cluster]
}

// isUnsound reports whether a part was broken in a commit already.
func (m *mender) isUnsound(commit string, good render.Source, b render.Broken) bool {
	if m.unsound[commit] == nil {
		m.unsound[commit] = map[string]bool{}
		set, _, _ := policies.Load(good.Objects, nil)
		for _, broken := range append(slices.Clone(good.Broken), set.Broken...) {
			m.unsound[commit][broken.String()] = true
		}
	}
	return m.unsound[commit][b.String()]
}
