package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
)

func distinct(list []string) []string {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// shadowed reports propagation policies that lose all that they select to others.
func (f *finder) shadowed() {
	claims := map[*policies.Propagation]bool{}
	for _, t := range f.templates {
		claims[t.Policy] = true
	}
	for _, p := range f.policies.Set.Propagation {
		if !claims[p] && f.selects[p] {
			f.lost(p)
		}
	}
}

// lost reports a policy that claims nothing, unless it would claim what is never propagated, or
// waits.
func (f *finder) lost(p *policies.Propagation) {
	var part *schedule.Decision
	for _, t := range f.templates {
		s := t.Template.Selected()
		if p.Selectors.Match(s) == policies.NoMatch {
			continue
		}
		if t.Template.Part != nil {
			part = t
			continue
		}
		candidates := f.policies.Claims.Candidates(s)
		if winner := candidates[0]; winner.Policy != p {
			i := slices.IndexFunc(candidates, func(c match.Candidate) bool { return c.Policy == p })
			hint := "give it a higher priority, or take what it selects from the other"
			switch {
			case winner.Policy.Owns():
				hint = "remove it, unless it is to place the Service when the MultiClusterService goes"
			case winner.Policy.Namespaced() && !p.Namespaced():
				hint = "take what it selects from the other: no priority wins over a PropagationPolicy"
			}
			f.nothing(p, fmt.Sprintf("others win all that it selects, as %s wins %s: %s", winner.Policy, s.Ref, match.Why(candidates[i], winner)), hint)
		}
		return
	}
	if part != nil {
		release := part.Template.Part.Release.Ref()
		f.nothing(p, fmt.Sprintf("%s renders what it selects, such as %s, and that goes where the release goes", release, part.Ref()), "select the release instead")
	}
}

// nothing reports that a policy claims nothing.
func (f *finder) nothing(p *policies.Propagation, why, hint string) {
	f.report(diag.Diagnostic{Code: diag.Shadowed, Severity: diag.Warning, Pos: p.Object.Origin(), Message: fmt.Sprintf("%s claims nothing: %s", p, why), Hint: hint})
}
