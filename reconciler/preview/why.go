package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
)

// why says what the changes of an object come from. A commit may change its policy
// and its template, and then both are named.
func why(o *Object, base, head *plan.Decision) string {
	switch {
	case base == nil && head == nil:
		return ""
	case base == nil:
		return "new in " + head.Template.Object.Pos().String()
	case head == nil:
		return "removed from " + base.Template.Object.Pos().File
	}
	edited := string(base.Template.Object.YAML()) != string(head.Template.Object.YAML())
	var causes []string
	if nameOf(base) != nameOf(head) {
		causes = append(causes, fmt.Sprintf("claimed by %s, before by %s", nameOf(head), nameOf(base)))
	} else if isPlacedOtherwise(base, head, edited) {
		causes = append(causes, placedOtherwise(head))
	}
	if edited {
		causes = append(causes, "changed in "+head.Template.Object.Pos().String())
	}
	if head.Message != base.Message && head.Message != "" {
		causes = append(causes, head.Message)
	}
	if len(causes) > 0 {
		return strings.Join(causes, "; ")
	}
	return unplaced(o)
}

// isPlacedOtherwise reports other clusters, or other replicas for which the template
// cannot be the cause: it is as it was, or the policy is another.
func isPlacedOtherwise(base, head *plan.Decision, edited bool) bool {
	sameCluster := func(a, b karmada.TargetCluster) bool { return a.Name == b.Name }
	if !slices.EqualFunc(base.Targets, head.Targets, sameCluster) {
		return true
	}
	return !slices.Equal(base.Targets, head.Targets) && (!edited || policyText(base) != policyText(head))
}

func placedOtherwise(d *plan.Decision) string {
	if d.Policy == nil {
		return "what needs it is placed otherwise"
	}
	return "placed otherwise by " + nameOf(d)
}

// unplaced explains a change that no decision shows: a Namespace follows what is in
// it, and an override changes no template.
func unplaced(o *Object) string {
	switch {
	case len(o.Added) > 0 && len(o.Removed) == 0:
		return "something in the cluster needs it now"
	case len(o.Added) == 0 && len(o.Removed) > 0:
		return "nothing in the cluster needs it any more"
	case len(o.Added) > 0:
		return "it follows what needs it"
	}
	return "overridden otherwise"
}

func policyText(d *plan.Decision) string {
	if d.Policy == nil {
		return ""
	}
	return string(d.Policy.Object.YAML())
}

func nameOf(d *plan.Decision) string {
	if d.Policy == nil {
		return "no policy"
	}
	return d.Policy.String()
}
