package plan

import (
	"slices"

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
	// unsure reports that what a part held, or which policies there are, is not known, so
	// that nothing may change.
	unsure bool
	// moved reports that objects are missing while something is broken: they may be in
	// it, so that nothing may be taken for removed.
	moved bool
	// strange reports a broken part that held nothing before: what it holds now is not
	// known.
	strange bool
}

// mend adds to objs, those of the whole source or of the directory of a cluster, what the
// broken parts held when they were last sound. Objects of a broken file that could be
// read stay as they are now; a broken object is replaced. Where there is no earlier plan
// there is nothing to lose.
func (m *mender) mend(objs []*object.Object, broken []render.Broken, cluster string) []*object.Object {
	var earlier []*object.Object
	for _, b := range append(slices.Clone(broken), m.stillBroken(objs, broken, cluster)...) {
		if b.Ref != (object.Ref{}) && b.Cluster != cluster {
			continue // a file may hold anything, an object is one of its scope
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
			m.missing[commit], m.unsure = true, true
			continue
		case m.isUnsound(commit, good, b):
			m.unsure = true // another version of Waybill may have found it sound
			continue
		}
		if b.Ref != (object.Ref{}) {
			objs = slices.DeleteFunc(slices.Clone(objs), b.Holds)
		}
		objs = m.restore(objs, in(good, cluster), b)
		earlier = append(earlier, in(good, cluster)...)
	}
	m.miss(objs, earlier)
	return objs
}

// miss looks for what there was and is not, once all is mended.
func (m *mender) miss(objs, earlier []*object.Object) {
	if len(earlier) == 0 {
		return
	}
	have := refs(objs)
	for _, o := range earlier {
		if !have[o.Ref()] {
			m.moved = true
			m.unsure = m.unsure || render.IsPolicyGroup(o.Ref().Group)
		}
	}
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

// restore adds to objs what a broken part held, as far as it is missing.
func (m *mender) restore(objs, good []*object.Object, b render.Broken) []*object.Object {
	have, known := refs(objs), false
	for _, o := range good {
		if !b.Holds(o) {
			continue
		}
		known = true
		if !have[o.Ref()] {
			objs = append(objs, o)
		}
	}
	m.strange = m.strange || !known
	return objs
}

func refs(objs []*object.Object) map[object.Ref]bool {
	have := make(map[object.Ref]bool, len(objs))
	for _, o := range objs {
		have[o.Ref()] = true
	}
	return have
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
