package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
)

// unplaced explains a change that no decision shows: a Namespace follows what is in it, and an
// override changes no template.
func unplaced(it *item) []preview.Cause {
	switch {
	case len(it.added) > 0 && len(it.removed) == 0:
		return []preview.Cause{{Message: "something in the cluster needs it now"}}
	case len(it.added) == 0 && len(it.removed) > 0:
		return []preview.Cause{{Message: "nothing in the cluster needs it any more"}}
	case len(it.added) > 0:
		return []preview.Cause{{Message: "it follows what needs it"}}
	case len(it.changed) > 0:
		return []preview.Cause{{Message: "overridden otherwise"}}
	}
	return nil
}

func policyText(d *plan.Decision) string {
	if d.Policy == nil {
		return ""
	}
	return string(d.Policy.Object.YAML())
}

func policyName(d *plan.Decision) string {
	if d.Policy == nil {
		return "no policy"
	}
	return d.Policy.String()
}

// policyPos is where the policy that claims a template stands, or the one that did.
func policyPos(base, head *plan.Decision) diag.Pos {
	for _, d := range []*plan.Decision{head, base} {
		if d.Policy != nil {
			return d.Policy.Object.Origin()
		}
	}
	return diag.Pos{}
}

func posOf(r *override.Rule) diag.Pos {
	return r.Policy.Object.FieldPos([]any{"spec", "overrideRules", r.Index})
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
