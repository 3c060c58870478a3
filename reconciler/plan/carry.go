package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/plan/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/words"
)

// AllowTrailer on a source commit releases the held clusters of the plan whose removals
// have the digest it names.
const AllowTrailer = "Waybill-Allow-Prune"

// carryOut settles what is carried out of what is wanted.
func (t *table) carryOut() carried {
	if t.in.Replay != nil {
		return t.replay()
	}
	out := t.guarded()
	switch digest := removals(out.clusters); {
	case digest == "":
	case Allows(t.in.Allow, t.in.Source.Revision, digest):
		out = carried{allowed: true, diags: heldDiags(out.clusters, releasedDiag)}
		out.result = rollout.Resolve(t, func(left rollout.Remaining) []int {
			t.layOut(left)
			return nil
		})
		out.clusters = t.clusters()
	default:
		out.removals = digest
		out.diags = heldDiags(out.clusters, func(c Cluster) diag.Diagnostic { return heldDiag(c, digest) })
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
				if c.Held = t.judge(g, i, c); c.Held != nil {
					held = append(held, i)
				}
			}
		}
		if out.clusters = clusters; t.in.Allow == AllowAll {
			return nil
		}
		return held
	})
	return out
}

func (t *table) guard() *guard.Guard {
	x := t.in.Expanded
	return &guard.Guard{
		Rules: t.in.Source.Config.Guard, Unsure: cmp.Or(t.in.Doubt.Unsure, x.Unknown), Astray: x.Astray,
		InSource: func(r object.Ref) bool { return t.decided.Find(r) != nil }, Cause: t.cause,
		Nowhere: func(r object.Ref) bool { d := t.decided.Find(r); return d == nil || len(d.Targets) == 0 },
	}
}

// removals digests what held clusters would lose. It does not depend on the source commit,
// so that a later commit can allow it by name.
func removals(clusters []Cluster) string {
	h := sha256.New()
	held := false
	for _, c := range clusters {
		if c.Held == nil {
			continue
		}
		held = true
		fmt.Fprintf(h, "%s %s\n", c.Name, c.Tree.ID())
		for _, r := range c.Held.Removals {
			fmt.Fprintf(h, "%s\n", r.Object)
		}
	}
	if !held {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Allows reports whether removals with a digest are allowed, by allow, which is a digest or
// AllowAll, or by the source commit.
func Allows(allow string, source sources.Revision, digest string) bool {
	return allow == AllowAll || allow == digest || slices.Contains(sources.Trailers(source.Message, AllowTrailer), digest)
}

// heldDiags says something of each cluster that is held.
func heldDiags(clusters []Cluster, say func(Cluster) diag.Diagnostic) (diags []diag.Diagnostic) {
	for _, c := range clusters {
		if c.Held != nil {
			diags = append(diags, say(c))
		}
	}
	return diags
}

// releasedDiag reports a cluster that was held, and whose removals are allowed.
func releasedDiag(c Cluster) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.Released, Severity: diag.Warning,
		Message: fmt.Sprintf("cluster %s was held and is released: %s%s", c.Name, c.Held.Reason, examples(c.Held.Removals)),
	}
}

// heldDiag reports a cluster that is held.
func heldDiag(c Cluster, digest string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.Held, Severity: diag.Error,
		Message: fmt.Sprintf("cluster %s is held: %s%s", c.Name, c.Held.Reason, examples(c.Held.Removals)),
		Hint:    fmt.Sprintf("to let it happen, put the trailer %q on a commit, or publish with --allow-prune", AllowTrailer+": "+digest),
	}
}

// examples prints the first removals with their causes.
func examples(rs []guard.Removal) string {
	const most = 3
	var parts []string
	for _, r := range rs[:min(most, len(rs))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", r.Object, r.Cause))
	}
	if len(rs) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(rs)-most))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// waits reports what stays as it is in every cluster, until all of it can be carried out.
func (t *table) waits(r *rollout.Result) (diags []diag.Diagnostic) {
	var forHeld []string
	for _, i := range slices.Sorted(maps.Keys(r.Frozen)) {
		ref := t.rows[i].Ref
		blocked := map[rollout.Reason][]string{}
		for _, cluster := range slices.Sorted(maps.Keys(r.Left[i])) {
			if l := r.Left[i][cluster]; l.Reason != r.Frozen[i] {
				blocked[l.Reason] = append(blocked[l.Reason], t.cluster(cluster))
			}
		}
		if len(blocked[rollout.Held]) > 0 {
			forHeld = append(forHeld, ref.String())
			continue
		}
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(blocked)) {
			why = append(why, fmt.Sprintf("%s in %s", reason, words.List(blocked[reason])))
		}
		d := diag.Diagnostic{
			Code: diag.Waits, Severity: diag.Warning,
			Message: fmt.Sprintf("%s stays as it is in every cluster, because %s: %s", ref, r.Frozen[i], strings.Join(why, "; ")),
			Hint:    fmt.Sprintf("waybill explain %s shows every cluster", ref.Argument()),
		}
		if decision := t.decided.Find(ref); decision != nil {
			d.Pos = decision.Template.Object.Pos()
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
	case d == nil:
		return t.in.Expanded.Cause(t.in.State.Releases, r, cluster)
	case r.Kind == "Namespace" && r.Group == "" && d.Outcome == claim.Unclaimed && t.in.Source.Config.Namespaces == render.NamespacesNone:
		return render.ConfigFile + " says namespaces: none, and no policy sends it"
	case d.Outcome == claim.Unclaimed:
		return "no policy selects it any more"
	case d.Outcome == claim.Skipped:
		return d.Message
	case len(d.Targets) == 0:
		return "it fits no cluster: " + d.Message
	case slices.ContainsFunc(d.Targets, func(c claim.Target) bool { return c.Name == cluster }):
		return "it could not be written for this cluster"
	default:
		return cmp.Or(policyName(d.Policy), "what needs it") + " no longer sends it here"
	}
}

func policyName(p *policies.Propagation) string {
	if p == nil {
		return ""
	}
	return p.String()
}
