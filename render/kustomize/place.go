package kustomize

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
)

// Place is where a file of the source has what a build takes in: a manifest, or an entry of
// a kustomization that makes one.
type Place struct {
	Kind string   `json:"kind"`
	Name string   `json:"name"` // as it is written there; a build may put something around it
	Pos  diag.Pos `json:"pos"`
}

var (
	kindLine = regexp.MustCompile(`^["']?kind["']?:\s*["']?([A-Za-z0-9]+)`)
	nameLine = regexp.MustCompile(`^\s+["']?name["']?:\s*["']?([^\s"'#]+)`)
	metaLine = regexp.MustCompile(`^["']?metadata["']?:\s*(\{.*\bname["']?:\s*["']?([^\s"',}]+))?`)
)

// places finds the manifests and the entries of generators of what was scanned. It looks for
// lines as people write them; what is written in another way has no place.
func (s *scan) places() []Place {
	all := slices.Clone(s.stand)
	for _, k := range s.kusts {
		for i, g := range k.ConfigMapGenerator {
			all = append(all, Place{"ConfigMap", g.Name, k.pos(field{"configMapGenerator", i})})
		}
		for i, g := range k.SecretGenerator {
			all = append(all, Place{"Secret", g.Name, k.pos(field{"secretGenerator", i})})
		}
	}
	slices.SortFunc(all, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// written finds the manifests of a file.
func written(file, content string) []Place {
	var all []Place
	var p Place
	inMeta, indent, line := false, 0, 0
	end := func() {
		if p.Kind != "" && p.Name != "" {
			all = append(all, p)
		}
		p, inMeta = Place{}, false
	}
	for text := range strings.Lines(content) {
		line++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case strings.HasPrefix(text, "---"):
			end()
			continue
		case strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#"):
			continue
		case p.Pos.Line == 0:
			p.Pos = diag.Pos{File: file, Line: line}
		}
		if m := kindLine.FindStringSubmatch(text); m != nil {
			p.Kind = m[1]
		}
		if m := metaLine.FindStringSubmatch(text); m != nil {
			inMeta, indent, p.Name = true, 0, m[2]
			continue
		}
		in := len(text) - len(strings.TrimLeft(text, " "))
		inMeta = inMeta && in > 0
		if indent == 0 {
			indent = in
		}
		if m := nameLine.FindStringSubmatch(text); inMeta && in == indent && p.Name == "" && m != nil {
			p.Name = m[1]
		}
	}
	end()
	return all
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

// Of returns where a manifest stands that a build gave: at the one place with its name, or
// else at the one with the longest name that is part of it. Where several places have that name
// it does not guess, and returns false.
func (ps Places) Of(kind, name string) (diag.Pos, bool) {
	var best Place
	several := false
	for _, p := range ps[kind] {
		switch {
		case !strings.Contains(name, p.Name) || len(p.Name) < len(best.Name):
		case len(p.Name) == len(best.Name):
			several = true
		default:
			best, several = p, false
		}
	}
	if best.Name == "" || several {
		return diag.Pos{}, false
	}
	return best.Pos, true
}
