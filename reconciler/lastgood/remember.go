package lastgood

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// soundIn returns the last of some commits in which a part could be read; the last of all if
// it could be in none.
func (m *restorer) soundIn(part string, commits []string) string {
	for _, commit := range slices.Backward(commits) {
		if !m.unsound[commit][part] {
			return commit
		}
	}
	if len(commits) == 0 {
		return ""
	}
	return commits[len(commits)-1]
}

// isUnsound reports whether the source has an object, but not as it is meant: it has an
// error, or may be one of two definitions of which the other cannot be read.
func (m *restorer) isUnsound(k render.Place) bool {
	isFile := false
	for _, p := range m.parts {
		if p.Ref == k.Ref && p.Cluster == k.Cluster {
			return true
		}
		isFile = isFile || p.Path != ""
	}
	return isFile && slices.ContainsFunc(m.in.State.LastGood.Objects, func(g state.Good) bool {
		return g.Object == k.Ref && g.Cluster == k.Cluster && slices.Contains(g.In, k.String())
	})
}

// remember finds out what the source held when it was published last.
func (m *restorer) remember(published []string) {
	for _, commit := range published {
		source, ok := m.in.Earlier[commit]
		if !ok {
			m.outOfReach(commit)
			continue
		}
		unsound := m.unsound[commit]
		// What was published in part is ahead of the state, which tells nothing of it.
		ahead := commit != m.in.State.Published.Commit && m.in.State.Published.Commit != ""
		for _, p := range m.parts {
			if _, told := m.in.State.LastGood.Broken[p.String()]; unsound[p.String()] && !told && !ahead {
				// Another version of Waybill published it, and found it sound.
				m.unresolved.HoldReason = cmp.Or(m.unresolved.HoldReason, fmt.Sprintf("it would change while %s has an error, and had it when it was published last", p))
			}
		}
		source.Each(func(k render.Place, o *object.Object) {
			if !unsound[k.String()] {
				m.known[k] = was{object: o, commit: commit}
			}
		})
	}
	for _, g := range m.in.State.LastGood.Objects {
		m.rememberGood(g)
	}
	m.rememberOlder()
}

// outOfReach notes that an earlier commit is needed and cannot be read.
func (m *restorer) outOfReach(commit string) {
	m.unresolved.OutOfReach = commit
	m.unresolved.HoldReason = cmp.Or(m.unresolved.HoldReason, "it would change while part of the source cannot be read, and an earlier version of that part is out of reach")
}

// rememberGood finds an object that was taken from an earlier commit before.
func (m *restorer) rememberGood(g state.Good) {
	k := render.Place{Cluster: g.Cluster, Ref: g.Object}
	earlier := m.in.Earlier[g.Commit]
	found := earlier.Find(k)
	if found == nil {
		if m.mayBeIn(g.In) {
			m.outOfReach(g.Commit)
			m.unresolved.lost[k] = true
			m.unresolved.memory.Objects = append(m.unresolved.memory.Objects, g)
		}
		return
	}
	m.known[k] = was{object: found, commit: g.Commit, in: g.In}
}

// mayBeIn reports whether one of some parts cannot be read still.
func (m *restorer) mayBeIn(parts []string) bool {
	return slices.ContainsFunc(m.parts, func(p render.Broken) bool { return slices.Contains(parts, p.String()) })
}

// rememberOlder finds what the older form of the state names by its parts.
func (m *restorer) rememberOlder() {
	for name, part := range m.in.State.LastGood.Broken {
		if len(m.in.State.LastGood.Objects) > 0 || part.Digest != "" || part.Commit == "" {
			continue
		}
		source, ok := m.in.Earlier[part.Commit]
		if !ok {
			m.outOfReach(part.Commit)
		}
		p := m.part(name)
		source.Each(func(k render.Place, o *object.Object) {
			if p != nil && p.Holds(o) && (p.Ref == (object.Ref{}) || p.Cluster == k.Cluster) {
				m.known[k] = was{object: o, commit: part.Commit, in: []string{name}}
			}
		})
	}
	for k, w := range m.known {
		w.in = slices.Concat(w.in, m.in.State.LastGood.Also[k.String()])
		m.known[k] = w
	}
}
