// Package lint finds what the policies of a source say and nothing comes of: selectors that
// select nothing, policies that lose everything to others, names and labels that no cluster has,
// overrides for clusters to which their objects do not go, and taints that nothing follows. It
// decides nothing, and is asked once all is decided.
//
// Where a word is nearly one that is known, the hint has that one.
package lint

import (
	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
)

// mostHints is how many selectors that select nothing are given a hint: each is held against all
// templates.
const mostHints = 100

// Find reports what nothing comes of. What releases within releases are overridden by counts, too.
func Find(l *index.Policies, decisions []schedule.Decision, inners []expand.Inner) []diag.Diagnostic {
	f := finder{
		policies: l, templates: make([]*schedule.Decision, len(decisions)), hints: mostHints,
		selects: map[any]bool{}, acting: map[*policies.Override]*acting{}, unknown: map[any]bool{},
	}
	for i := range decisions {
		f.templates[i] = &decisions[i]
	}
	for _, n := range inners {
		f.templates = append(f.templates, within(n, schedule.Find(decisions, n.Of)))
	}
	f.selectors()
	f.shadowed()
	f.clusters()
	f.overrides()
	f.taints()
	return f.found
}

// finder finds.
type finder struct {
	policies  *index.Policies
	templates []*schedule.Decision
	found     []diag.Diagnostic
	hints     int // how many selectors may still be given a hint

	selects map[any]bool // policies that select something
	// everything are the override policies for all of their namespace, or for all.
	everything []*policies.Override
	acting     map[*policies.Override]*acting
	unknown    map[any]bool // policies with a name or label that no cluster has
}

// within is a release that another one renders, as something that goes where that one goes.
func within(n expand.Inner, outer *schedule.Decision) *schedule.Decision {
	t := template.Template{Variant: template.Variant{Object: n.Release}, Subject: n.Subject(), Part: &template.Part{Release: n.Release}}
	d := schedule.Decision{Template: &t}
	if outer != nil {
		t.Part.Release, d.Policy, d.Targets = outer.Template.Object, outer.Policy, outer.Targets
	}
	return &d
}

func (f *finder) report(ds ...diag.Diagnostic) { f.found = append(f.found, ds...) }
