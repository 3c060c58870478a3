package plan

import (
	"slices"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// mender replaces broken parts of a source by their last sound version.
type mender struct {
	in       *Input
	missing  map[string]bool
	lastGood map[string]string // what the next state remembers
	// unsure reports that a part could not be mended, so that what it held is not
	// known and nothing may be taken for removed.
	unsure bool
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
		m.lastGood[b.String()] = commit
		good, ok := m.in.LastGood[commit]
		if !ok {
			m.missing[commit] = true
			m.unsure = true
			continue
		}
		have := make(map[object.Ref]bool, len(objs))
		if b.Ref != (object.Ref{}) {
			objs = slices.DeleteFunc(slices.Clone(objs), b.Holds)
		}
		for _, o := range objs {
			have[o.Ref()] = true
		}
		for _, o := range from(good) {
			if b.Holds(o) && !have[o.Ref()] {
				objs = append(objs, o)
			}
		}
	}
	return objs
}

// source returns the objects of a source that are not bound to a cluster.
func unbound(s render.Source) []*object.Object { return s.Objects }
