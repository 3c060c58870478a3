package kustomize

import (
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
)

// Place is where a file of the source has what a build takes in: a manifest, or an entry of
// a kustomization that makes one.
type Place struct {
	Kind string `json:"kind"`
	// Namespace and Name are as they are written there: a build may put something around the name,
	// and set the namespace.
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Pos       diag.Pos `json:"pos"`
}

// Places says where the manifests of a build stand.
type Places map[string][]Place // by kind

// NewPlaces sorts places by kind.
func NewPlaces(all []Place) Places {
	ps := Places{}
	for _, p := range all {
		ps[p.Kind] = append(ps[p.Kind], p)
	}
	return ps
}

// Of returns where a manifest stands that a build gave: at the place with its name, or else at
// the one with the longest name that is part of it. Of several with that name it is the one that is
// written in its namespace; if that is not one, it does not guess, and returns false.
func (ps Places) Of(kind, namespace, name string) (diag.Pos, bool) {
	var best, here []Place
	for _, p := range ps[kind] {
		switch {
		case !strings.Contains(name, p.Name) || len(best) > 0 && len(p.Name) < len(best[0].Name):
			continue
		case len(best) > 0 && len(p.Name) > len(best[0].Name):
			best, here = nil, nil
		}
		if best = append(best, p); p.Namespace == namespace {
			here = append(here, p)
		}
	}
	for _, found := range [][]Place{best, here} {
		if len(found) == 1 {
			return found[0].Pos, true
		}
	}
	return diag.Pos{}, false
}
