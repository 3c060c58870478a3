package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// carryOut settles what is carried out of what is wanted.
func (t *table) carryOut() carried {
	if t.in.Replay != nil {
		return t.replay()
	}
	t.letGo(func(cluster string) bool {
		return t.in.Allow.All() || t.in.Allow.AllowsCluster(cluster)
	})
	out := t.guarded()
	held, data := out.holds(), t.holdingData()
	if len(out.released) > 0 {
		out.allowed, out.diags = true, guard.Released(out.released)
	}
	switch digest := guard.Digest(slices.Concat(held, data)); {
	case len(held)+len(data) == 0:
	case t.in.Allow.Allows(t.in.Source.Revision, digest):
		t.letGo(func(string) bool { return true })
		t.in.Allow.Credit(held, t.in.Source.Revision, digest, t.in.Now)
		out = carried{allowed: true, released: append(out.released, held...), diags: append(out.diags, guard.Released(held)...)}
		out.result = rollout.Resolve(t, func(left rollout.Remaining) []int {
			t.layOut(left)
			return nil
		})
		out.clusters = t.clusters()
	default:
		out.removals, out.diags = digest, slices.Concat(out.diags, t.in.Allow.Said(held, digest), t.sayHoldingData(data, digest))
	}
	out.diags = append(out.diags, t.waits(&out.result)...)
	return out
}

// guarded settles it with the guard as the judge of what clusters lose.
func (t *table) guarded() (out carried) {
	g := t.guard()
	out.result = rollout.Resolve(t, func(left rollout.Remaining) (held []int) {
		t.layOut(left)
		clusters := t.clusters()
		for i := range clusters {
			c := &clusters[i]
			switch {
			case out.clusters != nil && out.clusters[i].Held != nil:
				*c = out.clusters[i] // its tree is the one that it is held for
			case t.in.Medium == Branch:
				next := guard.Next{Cluster: c.Name, Tree: c.Tree, Objects: c.Objects, Err: t.trees[i].Err, Flux: t.flux(i), Virtual: t.virtual(i)}
				c.Held = g.Judge(next)
				switch {
				case c.Held == nil:
				case t.in.Allow.AllowsCluster(c.Name):
					out.release(c, nil, t.in.Allow.ByName(t.in.Now))
				case t.approved(*g, next):
					out.release(c, t.in.Allow.Approvers(c.Name), "")
				default:
					out.released = slices.DeleteFunc(out.released, func(h guard.Held) bool { return h.Cluster == c.Name })
					held = append(held, i)
				}
			}
		}
		if out.clusters = clusters; t.in.Allow.All() {
			return nil
		}
		return held
	})
	return out
}

// approved reports whether a cluster would not be held but for what comments allow, or what was allowed when moves began.
func (t *table) approved(g guard.Guard, next guard.Next) bool {
	if len(t.in.Allow.Approved)+len(t.in.State.Leaving) == 0 {
		return false
	}
	g.Approved = func(r object.Ref, cluster string) bool {
		return t.in.Allow.Approves(r, cluster) || t.mover.wasAllowed(r, cluster)
	}
	return g.Judge(next) == nil
}

// release lets a cluster go that would be held; by are those who allowed it by comments, and way is how it was allowed otherwise.
func (c *carried) release(cluster *Cluster, by []string, way string) {
	is := guard.Held{Hold: cluster.Held, Cluster: cluster.Name, Tree: cluster.Tree.ID(), By: by, Way: way}
	c.released = append(slices.DeleteFunc(c.released, func(h guard.Held) bool { return h.Cluster == is.Cluster }), is)
	cluster.Held = nil
}

// freed are the clusters that were held and are released.
func (c *carried) freed() map[string]bool {
	all := map[string]bool{}
	for _, h := range c.released {
		all[h.Cluster] = true
	}
	return all
}

// holds are the clusters that are held.
func (c *carried) holds() (held []guard.Held) {
	for _, cluster := range c.clusters {
		if cluster.Held != nil {
			held = append(held, guard.Held{Hold: cluster.Held, Cluster: cluster.Name, Tree: cluster.Tree.ID()})
		}
	}
	return held
}

// carriedOut is what was carried out of the plan, for what goes out in stages.
func carriedOut(t *table, out *carried) staged.Carried {
	is := staged.Carried{Turned: map[string]bool{}, Changes: map[string]func(object.Ref) bool{}}
	for name := range t.in.State.Held {
		is.Turned[name] = true
	}
	for i, c := range out.clusters {
		if c.Held == nil {
			if changed := changes(t, i); changed != nil {
				is.Changes[c.Name] = changed
			}
		} else if is.Turned[c.Name] {
			delete(is.Turned, c.Name)
		} else {
			is.Turned[c.Name] = true
		}
	}
	return is
}

func (t *table) guard() *guard.Guard {
	x := t.in.Expanded
	return &guard.Guard{
		Rules: t.in.Source.Config.Guard, HoldReason: cmp.Or(t.in.Unresolved.HoldReason, x.HoldReason), ContentUnknown: x.ContentUnknown,
		InSource: func(r object.Ref) bool { return t.decided.Find(r) != nil }, Cause: t.cause, Moved: t.mayLeave,
		Nowhere: func(r object.Ref) bool { d := t.decided.Find(r); return d == nil || len(d.Targets) == 0 },
	}
}

// waits reports what stays as it is in every cluster, until all of it can be carried out.
func (t *table) waits(r *rollout.Result) (diags []diag.Diagnostic) {
	var forHeld []string
	for _, i := range slices.Sorted(maps.Keys(r.Frozen)) {
		ref := t.rows[i].Ref
		blocked := map[reason.Reason][]string{}
		for cluster, l := range r.Left[i].All() {
			if l.Reason != r.Frozen[i] {
				blocked[l.Reason] = append(blocked[l.Reason], t.cluster(cluster))
			}
		}
		if len(blocked[reason.Held]) > 0 {
			forHeld = append(forHeld, ref.String())
			continue
		}
		why := make([]string, 0, len(blocked))
		for is, clusters := range blocked {
			why = append(why, fmt.Sprintf("%s in %s", is.Message(), words.List(clusters)))
		}
		if len(why) == 0 {
			why = []string{"what goes out with it stays in one of them"}
		}
		slices.Sort(why)
		d := diag.Diagnostic{
			Code: diag.Waits, Severity: diag.Warning,
			Message: fmt.Sprintf("%s stays as it is in every cluster, because %s: %s", ref, r.Frozen[i].Message(), strings.Join(why, "; ")),
			Hint:    fmt.Sprintf("waybill explain %s shows every cluster", ref.Argument()),
		}
		if decision := t.decided.Find(ref); decision != nil {
			d.Pos = decision.Template.Object.Origin()
		}
		diags = append(diags, d)
	}
	if len(forHeld) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.WaitsForHeld, Severity: diag.Warning,
			Message: words.List(forHeld) + " stay as they are in every cluster: a held cluster would have to take its part of them first",
			Hint:    "release the held clusters",
		})
	}
	return diags
}

// cause explains a removal from what was decided.
func (t *table) cause(r object.Ref, cluster string) string {
	d := t.decided.Find(r)
	switch {
	case t.in.Expanded.UsedUp[r]:
		return "only releases use it, which are rendered here"
	case d == nil:
		return t.in.State.WhyGone(t.in.Expanded.Releases, r, cluster)
	case r.Kind == "Namespace" && r.Group == "" && d.Outcome == schedule.Unclaimed && t.in.Source.Config.Namespaces == render.NamespacesNone:
		return render.ConfigFile + " says namespaces: none, and no policy sends it"
	case d.Outcome == schedule.Unclaimed:
		return "no policy selects it any more"
	case d.Outcome == schedule.Skipped:
		return d.Message
	case t.moved(r, cluster):
		return "it fails over to another cluster"
	case len(d.Targets) == 0:
		return "it fits no cluster: " + d.Message
	case slices.ContainsFunc(d.Targets, func(c schedule.Target) bool { return c.Name == cluster }):
		return cmp.Or(otherVersion(t, r), "it could not be written for this cluster")
	case d.Policy == nil:
		return "what needs it no longer sends it here"
	}
	return d.Policy.String() + " no longer sends it here"
}

// otherVersion says that a unit shows another version than that of the source, which sends an object where this one does not; empty if it
// does not.
func otherVersion(t *table, r object.Ref) string {
	n := t.units[r]
	if n == 0 {
		return ""
	}
	switch is := &t.staged[n-1]; {
	case is.IsBack:
		return is.Unit.String() + " goes back to a version that does not send it here"
	case !is.Target.Is(is.Source):
		return "the version to which " + is.Unit.String() + " goes does not send it here"
	}
	return ""
}
