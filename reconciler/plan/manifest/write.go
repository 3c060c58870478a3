// Package manifest writes out what was decided: for each object a row, which says in which
// clusters it should be and, by its number, the file that it should be there.
//
// For one template, clusters with the same replicas, the same matching override rules and,
// of a Secret, the same recipients form a class. A manifest is overridden, encoded and
// hashed once a class, not once a cluster; a wanted manifest costs eight bytes. What cannot
// be written, and what may not be sent now, has a block: rollout decides what becomes of
// it.
package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/words"
)

// Write writes decisions out.
func Write(in Input) Result {
	w := newWriter(&in)
	var namespaces []*schedule.Decision
	for i := range in.Decisions {
		d := &in.Decisions[i]
		if r := d.Ref(); r.Kind == "Namespace" && r.Group == "" {
			namespaces = append(namespaces, d)
		} else if d.Template.IsDelivered() {
			w.decision(d, d.Targets)
		}
	}
	w.quotas()
	w.bound()
	w.failures()
	used := UsedNamespaces(w.rows, len(w.in.Policies.Fleet.Clusters()))
	for _, d := range namespaces {
		w.decision(d, w.namespaceTargets(d, used[d.Ref().Name]))
	}
	w.keepClustersOwn()
	return w.finish()
}

// WriteAlone writes decisions out, and what fails to render beside them: nothing of what comes along with them, neither Namespaces
// that something is in, nor quotas, nor what stands in clusters' own directories.
func WriteAlone(in Input) Result {
	w := newWriter(&in)
	for i := range in.Decisions {
		if d := &in.Decisions[i]; d.Template.IsDelivered() {
			w.decision(d, d.Targets)
		}
	}
	w.failures()
	return w.finish()
}

func newWriter(in *Input) *writer {
	w := &writer{in: in, byRef: map[object.Ref]int{}, paths: map[string]object.Ref{}}
	w.site, _ = links.Parse(in.Config.Publish.Links) // which the config was held against
	w.rows = make([]Row, 0, len(in.Decisions))
	w.readRecipients()
	w.readVirtual()
	return w
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

// decision writes a template for each of its targets, once a class.
func (w *writer) decision(d *schedule.Decision, targets []schedule.Target) {
	row := w.row(d.Ref())
	w.leaving(d, row)
	if len(targets) == 0 || !w.claimPath(d.Template.Object) {
		return
	}
	if w.in.Later[d.Ref()] {
		row.later(w.in.Policies, targets)
		return
	}
	clear(w.virtual.bases)
	t, rules, shares := d.Template, w.in.Policies.Overrides.Rules(d.Template.Subject), completions(d)
	rules.Claimed = d.Policy != nil
	classes := classes{
		make:  func(k class, v template.Variant) *result { return w.manifest(d, v, k, rules) },
		known: map[class]*result{}, isUniform: w.virtual.fleet == nil && isUniform(d, shares),
	}
	matching, find := w.in.Policies.Matching(rules.List), w.in.Policies.Finder()
	row.Wants = slices.Grow(row.Wants, len(targets))
	var suspended []string
	var blocks groups.Builder[reason.Reason]
	written := slices.Grow(w.written[:0], len(targets))
	for _, c := range targets {
		i, ok := find(c.Name)
		if !ok {
			continue
		}
		v := t.In(i)
		from := source{v, c.Replicas, matching[i]}
		if is := classes.like(from); is != nil {
			written = append(written, inCluster{i, c.Name, is})
			continue
		}
		if w.virtual.fleet.Wrong(i) {
			row.want(i, Unwritten) // it cannot be told what it is to hold
			continue
		}
		if why := blocked(d, v, c.Name); why != "" {
			row.want(i, Unwritten)
			if blocks.Add(i, why); why == reason.Suspended {
				suspended = append(suspended, c.Name)
			}
			continue
		}
		in := inCluster{cluster: i, name: c.Name}
		in.is = classes.result(classIn(w, d, in, from, shares), *v)
		classes.from = from
		written = append(written, in)
	}
	w.written = written
	w.number(classes.results()...)
	failed, texts := classes.outcome()
	for _, in := range written {
		row.want(in.cluster, in.is.blob)
		if in.is.err != nil {
			blocks.Add(in.cluster, blockOf(in.is.err))
			in.is.clusters = append(in.is.clusters, in.name)
		}
	}
	row.block(blocks.By())
	if slices.ContainsFunc(row.Wants, func(want Want) bool { return want.Blob != Unwritten }) {
		w.sayLeftOut(t.Object)
	}
	w.say(d, suspended, failed)
	w.sayTexts(t.Object, texts)
}

func (w *writer) sayLeftOut(o *object.Object) {
	if d := interpret.LeftOut(o); d != nil {
		w.report(*d)
	}
}

// source is what a manifest in a cluster follows from of most decisions.
type source struct {
	variant  *template.Variant
	replicas int32
	rules    string
}

// isUniform reports a decision whose manifest in a cluster with an API server of its own follows from the variant, the replicas and the
// rules there alone. Shares are its completions.
func isUniform(d *schedule.Decision, shares map[string]int64) bool {
	isOfOthers := len(shares)+len(d.Shares)+len(d.Scaled)+len(d.Backends) > 0 || d.Moves != nil
	return !isOfOthers && (d.Policy == nil || d.Policy.Spec.Suspension == nil) && d.Ref().Kind != "Secret"
}

// classIn is what the manifest of a decision in a cluster depends on.
func classIn(w *writer, d *schedule.Decision, in inCluster, from source, shares map[string]int64) class {
	k := class{variant: d.Template.Number(in.cluster), replicas: from.replicas, completions: shareOf(shares, in.name), rules: from.rules}
	k.preserved, k.virtual = preserved(d, in.name), w.virtual.number(in.cluster)
	k.share, k.scaled, k.backends = d.Shares[in.name], d.Scaled[in.name], d.Backends[in.name].Names
	if seal.Wanted(from.variant.Object) {
		k.recipients = w.recipients[in.cluster]
	}
	return k
}

// blocks are the reasons of what is wrong with a manifest, but for those that just fail.
var blocks = map[diag.Code]reason.Reason{diag.PlainSecret: reason.Plain, diag.Replicas: reason.NotScaled, diag.Unmapped: reason.NotMapped}

// blockOf is what is in the way where a manifest cannot be made.
func blockOf(d *diag.Diagnostic) reason.Reason { return cmp.Or(blocks[d.Code], reason.Failed) }

// blocked says why a template is not written out for a cluster; empty if it is.
func blocked(d *schedule.Decision, v *template.Variant, cluster string) reason.Reason {
	switch {
	case d.Outcome == schedule.Kept:
		return reason.NotRead
	case v == nil:
		return reason.NotRendered
	case d.Suspended(cluster):
		return reason.Suspended
	case d.Backends[cluster].Lacks:
		return reason.NoBackend
	case d.Moves != nil && d.Moves.Gap:
		return reason.NotGone
	}
	return ""
}

// say reports the clusters where a template is held back and where it fails.
func (w *writer) say(d *schedule.Decision, suspended []string, failed []*result) {
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
			if d := schedule.Find(w.in.Decisions, r); d != nil && (d.Template.Part == nil || r.Kind == "Namespace") {
				continue
			}
			row := w.row(r)
			wants, clusters := row.Clusters(), w.in.Policies.Fleet.Clusters()
			fails := groups.Where(len(clusters), func(i int) bool { return f.In(clusters[i].Name) && !wants.Has(i) })
			row.BlockIn(fails, reason.NotRendered)
			for i := range fails.All() {
				if f.Targets[clusters[i].Name] {
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
		i, ok := w.in.Policies.Position(cluster)
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
			w.own(o, i)
		}
	}
}

// own writes an object for the cluster, by its index, in whose directory it stands.
func (w *writer) own(o *object.Object, cluster int) {
	d := schedule.Decision{Template: &template.Template{Variant: template.Variant{Object: o, Content: o.Content()}}}
	r := w.manifest(&d, d.Template.Variant, class{completions: -1, recipients: w.recipients[cluster], virtual: w.virtual.number(cluster)}, noRules)
	w.number(r)
	row := w.row(o.Ref())
	row.want(cluster, r.blob)
	if r.err != nil {
		row.Block(cluster, blockOf(r.err))
		w.report(*r.err)
		return
	}
	for _, t := range r.made.texts {
		w.sayTexts(o, []told{{t, cluster}})
	}
	w.sayLeftOut(o)
}

// takenPaths returns what clusters with a directory of their own are to hold so far, by the
// cluster's index and path.
func (w *writer) takenPaths() map[int32]map[string]object.Ref {
	have := map[int32]map[string]object.Ref{}
	for cluster, objs := range w.in.Bound {
		if i, ok := w.in.Policies.Position(cluster); ok && len(objs) > 0 {
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
		Code: diag.SamePath, Severity: diag.Error, Pos: o.Origin(),
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
		Code: diag.DuplicateObject, Severity: diag.Error, Pos: o.Origin(),
		Message: fmt.Sprintf("cluster %s would receive %s twice: from its own directory and by a policy; the policy's is used", cluster, o.Ref()),
		Hint:    "remove one of them, or exclude the cluster from the policy",
	}
}
