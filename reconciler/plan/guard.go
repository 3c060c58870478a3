package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// AllowTrailer on a source commit releases the held clusters of the plan whose
// removals have the digest it names.
const AllowTrailer = "Waybill-Allow-Prune"

// ProtectedLabel with the value Always keeps a template from being deleted (Karmada
// section A.16): what has it does not leave a cluster because it left the source,
// unless that is allowed. It may move.
const ProtectedLabel = "resourcetemplate.karmada.io/deletion-protected"

// guard holds the clusters whose new tree would do damage (design section 7).
type guard struct {
	rules  render.Guard
	moved  bool                            // what is missing may be in what cannot be rendered
	hides  func(object.Ref, string) bool   // a ref that a cluster had may be in what cannot be read
	unsure string                          // why what is to change is not known; empty: it is
	cause  func(object.Ref, string) string // why a ref leaves a cluster
	stays  func(object.Ref) bool           // the source still has it
	// nowhere says that the plan sends a ref to no cluster.
	nowhere func(object.Ref) bool
	seen    map[[2]files.ID]lost // clusters that go from one tree to another alike
}

// lost is what one tree has and the next has not.
type lost struct {
	refs   []object.Ref
	kept   []object.Ref // of these, those with ProtectedLabel
	before int
	err    error
}

// judge returns why c may not be published over its head; nil if it may.
func (g *guard) judge(c *Cluster, p tree.Published) *Hold {
	if p.Built == nil && len(p.Foreign) > 0 {
		return &Hold{Reason: "the branch exists and was not written by Waybill"}
	}
	if p.Edited {
		return &Hold{Reason: "somebody else edited files of the branch; publishing would undo that"}
	}
	if p.Built == nil || p.Built.ID() == c.Tree.ID() {
		return nil
	}
	l := g.lost(p, c.Tree)
	if l.err != nil {
		return &Hold{Reason: "what the branch holds cannot be read: " + l.err.Error()}
	}
	reason := g.reason(l, c)
	if reason == "" {
		reason = g.unsure
	}
	if reason == "" {
		return nil
	}
	h := &Hold{Reason: reason}
	for _, r := range l.refs {
		h.Removals = append(h.Removals, Removal{Object: r, Cause: g.cause(r, c.Name)})
	}
	return h
}

// reason applies the rules; "" means that the removals are within them.
func (g *guard) reason(l lost, c *Cluster) string {
	limit := max(g.rules.MaxRemoved, l.before*g.rules.MaxRemovedPercent/100)
	protected := slices.IndexFunc(l.refs, func(r object.Ref) bool { return slices.Contains(g.rules.Protect, r.Kind) })
	deleted := slices.IndexFunc(l.kept, func(r object.Ref) bool { return !g.stays(r) })
	switch n := len(l.refs); {
	case n == 0:
		return ""
	case g.unsure != "":
		return g.unsure
	case g.moved && slices.ContainsFunc(l.refs, func(r object.Ref) bool { return !g.stays(r) }),
		slices.ContainsFunc(l.refs, func(r object.Ref) bool { return g.hides(r, c.Name) }):
		return fmt.Sprintf("it would lose %d of %d objects while part of the source cannot be read or rendered", n, l.before)
	case c.Objects == 0, n == l.before, onlyNamespaces(c) && slices.ContainsFunc(l.refs, g.nowhere):
		return fmt.Sprintf("it would lose all it holds, %d of %d objects", n, l.before)
	case deleted >= 0:
		return fmt.Sprintf("it would lose %s, which has the label %s: Always", l.kept[deleted], ProtectedLabel)
	case protected >= 0:
		return fmt.Sprintf("it would lose %s, of a protected kind", l.refs[protected])
	case n > limit:
		return fmt.Sprintf("it would lose %d of %d objects; the guard allows %d", n, l.before, limit)
	}
	return ""
}

// nowhere reports whether the plan sends an object to no cluster.
func (b *builder) nowhere(r object.Ref) bool {
	t := b.byRef[r]
	return t == nil || len(t.decision.Targets) == 0
}

// onlyNamespaces reports a cluster that is left with Namespaces and nothing in them.
func onlyNamespaces(c *Cluster) bool {
	dir, _ := c.Tree.Lookup(tree.NamespaceDir)
	return dir.Dir != nil && len(dir.Dir.Entries()) == c.Objects
}

// lost lists the objects that a published tree has and the next has not.
func (g *guard) lost(p tree.Published, next *files.Folder) lost {
	key := [2]files.ID{p.Built.ID(), next.ID()}
	if l, ok := g.seen[key]; ok {
		return l
	}
	var l lost
	paths, err := p.Paths()
	l.before, l.err = len(paths), err
	for c := range files.Diff(p.Built, next) {
		if c.New.Name != "" || !strings.HasPrefix(c.Path, tree.ManifestDir+"/") {
			continue
		}
		r, kept, err := refOf(c.Path, c.Old.Blob)
		if err != nil {
			l.err = err
		}
		l.refs = append(l.refs, r)
		if kept {
			l.kept = append(l.kept, r)
		}
	}
	slices.SortFunc(l.refs, object.Ref.Compare)
	g.seen[key] = l
	return l
}

// refOf reads the ref of a published manifest, and whether it has ProtectedLabel.
func refOf(path string, b *files.Blob) (r object.Ref, protected bool, err error) {
	data, err := b.Bytes()
	if err != nil {
		return object.Ref{}, false, fmt.Errorf("reading %s: %w", path, err)
	}
	if bytes.Contains(data, []byte(ProtectedLabel)) {
		protected = slices.ContainsFunc(object.Decode(path, data).Objects, func(o *object.Object) bool { return o.Labels()[ProtectedLabel] == "Always" })
	}
	r, err = object.RefOf(path, data)
	return r, protected, err //nolint:wrapcheck // it names the file
}

// removals digests what held clusters would lose. It does not depend on the source
// commit, so that a later commit can allow it by name.
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

// release lifts the holds that the input or the source commit allows, and reports
// the others. It reports whether it lifted any.
func (b *builder) release() (allowed bool) {
	b.plan.Removals = removals(b.plan.Clusters)
	if b.plan.Removals == "" {
		return false
	}
	allow := b.in.Allow == AllowAll || b.in.Allow == b.plan.Removals || slices.Contains(trailers(b.in.Source.Revision.Message, AllowTrailer), b.plan.Removals)
	for i := range b.plan.Clusters {
		c := &b.plan.Clusters[i]
		if c.Held == nil || b.in.Held[c.Name] != "" {
			continue
		}
		d := diag.Diagnostic{
			Code: "held", Severity: diag.Error,
			Message: fmt.Sprintf("cluster %s is held: %s%s", c.Name, c.Held.Reason, examples(c.Held.Removals)),
			Hint:    fmt.Sprintf("to let it happen, put the trailer %q on a commit, or publish with --allow-prune", AllowTrailer+": "+b.plan.Removals),
		}
		if allow {
			c.Held, allowed = nil, true
			d.Severity, d.Code = diag.Warning, "released"
			d.Message = strings.Replace(d.Message, "is held", "was held and is released", 1)
			d.Hint = ""
		}
		b.plan.Diags = append(b.plan.Diags, d)
	}
	if allow {
		b.plan.Removals = ""
	}
	return allowed
}

// examples prints the first removals with their causes.
func examples(rs []Removal) string {
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

// trailers returns the values of a trailer in the last paragraph of a commit
// message, as git interpret-trailers reads it.
func trailers(message, key string) []string {
	message = strings.TrimRight(message, "\n")
	if i := strings.LastIndex(message, "\n\n"); i >= 0 {
		message = message[i+2:]
	}
	var values []string
	for line := range strings.Lines(message) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// causes explains removals from what was decided.
func (b *builder) cause(r object.Ref, cluster string) string {
	i, ok := slices.BinarySearchFunc(b.plan.Decisions, r, func(d Decision, r object.Ref) int { return d.Template.Ref().Compare(r) })
	if !ok {
		return b.releases.cause(r, cluster)
	}
	switch d := b.plan.Decisions[i]; {
	case r.Kind == "Namespace" && r.Group == "" && d.Outcome == Unclaimed && b.plan.Config.Namespaces == render.NamespacesNone:
		return render.ConfigFile + " says namespaces: none, and no policy sends it"
	case d.Outcome == Unclaimed:
		return "no policy selects it any more"
	case d.Outcome == Skipped:
		return d.Message
	case len(d.Targets) == 0:
		return "it fits no cluster: " + d.Message
	case slices.ContainsFunc(d.Targets, func(t target) bool { return t.Name == cluster }):
		return "it could not be written for this cluster"
	default:
		return cmp.Or(policyName(d.Policy), "what needs it") + " no longer sends it here"
	}
}
