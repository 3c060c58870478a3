package expand

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// saying is what jobs had to say, by release and job.
type saying map[string]*said

// said is what a job had to say, for all the clusters that it was done for.
type said struct {
	release  *object.Object
	diags    []diag.Diagnostic
	clusters []string // one of those that are alike
	bound    bool     // the release stands in their own directories
}

// add notes what a job had to say.
func (m saying) add(at string, release *object.Object, s *scope, diags []diag.Diagnostic) {
	if len(diags) == 0 {
		return
	}
	if m[at] == nil {
		m[at] = &said{release: release, diags: diags, bound: s.bound}
	}
	if t, cluster := m[at], s.name(); cluster != "" && !slices.Contains(t.clusters, cluster) {
		t.clusters = append(t.clusters, cluster)
	}
}

// diagnostics returns all that jobs had to say. What has no place of its own stands where
// the release does.
func (m saying) diagnostics() []diag.Diagnostic {
	var all []diag.Diagnostic
	for _, at := range slices.Sorted(maps.Keys(m)) {
		t := m[at]
		what := t.release.Ref().String()
		switch {
		case t.bound:
			what += " for " + words.List(t.clusters)
		case len(t.clusters) > 0:
			what += " for clusters like " + words.List(t.clusters)
		}
		for _, d := range t.diags {
			if d.Pos.File == "" {
				d.Pos, d.Message = t.release.Origin(), what+": "+d.Message
			}
			all = append(all, d)
		}
	}
	return all
}
