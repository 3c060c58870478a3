// Package guard says which clusters are to be held: those whose new tree would take away
// too much, or something protected, or what somebody else edited; and what allows it all the
// same. It changes nothing; the roll-out asks it.
package guard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// ProtectedLabel with the value Always keeps a template from being deleted (Karmada
// section A.16): what has it does not leave a cluster because it left the source, unless
// that is allowed. It may move.
const ProtectedLabel = "resourcetemplate.karmada.io/deletion-protected"

// Hold says why a cluster's new tree may not be published.
type Hold struct {
	Reason   string    `json:"reason"`
	Removals []Removal `json:"removals,omitempty"`

	isEdited bool // it is held whatever it would lose
}

// Removal is an object that a cluster would lose.
type Removal struct {
	Object object.Ref `json:"object"`
	Cause  string     `json:"cause"`
}

// Guard judges trees.
type Guard struct {
	Rules render.Guard
	// HoldReason says why it is not known what clusters should hold, so that nothing may
	// change; empty where it is known.
	HoldReason string
	// ContentUnknown reports that what is missing from the source, be it an object or the policy
	// that placed one, may be in what cannot be rendered.
	ContentUnknown bool
	// InSource reports whether the source still has an object.
	InSource func(object.Ref) bool
	// Nowhere reports that the plan sends an object to no cluster.
	Nowhere func(object.Ref) bool
	// Moved reports that an object leaves a cluster because that failed: nobody is asked.
	Moved func(r object.Ref, cluster string) bool
	// Approved reports that somebody allowed that an object leaves a cluster; nil: nobody did.
	Approved func(r object.Ref, cluster string) bool
	// Cause says why an object leaves a cluster.
	Cause func(r object.Ref, cluster string) string

	seen map[[2]files.ID]*tree.Lost // clusters that go from one tree to another alike
}

// Next is what a cluster is to hold next.
type Next struct {
	Cluster string
	Tree    *files.Folder
	Objects int   // manifests in it
	Err     error // why it cannot be told
	// Flux is how Flux syncs the cluster, and what is published.
	Flux tree.Flux
	// Virtual says what templates call the objects of a virtual cluster; nil for another.
	Virtual *virtual.Mapping
}

const unreadable = "what the branch holds cannot be read: "

// Judge returns why a cluster's tree may not be published; nil if it may.
func (g *Guard) Judge(n Next) *Hold {
	if n.Err != nil {
		return &Hold{Reason: unreadable + n.Err.Error()}
	}
	held := g.judge(n)
	reason, err := n.Flux.Handover(n.Tree)
	switch {
	case err != nil:
		reason = unreadable + err.Error()
	case reason == "":
		return held
	}
	if held == nil {
		return &Hold{Reason: reason}
	}
	return &Hold{Reason: held.Reason + "; and " + reason, Removals: held.Removals, isEdited: held.isEdited}
}

func (g *Guard) judge(n Next) *Hold {
	p := n.Flux.Before
	if p.Built == nil && len(p.Foreign) > 0 {
		return &Hold{Reason: "the branch exists and was not written by Waybill"}
	}
	if !p.Edited && (p.Built == nil || p.Built.ID() == n.Tree.ID()) {
		return nil
	}
	l, err := g.lost(p, n.Tree)
	switch {
	case err != nil && p.Edited:
		l = &tree.Lost{} // it is held for the edit, which may be anything
	case err != nil:
		return &Hold{Reason: unreadable + err.Error()}
	}
	if n.Virtual != nil {
		l = &tree.Lost{Refs: templates(n.Virtual, l.Refs), Labelled: templates(n.Virtual, l.Labelled), Before: l.Before}
	}
	reason := cmp.Or(g.reason(g.judged(l, n.Cluster), n), g.HoldReason)
	if p.Edited { // which is said in the same words whatever it would lose, for they are recorded
		reason = "somebody else edited files of the branch" + p.Edit + "; publishing would undo that"
	}
	if reason == "" {
		return nil
	}
	h := &Hold{Reason: reason, isEdited: p.Edited}
	for _, r := range l.Refs {
		h.Removals = append(h.Removals, Removal{Object: r, Cause: g.Cause(r, n.Cluster)})
	}
	return h
}

func templates(m *virtual.Mapping, refs []object.Ref) []object.Ref {
	all := make([]object.Ref, len(refs))
	for i, r := range refs {
		all[i] = m.Template(r)
	}
	return all
}

// judged leaves of what a cluster would lose what counts.
func (g *Guard) judged(l *tree.Lost, cluster string) *tree.Lost {
	moved := func(r object.Ref) bool {
		return g.Moved != nil && g.Moved(r, cluster) || g.Approved != nil && g.Approved(r, cluster)
	}
	if !slices.ContainsFunc(l.Refs, moved) {
		return l
	}
	return &tree.Lost{
		Refs: slices.DeleteFunc(slices.Clone(l.Refs), moved), Labelled: slices.DeleteFunc(slices.Clone(l.Labelled), moved), Before: l.Before,
	}
}

// reason applies the rules; "" means that what is lost is within them.
func (g *Guard) reason(l *tree.Lost, n Next) string {
	deleted := slices.IndexFunc(l.Labelled, func(r object.Ref) bool { return !g.InSource(r) })
	switch lost := len(l.Refs); {
	case lost == 0:
		return ""
	case g.HoldReason != "":
		return g.HoldReason
	case g.ContentUnknown:
		return fmt.Sprintf("it would lose %d of %s while part of the source cannot be rendered", lost, words.Count(l.Before, "object"))
	case n.Objects == 0, lost == l.Before, len(tree.Namespaces(n.Tree)) == n.Objects && slices.ContainsFunc(l.Refs, g.Nowhere):
		return all(lost, l.Before)
	case deleted >= 0:
		return fmt.Sprintf("it would lose %s, which has the label %s: Always", l.Labelled[deleted], ProtectedLabel)
	}
	return Exceeded(g.Rules, l.Refs, l.Before)
}

// Exceeded says why a cluster that holds so many objects may not lose some of them by the
// rules; empty if it may.
func Exceeded(rules render.Guard, lost []object.Ref, of int) string {
	limit := max(rules.MaxRemoved, of*rules.MaxRemovedPercent/100)
	isProtected := slices.IndexFunc(lost, func(r object.Ref) bool { return slices.Contains(rules.Protect, r.Kind) })
	switch n := len(lost); {
	case n == 0:
		return ""
	case n == of:
		return all(n, of)
	case isProtected >= 0:
		return fmt.Sprintf("it would lose %s, of a protected kind", lost[isProtected])
	case n > limit:
		return fmt.Sprintf("it would lose %d of %s; the guard allows %d", n, words.Count(of, "object"), limit)
	}
	return ""
}

func all(lost, of int) string {
	return fmt.Sprintf("it would lose all it holds, %d of %s", lost, words.Count(of, "object"))
}

// lost tells what a cluster would lose; of clusters that are alike, once.
func (g *Guard) lost(p tree.Published, next *files.Folder) (*tree.Lost, error) {
	key := [2]files.ID{p.Built.ID(), next.ID()}
	if l, ok := g.seen[key]; ok {
		return l, nil
	}
	l, err := p.Lost(next, ProtectedLabel, "Always")
	if err != nil {
		return nil, err
	}
	if g.seen == nil {
		g.seen = map[[2]files.ID]*tree.Lost{}
	}
	g.seen[key] = l
	return l, nil
}
