// Package manifest writes out what was decided: for each object a row, which says in which
// clusters it should be and, by its number, the file that it should be there.
//
// For one template, clusters with the same replicas, the same matching override rules and,
// of a Secret, the same recipients form a class. A manifest is overridden, encoded and
// hashed once a class, not once a cluster; a wanted manifest costs eight bytes. What cannot
// be written, and what may not be sent now, has a Block: rollout decides what becomes of
// it.
package manifest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/law"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/template"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Block is why what is wanted of an object in a cluster cannot be carried out now.
type Block string

// The blocks that are known before anything is laid out.
const (
	Suspended   Block = "dispatching is suspended"
	Failed      Block = "an override fails"
	NotRendered Block = "its release cannot be rendered"
	NotRead     Block = "it cannot be told what it should be"
	ClustersOwn Block = "each cluster has its own, and removed from the branch it would be removed there"
)

// Want is the manifest that a cluster should hold, by the cluster's index in the fleet and
// the number of the blob.
type Want struct{ Cluster, Blob int32 }

// Unwritten is the number of a blob that is not known, because something blocks it.
const Unwritten = -1

// Row is what is wanted of one object.
type Row struct {
	Ref   object.Ref
	Wants []Want // in the order of clusters
	// Blocks are the clusters in which what is wanted, be it nothing, cannot be carried
	// out now.
	Blocks map[int32]Block
}

// Input is what there is to write out.
type Input struct {
	Law       *law.Law
	Decisions []claim.Decision // in the order of refs
	Bound     map[string][]*object.Object
	Failures  []expand.Failure
	Config    render.ConfigSpec
	// OnBranch reports manifests for a branch, which everybody may see who can read it.
	OnBranch bool
	Random   flux.Random // what seals are keyed with
	Before   Before
	Memo     *Memo
}

// Before is what was published last.
type Before struct {
	// Had tells the clusters, by index, that had an object.
	Had func(object.Ref) func(cluster int) bool
	// Sent reports whether a policy sent an object to a cluster.
	Sent func(r object.Ref, cluster string) bool
	// Own lists, by the cluster's index, the Namespaces on its branch that every cluster has
	// of its own.
	Own func(cluster int) []object.Ref
}

// Result is what should be.
type Result struct {
	Rows  []Row // in the order of refs: of every template, and of what else is wanted
	Blobs Blobs
	Keyed bool // a seal is keyed with the random key
	Diags []diag.Diagnostic
}

// Blobs numbers the files of a plan.
type Blobs struct {
	list []*files.Blob
	ids  map[files.ID]int32
}

// Add returns the number of a blob; equal blobs have one.
func (b *Blobs) Add(blob *files.Blob) int32 {
	if i, ok := b.ids[blob.ID()]; ok {
		return i
	}
	if b.ids == nil {
		b.ids = map[files.ID]int32{}
	}
	i := int32(len(b.list)) //nolint:gosec // a plan has far fewer blobs
	b.list, b.ids[blob.ID()] = append(b.list, blob), i
	return i
}

// At returns the blob of a number.
func (b *Blobs) At(i int32) *files.Blob { return b.list[i] }

// Len returns how many blobs there are.
func (b *Blobs) Len() int { return len(b.list) }

// Write writes decisions out.
func Write(in Input) Result {
	w := newWriter(&in)
	var namespaces []*claim.Decision
	for i := range in.Decisions {
		d := &in.Decisions[i]
		if r := d.Ref(); r.Kind == "Namespace" && r.Group == "" {
			namespaces = append(namespaces, d)
		} else if !d.Template.IsRelease() {
			w.decision(d, d.Targets)
		}
	}
	w.quotas()
	w.bound()
	w.failures()
	used := w.usedNamespaces()
	for _, d := range namespaces {
		w.decision(d, w.namespaceTargets(d, used[d.Ref().Name]))
	}
	w.keepClustersOwn()
	return w.finish()
}

// writer collects rows.
type writer struct {
	in    *Input
	rows  []Row
	byRef map[object.Ref]int
	blobs Blobs
	paths map[string]object.Ref // what has a path on branches
	// firsts are the manifests that were made first of each template.
	firsts  map[*template.Template]*files.Blob
	encoder object.Encoder
	seals   sealer
	keyed   bool // a seal is
	diags   []diag.Diagnostic
}

func newWriter(in *Input) *writer {
	w := &writer{in: in, byRef: map[object.Ref]int{}, paths: map[string]object.Ref{}, firsts: map[*template.Template]*files.Blob{}}
	w.rows = make([]Row, 0, len(in.Decisions))
	w.seals = w.newSealer()
	return w
}

func (w *writer) report(ds ...diag.Diagnostic) { w.diags = append(w.diags, ds...) }

// row returns the row of an object; it is valid until the next row is made.
func (w *writer) row(r object.Ref) *Row {
	i, ok := w.byRef[r]
	if !ok {
		i = len(w.rows)
		w.byRef[r] = i
		w.rows = append(w.rows, Row{Ref: r})
	}
	return &w.rows[i]
}

// want notes that a cluster should hold a blob.
func (r *Row) want(cluster int, blob int32) {
	r.Wants = append(r.Wants, Want{int32(cluster), blob}) //nolint:gosec // a fleet has far fewer clusters
}

// block notes that something is in the way in a cluster; what was first counts.
func (r *Row) block(cluster int, why Block) {
	i := int32(cluster) //nolint:gosec // a fleet has far fewer clusters
	if r.Blocks == nil {
		r.Blocks = map[int32]Block{}
	}
	if _, ok := r.Blocks[i]; !ok {
		r.Blocks[i] = why
	}
}

// wants reports whether something is wanted in a cluster, before wants are in order.
func (r *Row) wants(cluster int) bool {
	return slices.ContainsFunc(r.Wants, func(w Want) bool { return int(w.Cluster) == cluster })
}

// Wanted returns what is wanted in a cluster; false for nothing.
func (r *Row) Wanted(cluster int) (Want, bool) {
	i, ok := slices.BinarySearchFunc(r.Wants, cluster, func(w Want, c int) int { return int(w.Cluster) - c })
	if !ok {
		return Want{}, false
	}
	return r.Wants[i], true
}

// finish puts rows and wants in order.
func (w *writer) finish() Result {
	byCluster := func(a, b Want) int { return int(a.Cluster - b.Cluster) }
	for i := range w.rows {
		if !slices.IsSortedFunc(w.rows[i].Wants, byCluster) {
			slices.SortFunc(w.rows[i].Wants, byCluster)
		}
	}
	slices.SortFunc(w.rows, func(a, b Row) int { return a.Ref.Compare(b.Ref) })
	return Result{Rows: w.rows, Blobs: w.blobs, Keyed: w.keyed, Diags: w.diags}
}

// decision writes a template for each of its targets, encoding it once a class.
func (w *writer) decision(d *claim.Decision, targets []claim.Target) {
	row := w.row(d.Ref())
	if len(targets) == 0 || !w.claimPath(d.Template.Object) {
		return
	}
	t, rules, shares := d.Template, w.in.Law.Overrides.Rules(d.Template.Subject), completions(d)
	rules.Claimed = d.Policy != nil
	classes := classes{encode: func(k class, v template.Variant) *result { return w.encode(d, v, k, rules) }, known: map[class]*result{}}
	matching, find := w.in.Law.Matching(rules.List), w.in.Law.Finder()
	row.Wants = slices.Grow(row.Wants, len(targets))
	var suspended []string
	for _, c := range targets {
		i, ok := find(c.Name)
		if !ok {
			continue
		}
		v := t.In(c.Name)
		if why := blocked(d, v, c.Name); why != "" {
			row.want(i, Unwritten)
			if row.block(i, why); why == Suspended {
				suspended = append(suspended, c.Name)
			}
			continue
		}
		k := class{variant: t.Number(c.Name), replicas: c.Replicas, completions: shareOf(shares, c.Name), rules: matching[i]}
		if isSecret(v.Object) {
			k.recipients = w.seals.recipients[i]
		}
		r := classes.result(k, *v)
		row.want(i, r.blob)
		if r.err != nil {
			row.block(i, Failed)
			r.clusters = append(r.clusters, c.Name)
		}
	}
	if slices.ContainsFunc(row.Wants, func(want Want) bool { return want.Blob != Unwritten }) {
		w.sayLeftOut(t.Object)
	}
	w.say(d, suspended, classes.failed)
}

func (w *writer) sayLeftOut(o *object.Object) {
	if d := interpret.LeftOut(o); d != nil {
		w.report(*d)
	}
}

// blocked says why a template is not written out for a cluster; empty if it is.
func blocked(d *claim.Decision, v *template.Variant, cluster string) Block {
	switch {
	case d.Outcome == claim.Kept:
		return NotRead
	case v == nil:
		return NotRendered
	case d.Suspended(cluster):
		return Suspended
	}
	return ""
}

// say reports the clusters where a template is held back and where it fails.
func (w *writer) say(d *claim.Decision, suspended []string, failed []*result) {
	if len(suspended) > 0 {
		w.report(diag.Diagnostic{
			Code: diag.Suspended, Severity: diag.Notice, Pos: d.Policy.Object.FieldPos([]any{"spec", "suspension"}),
			Message: fmt.Sprintf("%s suspends dispatching %s to %s; there it stays as it was last published", d.Policy, d.Ref(), words.List(suspended)),
		})
	}
	for _, r := range failed {
		r.err.Message += " (clusters " + words.List(r.clusters) + ")"
		w.report(*r.err)
	}
}

// failures blocks what a release rendered to before where it cannot be rendered now: that
// is not known to be gone. In the clusters that such a release goes
// to, it is wanted. What somebody else sends now is not the release's any longer.
func (w *writer) failures() {
	for _, f := range w.in.Failures {
		for _, r := range f.Objects {
			if d := claim.Find(w.in.Decisions, r); d != nil && (d.Template.Part == nil || r.Kind == "Namespace") {
				continue
			}
			row := w.row(r)
			for i, c := range w.in.Law.Fleet.Clusters() {
				if !f.In(c.Name) || row.wants(i) {
					continue
				}
				if row.block(i, NotRendered); f.Targets[c.Name] {
					row.want(i, Unwritten)
				}
			}
		}
	}
}

// bound writes what stands in clusters' own directories. No policy and no override touches
// it.
func (w *writer) bound() {
	taken := w.takenPaths()
	for _, cluster := range slices.Sorted(maps.Keys(w.in.Bound)) {
		i, ok := w.in.Law.Index(cluster)
		if !ok || len(w.in.Bound[cluster]) == 0 {
			continue
		}
		have := taken[int32(i)] //nolint:gosec // an index
		for _, o := range w.in.Bound[cluster] {
			if own := match.Own(o); own != nil {
				w.report(*own)
				continue
			}
			if other, taken := have[tree.Path(o.Ref())]; taken {
				w.report(twice(cluster, o, other))
				continue
			}
			have[tree.Path(o.Ref())] = o.Ref()
			d := claim.Decision{Template: &template.Template{Variant: template.Variant{Object: o, Content: o.Content()}}}
			r := w.encode(&d, d.Template.Variant, class{completions: -1, recipients: w.seals.recipients[i]}, noRules)
			row := w.row(o.Ref())
			if row.want(i, r.blob); r.err == nil {
				w.sayLeftOut(o)
				continue
			}
			row.block(i, Failed)
			w.report(*r.err)
		}
	}
}

// takenPaths returns what clusters with a directory of their own are to hold so far, by the
// cluster's index and path.
func (w *writer) takenPaths() map[int32]map[string]object.Ref {
	have := map[int32]map[string]object.Ref{}
	for cluster, objs := range w.in.Bound {
		if i, ok := w.in.Law.Index(cluster); ok && len(objs) > 0 {
			have[int32(i)] = map[string]object.Ref{} //nolint:gosec // an index
		}
	}
	if len(have) == 0 {
		return nil
	}
	for n := range w.rows {
		path := tree.Path(w.rows[n].Ref)
		for _, want := range w.rows[n].Wants {
			if in := have[want.Cluster]; in != nil {
				in[path] = w.rows[n].Ref
			}
		}
	}
	return have
}

// claimPath reports false if another template has the path that o's manifest would have,
// which only kinds that differ in nothing but case can.
func (w *writer) claimPath(o *object.Object) bool {
	path := tree.Path(o.Ref())
	if other, taken := w.paths[path]; taken && other != o.Ref() {
		w.report(samePath(o, other))
		return false
	}
	w.paths[path] = o.Ref()
	return true
}

func samePath(o *object.Object, other object.Ref) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.SamePath, Severity: diag.Error, Pos: o.Pos(),
		Message: fmt.Sprintf("%s and %s would be one file on a branch (%s); the second is left out", other, o.Ref(), tree.Path(o.Ref())),
		Hint:    "rename one of them",
	}
}

// twice says that what a cluster's own directory has is in the cluster already.
func twice(cluster string, o *object.Object, other object.Ref) diag.Diagnostic {
	if other != o.Ref() {
		return samePath(o, other)
	}
	return diag.Diagnostic{
		Code: diag.DuplicateObject, Severity: diag.Error, Pos: o.Pos(),
		Message: fmt.Sprintf("cluster %s would receive %s twice: from its own directory and by a policy; the policy's is used", cluster, o.Ref()),
		Hint:    "remove one of them, or exclude the cluster from the policy",
	}
}
