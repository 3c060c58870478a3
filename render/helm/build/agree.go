package build

import (
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/waybill-dev/waybill/render/helm"
)

// agree decides whether two renderings are a result. They had different stubs for what
// is refused, so that what a stub reached differs.
//
// A file that called such a function is none, unless nothing of it is delivered: it
// rendered to nothing, or to hooks for tests alone, which like a random name. Any
// other file that differs was reached by a stub, or depends on chance.
func agree(a, b rendering, r helm.Release) error {
	own := func(name string) *helm.Error { return a.refusals[a.origins[name]] }
	names := slices.Sorted(maps.Keys(a.files))
	for _, name := range names {
		if refusal := own(name); refusal != nil && delivered(name, a.files[name]) {
			return refusal
		}
	}
	if slices.ContainsFunc(r.Allow, helm.Differs) {
		return first(a.refusals) // there is no telling what the stubs reached
	}
	for _, name := range names {
		if a.files[name] == b.files[name] || own(name) != nil {
			continue
		}
		if err := first(a.refusals); err != nil {
			return err
		}
		return &helm.Error{
			File:    name,
			Message: "two renderings of this file differ",
			Hint:    "look for values of a map, whose order is left to chance: range over the map, or sort them",
		}
	}
	return nil
}

// first returns the first refusal by file, or nil.
func first(refusals map[string]*helm.Error) error {
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		return refusals[name]
	}
	return nil
}

// delivered reports whether something that a file renders to is more than a test.
func delivered(name, text string) bool {
	hooks, manifests, err := releaseutil.SortManifests(map[string]string{name: text}, nil, releaseutil.InstallOrder)
	if err != nil {
		return true
	}
	for _, m := range manifests {
		if !blank([]byte(m.Content)) {
			return true
		}
	}
	for _, h := range hooks {
		if !newHook(h).Test() {
			return true
		}
	}
	return false
}
