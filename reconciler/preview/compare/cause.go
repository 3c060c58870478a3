package compare

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
)

// why says what changes come from.
type why struct {
	comparer   *comparer
	base, head map[object.Ref]*plan.Decision
	edits      edits
	inputs     inputs
	// before and after are what clusters have by their folders.
	before, after folders
	// twin says what the same changes of the twins come from; nil where there are none.
	twin *why
}

func (c *comparer) newWhy() *why {
	w := c.whyOf(c.base, c.head)
	if c.before.twin != nil && c.after.twin != nil {
		w.twin = c.whyOf(c.before.twin, c.after.twin)
	}
	return w
}

// whyOf says why a plan is another than a plan before.
func (c *comparer) whyOf(base, head *plan.Plan) *why {
	return &why{comparer: c, base: decisions(base), head: decisions(head), edits: newEdits(base, head), inputs: newInputs(base, head), before: folders{plan: base}, after: folders{plan: head}}
}

// hiddenCause stands for causes that depend on secrets.
const hiddenCause = "what depends on the value of a Secret or on a draw, and is not shown"

// shown are the causes of an item without what depends on secrets: what its twin does not have, too. A policy may be rendered
// by a release, and be of what that makes of a Secret.
func (w *why) shown(it *item) []preview.Cause {
	all := w.causes(it)
	if w.twin == nil {
		return all
	}
	others := w.twin.causes(it)
	var shown []preview.Cause
	for _, cause := range all {
		if !slices.ContainsFunc(others, func(o preview.Cause) bool { return o.Message == cause.Message }) {
			cause.Message = hiddenCause
		}
		if !slices.Contains(shown, cause) {
			shown = append(shown, cause)
		}
	}
	return shown
}

// causes says what the changes of an object come from. A commit may change its policy and its
// template, and then both are named.
func (w *why) causes(it *item) []preview.Cause {
	base, head := w.base[it.ref], w.head[it.ref]
	switch {
	case base == nil && head == nil:
		if all := w.ofFolder(it); len(all) > 0 {
			return all
		}
		return w.ofClusters(it)
	case base == nil:
		return append([]preview.Cause{{Message: "new", Pos: head.Template.Object.Origin()}}, w.ofClusters(it)...)
	case head == nil:
		return []preview.Cause{{Message: "removed", Pos: base.Template.Object.Origin()}}
	}
	edited := string(base.Template.Object.YAML()) != string(head.Template.Object.YAML())
	var all []preview.Cause
	if policyName(base) != policyName(head) {
		all = append(all, preview.Cause{Message: "claimed by " + policyName(head) + ", before by " + policyName(base), Pos: policyPos(base, head)})
	} else if isPlacedOtherwise(base, head, edited) {
		all = append(all, w.placedOtherwise(it, head)...)
	}
	if edited {
		all = append(all, w.changed(base, head)...)
	}
	all = append(all, w.overridden(it, base, head)...)
	if len(it.changed) > 0 && len(all) == 0 && !maps.Equal(base.Backends, head.Backends) {
		all = []preview.Cause{{Message: "a Service that it sends traffic to is another one, or is written otherwise"}}
	}
	if head.Message != base.Message && head.Message != "" && head.Reason != string(place.Success) {
		all = append(all, preview.Cause{Message: head.Message})
	}
	if len(all) > 0 {
		return all
	}
	if all = w.ofClusters(it); len(all) > 0 {
		return all
	}
	return unplaced(it)
}

// changed says what changed of a template: itself, a file that it is built with, or the release that renders it.
func (w *why) changed(base, head *plan.Decision) []preview.Cause {
	was, is := base.Template.Part, head.Template.Part
	if is == nil || was == nil {
		return w.inputs.edited(head.Template.Object)
	}
	e := edit{base: was.Release, head: is.Release, what: nameOfRelease(is.Release)}
	if string(was.Release.YAML()) != string(is.Release.YAML()) {
		return e.causes()
	}
	return []preview.Cause{renderedOtherwise(is.Release)}
}

// renderedOtherwise is the cause that something a release is made from changed, and not the release:
// many releases may have it in common.
func renderedOtherwise(release *object.Object) preview.Cause {
	what := "by " + nameOfRelease(release)
	if chart, ok, _ := unstructured.NestedString(release.Content(), "spec", "chart", "spec", "chart"); ok {
		what = "from chart " + chart
	} else if path, ok, _ := unstructured.NestedString(release.Content(), "spec", "path"); ok {
		what = "from the folder " + path
	}
	return preview.Cause{Message: "rendered otherwise " + what, Pos: release.Origin()}
}

func nameOfRelease(o *object.Object) string {
	r := o.Ref()
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// isPlacedOtherwise reports other clusters, or other replicas for which the template cannot be
// the cause: it is as it was, or the policy is another.
func isPlacedOtherwise(base, head *plan.Decision, edited bool) bool {
	sameCluster := func(a, b karmada.TargetCluster) bool { return a.Name == b.Name }
	if !slices.EqualFunc(base.Targets, head.Targets, sameCluster) {
		return true
	}
	return !slices.Equal(base.Targets, head.Targets) && (!edited || policyText(base) != policyText(head))
}

// placedOtherwise says which edit places a template otherwise: of its policy, of clusters, or of
// anything else that steers.
func (w *why) placedOtherwise(it *item, head *plan.Decision) []preview.Cause {
	if head.Policy == nil {
		return []preview.Cause{{Message: "what needs it is placed otherwise"}}
	}
	if e, ok := w.edits.policies[head.Policy.Object.Ref()]; ok {
		return e.causes()
	}
	if all := w.ofClusters(it); len(all) > 0 {
		return all
	}
	var all []preview.Cause
	for _, e := range w.edits.others {
		all = append(all, e.causes()...)
	}
	if len(all) == 0 {
		return []preview.Cause{{Message: "placed otherwise by " + policyName(head), Pos: head.Policy.Object.Origin()}}
	}
	return all[:min(maxFields, len(all))]
}

// ofClusters are the edits of registrations: of the clusters in which an object comes or goes, and
// where none of these was edited, of others.
func (w *why) ofClusters(it *item) (all []preview.Cause) {
	if len(w.edits.clusters) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, groups := range [][]int{it.added, it.removed} {
		for _, g := range groups {
			for _, name := range w.comparer.groups[g].names {
				names[name] = true
			}
		}
	}
	for _, name := range it.detached {
		names[name] = true
	}
	for _, near := range []bool{true, false} {
		for _, name := range sortedKeys(w.edits.clusters) {
			if names[name] == near {
				all = append(all, clusterEdit(w.edits.clusters[name])...)
			}
			if len(all) >= maxFields {
				return all[:maxFields]
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// overridden says which override rules change what a template is in clusters.
func (w *why) overridden(it *item, base, head *plan.Decision) (all []preview.Cause) {
	if len(it.changed)+len(it.scaled) == 0 || len(w.edits.overrides) == 0 && len(w.edits.clusters) == 0 {
		return nil
	}
	var groups []int // one of each that has the same change
	for _, ch := range it.changed {
		groups = append(groups, ch.groups[0])
	}
	for _, s := range it.scaled {
		groups = append(groups, s.groups[0])
	}
	for _, g := range groups {
		for _, cause := range w.rules(w.comparer.groups[g].names[0], base, head) {
			if !slices.Contains(all, cause) {
				all = append(all, cause)
			}
		}
	}
	return all[:min(maxFields, len(all))]
}

// rules says which of the rules that match in a cluster are not those that did.
func (w *why) rules(cluster string, base, head *plan.Decision) (all []preview.Cause) {
	before, after := rulesIn(w.before.plan, base, cluster), rulesIn(w.after.plan, head, cluster)
	for _, r := range after {
		e, edited := w.edits.overrides[r.Policy.Object.Ref()]
		switch {
		case edited:
			all = append(all, e.causes()...)
		case !slices.ContainsFunc(before, func(o *override.Rule) bool { return o.String() == r.String() }):
			all = append(all, preview.Cause{Message: r.String() + " applies in " + cluster + " now", Pos: posOf(r)})
		}
	}
	for _, r := range before {
		if slices.ContainsFunc(after, func(o *override.Rule) bool { return o.String() == r.String() }) {
			continue
		}
		if e, edited := w.edits.overrides[r.Policy.Object.Ref()]; edited {
			all = append(all, e.causes()...)
		} else {
			all = append(all, preview.Cause{Message: r.String() + " no longer applies in " + cluster, Pos: posOf(r)})
		}
	}
	return all
}

// rulesIn are the rules that match a template in a cluster.
func rulesIn(p *plan.Plan, d *plan.Decision, cluster string) (all []*override.Rule) {
	l := p.Expanded.Policies
	if l == nil {
		return nil
	}
	i, ok := l.Position(cluster)
	if !ok {
		return nil
	}
	rules := l.Overrides.Rules(d.Template.Subject)
	matching := l.Matching(rules.List)[i]
	for n, r := range rules.List {
		if matching[n] == 1 {
			all = append(all, r)
		}
	}
	return all
}
