// Package shortfall says which clusters get nothing, or less than their folders promise, and why: of a plan that is made.
package shortfall

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// Cluster is one that gets nothing, or less than its folder promises.
type Cluster struct {
	Name    string
	Objects int // that it gets
	Why     []string
}

// Of lists those of a plan, in the order of clusters.
func Of(p *plan.Plan) (all []Cluster) {
	if p.Expanded.Policies == nil {
		return nil // nobody planned it
	}
	clusters := p.Expanded.Policies.Fleet.Clusters()
	bound := map[string]bool{}
	for _, c := range clusters {
		bound[render.BoundFolder(c.Source.Annotations)] = true
	}
	for i, c := range clusters {
		s := Cluster{Name: c.Name, Objects: p.Clusters[i].Objects}
		folder := render.BoundFolder(c.Source.Annotations)
		s.Why = lacks(p, c.Name, func(file string) bool { return folder != "" && innermost(bound, file) == folder })
		if s.Objects == 0 && len(s.Why) == 0 {
			s.Why = []string{nothing(p, c.Name, folder)}
		}
		if len(s.Why) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// lacks says what a cluster does not get, because a part of the source that is its own, or in its folder,
// cannot be read or rendered.
func lacks(p *plan.Plan, cluster string, isIn func(file string) bool) (why []string) {
	for _, b := range p.Source.Broken {
		if b.Cluster == cluster || isIn(b.Path) {
			why = append(why, broken(p, b))
		}
	}
	for _, f := range p.Expanded.Failures {
		if f.In(cluster) && (f.ID.Cluster == cluster || f.Targets[cluster]) {
			why = append(why, failed(p, f))
		}
	}
	return why
}

// innermost returns the innermost of some folders that a file is in; empty for none.
func innermost(folders map[string]bool, file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if folders[dir] {
			return dir
		}
	}
	return ""
}

// broken says what of a source is not read, and why.
func broken(p *plan.Plan, b render.Broken) string {
	why := said(p, func(d *diag.Diagnostic) bool { return b.Path != "" && d.Pos.File == b.Path })
	if why != "" {
		why = ": " + why
	}
	switch dir, name := path.Split(b.Path); {
	case b.Path == "":
		return fmt.Sprintf("%s is defined twice", b.Ref)
	case strings.HasPrefix(strings.ToLower(name), "kustomization"):
		return dir + " cannot be built" + why
	case b.Dir:
		return b.Path + "/ cannot be read" + why
	}
	return b.Path + " cannot be read" + why
}

// failed says which release cannot be rendered, and why.
func failed(p *plan.Plan, f expand.Failure) string {
	why, _, _ := strings.Cut(p.Expanded.About.Why(f.ID.Release), "\n")
	return cmp.Or(why, f.ID.Release.String()+" cannot be rendered")
}

// said returns the message of the first error that is meant; empty if there is none.
func said(p *plan.Plan, meant func(*diag.Diagnostic) bool) string {
	i := slices.IndexFunc(p.Diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && meant(&d) })
	if i < 0 {
		return ""
	}
	first, _, _ := strings.Cut(p.Diags[i].Message, "\n")
	return first
}

// nothing says why a cluster gets nothing, though nothing fails.
func nothing(p *plan.Plan, cluster, folder string) string {
	switch {
	case len(p.Source.Bound[cluster]) > 0:
		return "nothing in its folder is delivered, and no policy places anything there"
	case folder != "":
		return "its folder holds nothing, and no policy places anything there"
	}
	return "no policy places anything there"
}
