package compare

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Twins are the plans of the same two versions with other values of Secrets, and with other draws. What differs
// between a plan and its twin depends on these, whatever a template made of them, and is not shown. That
// something is there at all, and how often, is.
type Twins struct{ Base, Head *plan.Plan }

// side is one of two plans with its twin, which is nil where nothing depends on secrets.
type side struct {
	plan, twin *plan.Plan
	refs       map[object.Ref]bool // of the twin; nil until they are asked
}

// hiddenName stands for the name of an object that depends on secrets.
const hiddenName = "(not shown)"

// named is an object as it may be called: what a release renders, by a name that a twin has, too.
func (c *comparer) named(r object.Ref) object.Ref {
	if c.before.twin == nil || c.before.has(r) || c.after.has(r) || !c.base.OfRelease(r) && !c.head.OfRelease(r) {
		return r
	}
	return object.Ref{Group: r.Group, Kind: r.Kind, Name: hiddenName}
}

// has reports an object that the twin has, too.
func (s *side) has(r object.Ref) bool {
	if s.refs == nil {
		s.refs = map[object.Ref]bool{}
		for i := range s.twin.Decisions {
			s.refs[s.twin.Decisions[i].Ref()] = true
		}
		for i := range s.twin.Clusters {
			for _, b := range s.twin.Bound(s.twin.Clusters[i].Name) {
				s.refs[b.Object.Ref()] = true
			}
		}
	}
	return s.refs[r]
}

func lookup(root *files.Folder, path string) *files.Blob {
	if root == nil {
		return nil
	}
	e, _ := root.Lookup(path)
	return e.Blob
}

// veiled is a manifest of a cluster without what depends on secrets. What a release rendered and stays as it was
// published, in the plan or in its twin, was made of secrets that the plan does not know.
func (s *side) veiled(cluster string, r object.Ref, path string, b *files.Blob) (map[string]any, error) {
	content, err := contentOf(path, b)
	if err != nil {
		return nil, err
	}
	if s.stays(cluster, r, path, b) && s.plan.OfRelease(r) {
		return fields.VeilAll(content), nil
	}
	if s.twin == nil {
		return content, nil
	}
	other := lookup(treeOf(s.twin, cluster), path)
	if other == nil {
		return fields.VeilAll(content), nil
	}
	twin, err := contentOf(path, other)
	if err != nil {
		return nil, err
	}
	return fields.Veil(content, twin), nil
}

// stays reports a manifest that is as it was published because nothing else can be carried out.
func (s *side) stays(cluster string, r object.Ref, path string, b *files.Blob) bool {
	if s.plan.LeftAt(r, cluster).Kept || s.twin != nil && s.twin.LeftAt(r, cluster).Kept {
		return true
	}
	built := lookup(treeOf(s.plan, cluster), path)
	return built == nil || built.ID() != b.ID()
}

func treeOf(p *plan.Plan, cluster string) *files.Folder {
	i := slices.IndexFunc(p.Clusters, func(c plan.Cluster) bool { return c.Name == cluster })
	if i < 0 {
		return nil
	}
	return p.Clusters[i].Tree
}

// replicas is how many replicas a manifest has; false if its kind has none, if there is no manifest, and if the
// number depends on secrets.
func (s *side) replicas(cluster, path string, b *files.Blob) (int32, bool) {
	if b == nil {
		return 0, false
	}
	n, known := s.plan.Replicas(b)
	if s.twin == nil || !known {
		return n, known
	}
	other := lookup(treeOf(s.twin, cluster), path)
	if other == nil {
		return 0, false
	}
	if m, _ := s.twin.Replicas(other); m != n {
		return 0, false
	}
	return n, true
}

// said are what is wrong with the source, without what depends on secrets.
func (s *side) said() []diag.Diagnostic {
	if s.twin == nil {
		return s.plan.Diags
	}
	all := slices.Clone(s.plan.Diags)
	for i, d := range all {
		if !slices.Contains(s.twin.Diags, d) {
			all[i].Message, all[i].Hint = "what this says depends on the value of a Secret or on a draw, and is not shown", "waybill validate says it to who may read both"
		}
	}
	return all
}

// removals are what would go of a cluster, as it may be called, because of what the twin has, too.
func (c *comparer) removals(cluster string, all []guard.Removal) []guard.Removal {
	all = slices.Clone(all)
	held := c.after.twinHeld(cluster)
	for i, r := range all {
		if name := c.named(r.Object); name != r.Object {
			all[i] = guard.Removal{Object: name, Cause: "its name depends on a Secret or on a draw"}
		} else if c.after.twin != nil && (held == nil || !slices.Contains(held.Removals, r)) {
			all[i].Cause = hiddenCause
		}
	}
	return all
}

// twinHeld is why the twin holds a cluster; nil if it does not.
func (s *side) twinHeld(cluster string) *guard.Hold {
	if s.twin == nil {
		return nil
	}
	i := slices.IndexFunc(s.twin.Clusters, func(c plan.Cluster) bool { return c.Name == cluster })
	if i < 0 {
		return nil
	}
	return s.twin.Clusters[i].Held
}

// reason is why a cluster of the head is held, which may name what it would lose; empty if it is not. Where the twin holds
// nothing, because names of the two differ, it is said of clusters that lose nothing of such a name.
func (c *comparer) reason(cluster *plan.Cluster) string {
	why := heldOf(cluster)
	if why == "" || c.after.twin == nil {
		return why
	}
	held := c.after.twinHeld(cluster.Name)
	hidden := held != nil && held.Reason != why ||
		held == nil && slices.ContainsFunc(cluster.Held.Removals, func(r guard.Removal) bool { return c.named(r.Object) != r.Object })
	if hidden {
		return "it would lose " + hiddenCause
	}
	return why
}
