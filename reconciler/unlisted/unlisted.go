// Package unlisted tells what stays in clusters although no kustomization lists it: what was
// published by versions which read all manifests beside a kustomization, and kustomizations
// within others. That something is not read any longer is no order to delete it.
package unlisted

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// Found lists what such a version delivered and this one does not read: source is what is read now,
// and older the same commit as that version read it. Of a release that is what it rendered to, by
// the state.
func Found(s *state.State, older, source render.Source) []state.Unlisted {
	f := finding{releases: map[state.ReleaseID][]object.Ref{}, found: map[state.Unlisted]bool{}}
	for i := range s.Releases {
		f.releases[s.Releases[i].ID()] = s.Releases[i].Objects
	}
	have := map[render.Place]bool{}
	source.Each(func(p render.Place, _ *object.Object) { have[p] = true })
	older.Each(func(p render.Place, o *object.Object) {
		if file := o.Pos().File; !have[p] && !render.IsPolicy(p.Ref) && isPassedOver(&source, file) {
			f.add(state.Unlisted{Object: p.Ref, Cluster: p.Cluster, File: file})
		}
	})
	return f.sorted()
}

// Still lists those whose file is there yet, and is not listed.
func Still(all []state.Unlisted, source render.Source) []state.Unlisted {
	return slices.DeleteFunc(slices.Clone(all), func(u state.Unlisted) bool { return !isPassedOver(&source, u.File) })
}

// isPassedOver reports that a file is not read: no kustomization lists it, or it cannot be.
func isPassedOver(s *render.Source, file string) bool {
	_, is := slices.BinarySearch(s.Unlisted, file)
	return is || slices.ContainsFunc(s.Broken, func(b render.Broken) bool { return b.Covers(file) })
}

// finding is what was found so far.
type finding struct {
	releases map[state.ReleaseID][]object.Ref
	found    map[state.Unlisted]bool
}

// add adds an object and, if it is a release, what it rendered to.
func (f *finding) add(u state.Unlisted) {
	if f.found[u] {
		return
	}
	f.found[u] = true
	for _, r := range f.releases[state.ReleaseID{Cluster: u.Cluster, Release: u.Object}] {
		f.add(state.Unlisted{Object: r, Cluster: u.Cluster, File: u.File})
	}
}

func (f *finding) sorted() []state.Unlisted {
	all := make([]state.Unlisted, 0, len(f.found))
	for u := range f.found {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b state.Unlisted) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), a.Object.Compare(b.Object), cmp.Compare(a.File, b.File))
	})
	return all
}
