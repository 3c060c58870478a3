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
	// unsure reports that a part could not be mended, so that what it held is not
	// known and nothing may be taken for removed.
	unsure bool
	// moved reports a broken file that is new while objects are missing: they may
	// be in it, so that nothing may be taken for removed.
	moved bool
}

// mend adds to objs what the broken parts held when they were last sound. Objects
// of a broken file that could be read stay as they are now; a broken object is
// replaced. Where there is no earlier plan there is nothing to lose.
func (m *mender) mend(objs []*object.Object, broken []render.Broken, from func(render.Source) []*object.Object) []*object.Object {
	for _, b := range broken {
		commit, ok := m.in.State.LastGood[b.String()]
		if !ok {
			commit = m.in.State.SourceCommit
		}
		if commit == "" {
			continue
		}
		good, ok := m.in.LastGood[commit]
		if !ok {
			m.missing[commit], m.unsure = true, true
			m.lastGood[b.String()] = commit
			continue
		}
		if m.isUnsound(commit, good, b) {
			continue // it never was sound, as far as is known, and holds nothing
		}
		m.lastGood[b.String()] = commit
		if b.Ref != (object.Ref{}) {
			objs = slices.DeleteFunc(slices.Clone(objs), b.Holds)
		}
		objs = m.restore(objs, from(good), b)
	}
	return objs
}

// restore adds to objs what a broken part held, as far as it is missing.
func (m *mender) restore(objs, good []*object.Object, b render.Broken) []*object.Object {
	have := make(map[object.Ref]bool, len(objs))
	for _, o := range objs {
		have[o.Ref()] = true
	}
	known, gone := false, false
	for _, o := range good {
		known = known || b.Holds(o)
		gone = gone || !have[o.Ref()]
		if b.Holds(o) && !have[o.Ref()] {
			objs = append(objs, o)
		}
	}
	m.moved = m.moved || !known && gone
	return objs
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

// unbound returns the objects of a source that are not bound to a cluster.
func unbound(s render.Source) []*object.Object { return s.Objects }
