package lint

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// acting is which rules of an override policy are for clusters to which something goes that the
// policy selects.
type acting struct {
	clusters []fleet.Matcher // by rule
	acts     []bool
	left     int                // rules that are for none so far
	tried    []bool             // by cluster: what was no reason for a rule once never is
	such     *schedule.Decision // something that is selected, and goes somewhere; nil: nothing is
}

func newActing(p *policies.Override) *acting {
	a := &acting{}
	for _, r := range p.Spec.Rules() {
		a.clusters = append(a.clusters, fleet.Compile(r.TargetCluster))
	}
	a.acts, a.left = make([]bool, len(a.clusters)), len(a.clusters)
	return a
}

func (a *acting) isSettled() bool { return a.left == 0 }

// actOnEverything notes which rules of policies that are for all of a namespace, or for all, are for
// a template.
func (f *finder) actOnEverything(t *schedule.Decision) {
	for _, p := range f.everything {
		if own := p.Object.Ref().Namespace; own == "" || own == t.Ref().Namespace {
			f.selects[p] = true
			f.act(p, t)
		}
	}
}

// act notes which rules of a policy are for a template that it selects.
func (f *finder) act(p *policies.Override, t *schedule.Decision) {
	a := f.acting[p]
	if a.isSettled() || len(t.Targets) == 0 {
		return
	}
	if a.such == nil {
		a.such = t
	}
	clusters, find := f.policies.Fleet.Clusters(), f.policies.Finder()
	if a.tried == nil {
		a.tried = make([]bool, len(clusters))
	}
	for _, c := range t.Targets {
		if i, ok := find(c.Name); ok && !a.tried[i] && !a.isSettled() {
			a.tried[i] = true
			a.try(clusters[i])
		}
	}
}

// try notes which rules are for a cluster.
func (a *acting) try(c *fleet.Cluster) {
	for i, clusters := range a.clusters {
		if !a.acts[i] && clusters.Matches(c) {
			a.acts[i] = true
			a.left--
		}
	}
}

// overrides reports override policies, and rules of them, that select objects, and no cluster to
// which these go.
func (f *finder) overrides() {
	for _, p := range f.policies.Set.Override {
		a := f.acting[p]
		switch {
		case !f.selects[p] && len(p.Spec.ResourceSelectors) == 0:
			f.report(diag.Diagnostic{
				Code: diag.SelectsNothing, Severity: diag.Warning, Pos: p.Object.Origin(),
				Message: fmt.Sprintf("%s selects no object of the source that a policy may place", p),
				Hint:    "it is for everything in its namespace, where there is nothing",
			})
		case f.selects[p] && a.such == nil:
			f.report(diag.Diagnostic{
				Code: diag.OverridesNowhere, Severity: diag.Warning, Pos: p.Object.Origin(),
				Message: fmt.Sprintf("%s changes nothing: nothing that it selects goes to any cluster", p),
				Hint:    "waybill explain KIND/NAME shows where an object goes, and why",
			})
		}
		if a.such == nil || f.unknown[p] {
			continue
		}
		for i := range a.clusters {
			if a.acts[i] {
				continue
			}
			path := []any{"spec", "overrideRules", i, "targetCluster"}
			if len(p.Spec.OverrideRules) == 0 {
				path = []any{"spec", "targetCluster"}
			}
			goesTo := make([]string, len(a.such.Targets))
			for n, c := range a.such.Targets {
				goesTo[n] = c.Name
			}
			f.report(diag.Diagnostic{
				Code: diag.OverridesNowhere, Severity: diag.Warning, Pos: p.Object.FieldPos(path),
				Message: fmt.Sprintf("%s rule %d changes nothing: what it selects, such as %s, goes to none of its clusters, but to %s", p, i, a.such.Ref(), words.List(goesTo)),
				Hint:    fmt.Sprintf("waybill explain %s shows where it goes, and why", a.such.Ref().Argument()),
			})
		}
	}
}
