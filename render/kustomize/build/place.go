package build

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
)

var (
	kindLine  = regexp.MustCompile(`^["']?kind["']?:\s*["']?([A-Za-z0-9]+)`)
	nameLine  = regexp.MustCompile(`^\s+["']?name["']?:\s*["']?([^\s"'#]+)`)
	spaceLine = regexp.MustCompile(`^\s+["']?namespace["']?:\s*["']?([^\s"'#]+)`)
	spaceIn   = regexp.MustCompile(`[{,]\s*["']?namespace["']?:\s*["']?([^\s"',}]+)`)
	metaLine  = regexp.MustCompile(`^["']?metadata["']?:\s*(\{.*\bname["']?:\s*["']?([^\s"',}]+).*)?`)
)

// places finds the manifests and the entries of generators of what was scanned. It looks for
// lines as people write them; what is written in another way has no place.
func (s *scan) places() []kustomize.Place {
	all := slices.Clone(s.stand)
	for _, k := range s.kusts {
		for i, g := range k.ConfigMapGenerator {
			all = append(all, kustomize.Place{Kind: "ConfigMap", Namespace: g.Namespace, Name: g.Name, Pos: k.pos(field{"configMapGenerator", i})})
		}
		for i, g := range k.SecretGenerator {
			all = append(all, kustomize.Place{Kind: "Secret", Namespace: g.Namespace, Name: g.Name, Pos: k.pos(field{"secretGenerator", i})})
		}
	}
	slices.SortFunc(all, func(a, b kustomize.Place) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// written finds the manifests of a file.
func written(file, content string) []kustomize.Place {
	var all []kustomize.Place
	var d reading
	line := 0
	for text := range strings.Lines(content) {
		line++
		text = strings.TrimRight(text, "\r\n")
		switch {
		case strings.HasPrefix(text, "---"):
			all, d = d.end(all), reading{}
		case strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#"):
		default:
			if d.Pos.Line == 0 {
				d.Pos = diag.Pos{File: file, Line: line}
			}
			d.read(text)
		}
	}
	return d.end(all)
}

// reading is what was read of a manifest so far.
type reading struct {
	kustomize.Place

	inMeta bool
	indent int // of the fields of metadata
}

// end adds a manifest that was read.
func (d *reading) end(all []kustomize.Place) []kustomize.Place {
	if d.Kind == "" || d.Name == "" {
		return all
	}
	return append(all, d.Place)
}

// read takes a line.
func (d *reading) read(text string) {
	if m := kindLine.FindStringSubmatch(text); m != nil {
		d.Kind = m[1]
	}
	if m := metaLine.FindStringSubmatch(text); m != nil {
		d.inMeta, d.indent, d.Name = true, 0, m[2]
		if in := spaceIn.FindStringSubmatch(m[1]); in != nil {
			d.Namespace = in[1]
		}
		return
	}
	in := len(text) - len(strings.TrimLeft(text, " "))
	d.inMeta = d.inMeta && in > 0
	if d.indent == 0 {
		d.indent = in
	}
	if !d.inMeta || in != d.indent {
		return
	}
	if m := nameLine.FindStringSubmatch(text); d.Name == "" && m != nil {
		d.Name = m[1]
	}
	if m := spaceLine.FindStringSubmatch(text); m != nil {
		d.Namespace = m[1]
	}
}
