package compare

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// finding is what a diagnostic is known by: lines of a file move.
type finding struct {
	code          diag.Code
	file, message string
}

// divide tells what is wrong with the head and not with the base from what is wrong with both: what has the same code and file, and says
// the same of which object. Of a release that cannot be rendered it may name other clusters which stand for those like them, but it has
// to be rendered in none of those where it fails now. What the guard holds is said by itself.
func divide(before, after *side) (fresh, already []diag.Diagnostic) {
	there, apart := map[finding]bool{}, map[finding]bool{}
	for _, d := range before.said() {
		there[finding{d.Code, d.Pos.File, d.Message}] = true
		apart[finding{d.Code, d.Pos.File, d.Said()}] = true
	}
	for _, d := range after.said() {
		isThere := there[finding{d.Code, d.Pos.File, d.Message}]
		if release, ok := releaseOf(after.plan, &d); ok {
			isThere = apart[finding{d.Code, d.Pos.File, d.Said()}] && !failsAnew(before.plan, after.plan, release)
		}
		switch {
		case d.Code == diag.Held:
		case !isThere:
			fresh = append(fresh, d)
		case d.Severity > diag.Notice:
			already = append(already, d)
		}
	}
	return fresh, already
}

// releaseOf is the release that a diagnostic of the head is about, of which it names examples; false if it names none.
func releaseOf(head *plan.Plan, d *diag.Diagnostic) (object.Ref, bool) {
	if d.Examples == "" {
		return object.Ref{}, false
	}
	for release, about := range head.Expanded.About {
		if slices.Contains(about, *d) {
			return release, true
		}
	}
	return object.Ref{}, false
}

// failsAnew reports that a release cannot be rendered for a cluster of the base for which the base renders it.
func failsAnew(base, head *plan.Plan, release object.Ref) bool {
	before := failing(base, release)
	for name := range failing(head, release) {
		isOld := slices.ContainsFunc(base.Clusters, func(is plan.Cluster) bool { return is.Name == name })
		if isOld && !before[name] {
			return true
		}
	}
	return false
}

// failing are the clusters for which a release cannot be rendered.
func failing(p *plan.Plan, release object.Ref) map[string]bool {
	in := map[string]bool{}
	for i := range p.Expanded.Failures {
		f := &p.Expanded.Failures[i]
		if f.ID.Release != release {
			continue
		}
		for name, is := range f.Clusters {
			in[name] = in[name] || is
		}
	}
	return in
}
