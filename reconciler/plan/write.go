package plan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// What delivered manifests carry for those who apply them: the label by which
// Karmada, and so Waybill, knows what it may change or delete, and, where they
// differ from the default, what happens to an object that is there already and to
// one that is no longer sent.
const (
	managedLabel       = "karmada.io/managed"
	conflictAnnotation = "work.karmada.io/conflict-resolution"
	preserveAnnotation = "waybill.dev/preserve-resources-on-deletion"
)

// writer collects what every cluster holds. A placed manifest is two numbers: the
// index of its ref and that of its blob.
type writer struct {
	*builder

	refs    []object.Ref
	ranks   []int32 // by the index of a ref: its place among all
	blobs   []*files.Blob
	blobIDs map[files.ID]int32
	placed  [][]placed // by the cluster's index in the fleet
	index   map[string]int
	matched map[string][]string // by rules, and by the cluster's index: which rules match
	numbers map[*override.Rule]uint32
	digests map[*override.Rule]string
	seals   sealer
	claimed map[string]object.Ref      // paths
	still   []*template                // left where they are
	used    []map[string]bool          // namespaces with something in them, by the cluster's index
	kept    map[releaseID][]object.Ref // of releases that could not be rendered
	stays   map[object.Ref]bool        // what is left where it is, so that its binding is the one before
	missing map[object.Ref][]string    // clusters that are to have a template and do not
	unsure  string                     // why it is not known where everything goes; empty: it is
}

type placed struct{ ref, blob int32 }

func newWriter(b *builder) *writer {
	w := &writer{
		builder: b, blobIDs: map[files.ID]int32{}, index: map[string]int{},
		matched: map[string][]string{}, numbers: map[*override.Rule]uint32{}, digests: map[*override.Rule]string{}, claimed: map[string]object.Ref{},
		placed: make([][]placed, len(b.fleet.Clusters())), seals: b.newSealer(), stays: map[object.Ref]bool{}, missing: map[object.Ref][]string{},
	}
	for i, c := range b.fleet.Clusters() {
		w.index[c.Name] = i
	}
	return w
}

// write puts every decided template, the Namespaces that go along, and what is
// bound to a cluster, into the clusters.
func (b *builder) write() {
	namespaces := map[string]*template{}
	b.out.makeRoom()
	for _, t := range b.templates {
		if r := t.object.Ref(); r.Kind == "Namespace" && r.Group == "" {
			namespaces[r.Name] = t
			continue
		}
		if !t.isRelease() {
			b.out.template(t, t.decision.Targets)
		}
	}
	b.out.keepDependencies()
	b.out.quotas()
	b.out.bound()
	b.out.keepUnplaced()
	b.out.keepReleases()
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		t := namespaces[name]
		b.out.template(t, b.out.namespaceTargets(t))
	}
	b.out.keepClustersOwn()
}

// makeRoom makes room for what is decided, so that no list has to grow much.
func (w *writer) makeRoom() {
	counts := make([]int, len(w.placed))
	for _, t := range w.templates {
		find := w.finder()
		for _, c := range t.decision.Targets {
			if i, ok := find(c.Name); ok {
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		w.placed[i] = make([]placed, 0, n+n/16)
	}
}

// template writes t for each of its targets, encoding it once a class; or leaves it
// everywhere as it was, if that would lose it.
func (w *writer) template(t *template, targets []target) {
	r := t.object.Ref()
	if len(targets) == 0 && !w.stays[r] || !w.claimPath(t.object) {
		return
	}
	o, before := w.outcome(t, targets), w.in.State.Bindings[t.object.Ref()]
	w.tell(t, o)
	if names := o.strangers(before); len(names) > 0 {
		w.missing[r] = names
	}
	if w.stays[r] || o.loses(before) {
		w.leave(t)
		return
	}
	ref := w.ref(r)
	for _, p := range o.written {
		w.placed[p.cluster] = append(w.placed[p.cluster], placed{ref, p.blob})
	}
	for _, i := range o.left {
		w.keepPublished(ref, i)
	}
}

// outcome is what came of a template for its targets.
type outcome struct {
	written   []writtenTo
	left      []int // clusters that keep what was published there, by index
	suspended []string
	failed    []*result
	missing   []string // of those left, the ones that cannot have it now
}

type writtenTo struct {
	cluster int
	blob    int32
}

// outcome encodes t for its targets.
func (w *writer) outcome(t *template, targets []target) outcome {
	rules := w.overrides.Rules(t.subject)
	shares := completions(t)
	classes := classes{encode: func(k class, v variant) *result { return w.encode(t, v, k, rules) }, known: map[class]*result{}}
	matching, find := w.matcher(rules.List), w.finder()
	o := outcome{written: make([]writtenTo, 0, len(targets))}
	for _, c := range targets {
		i, ok := find(c.Name)
		if !ok {
			continue
		}
		v := t.in(c.Name)
		switch {
		case t.decision.Outcome == Kept, v == nil: // v: its release cannot be rendered for the cluster
			o.left = append(o.left, i)
			continue
		case t.suspended(c.Name):
			o.left, o.missing, o.suspended = append(o.left, i), append(o.missing, c.Name), append(o.suspended, c.Name)
			continue
		}
		k := class{variant: t.number(c.Name), replicas: c.Replicas, completions: shareOf(shares, c.Name), rules: matching(i)}
		if isSecret(v.object) {
			k.recipients = w.seals.recipients[i]
		}
		r := classes.result(k, *v)
		if r.err == nil {
			o.written = append(o.written, writtenTo{i, r.blob})
			continue
		}
		if len(r.clusters) == 0 {
			o.failed = append(o.failed, r)
		}
		r.clusters = append(r.clusters, c.Name)
		o.left, o.missing = append(o.left, i), append(o.missing, c.Name)
	}
	return o
}

// loses reports that carrying the outcome out would lose the template: no cluster that it
// is for gets it, and none had it by the binding before.
func (o *outcome) loses(before *karmada.ResourceBinding) bool {
	if len(o.missing) == 0 || len(o.written) > 0 || len(o.left) > len(o.missing) {
		return false
	}
	return len(o.strangers(before)) == len(o.missing)
}

// strangers returns the clusters that cannot have the template and did not have it.
func (o *outcome) strangers(before *karmada.ResourceBinding) []string {
	var names []string
	for _, c := range o.missing {
		if !sends(before, c) {
			names = append(names, c)
		}
	}
	return names
}

// tell reports the clusters where a template is held back and where it fails.
func (w *writer) tell(t *template, o outcome) {
	if len(o.written) > 0 {
		w.tellExported(t.object)
	}
	if len(o.suspended) > 0 {
		w.report(diag.Diagnostic{
			Code: "suspended", Severity: diag.Notice, Pos: t.policy.Object.FieldPos([]any{"spec", "suspension"}),
			Message: fmt.Sprintf("%s suspends dispatching %s to %s; there it stays as it was last published", t.policy, t.object.Ref(), list(o.suspended)),
		})
	}
	for _, r := range o.failed {
		r.err.Message += " (clusters " + list(r.clusters) + ")"
		w.report(*r.err)
	}
}

// bound writes what is bound to a cluster by its directory. No policy and no
// override touches it.
func (w *writer) bound() {
	for _, cluster := range slices.Sorted(maps.Keys(w.builder.bound)) {
		i, ok := w.index[cluster]
		if !ok || len(w.builder.bound[cluster]) == 0 {
			continue
		}
		have := w.paths(i)
		for _, o := range w.builder.bound[cluster] {
			if w.clustersOwn(o) {
				continue
			}
			if other, taken := have[tree.Path(o.Ref())]; taken {
				w.report(twice(cluster, o, other))
				continue
			}
			have[tree.Path(o.Ref())] = o.Ref()
			ref := w.ref(o.Ref())
			t := &template{variant: variant{object: o, content: o.Content()}}
			r := w.encode(t, t.variant, class{completions: -1, recipients: w.seals.recipients[i]}, override.Rules{})
			if r.err != nil {
				w.report(*r.err)
				if !w.keepPublished(ref, i) {
					w.keepUnbound(ref)
				}
				continue
			}
			w.placed[i] = append(w.placed[i], placed{ref, r.blob})
			w.tellExported(o)
		}
	}
}

// twice says that what a cluster's own directory has is in the cluster already.
func twice(cluster string, o *object.Object, other object.Ref) diag.Diagnostic {
	if other != o.Ref() {
		return samePath(o, other)
	}
	return diag.Diagnostic{
		Code: "duplicate-object", Severity: diag.Error, Pos: o.Pos(),
		Message: fmt.Sprintf("cluster %s would receive %s twice: from its own directory and by a policy; the policy's is used", cluster, o.Ref()),
		Hint:    "remove one of them, or exclude the cluster from the policy",
	}
}

// isBound reports whether an object stands in a cluster's own directory.
func (w *writer) isBound(r object.Ref, cluster string) bool {
	return slices.ContainsFunc(w.builder.bound[cluster], func(o *object.Object) bool { return o.Ref() == r })
}

// namespaceTargets returns where a Namespace goes: where its decision says, and, unless
// it is never sent along, where the config says. Where it was sent along it stays as long
// as the source has it: with it would go what others have put into it.
func (w *writer) namespaceTargets(t *template) []target {
	r := t.object.Ref()
	targets := slices.Clone(t.decision.Targets)
	mode := w.in.Source.Config.Namespaces
	if match.ClustersOwn(r) {
		w.tellNeeded(t)
		return nil
	}
	if mode == render.NamespacesNone {
		return targets
	}
	skipped, published := w.skips.Namespace(r.Name, t.subject.Labels), w.published(r)
	for i, c := range w.fleet.Clusters() {
		if slices.ContainsFunc(targets, func(t target) bool { return t.Name == c.Name }) || w.has(i, r) {
			continue
		}
		wanted := !skipped && (mode == render.NamespacesAll || w.needs(i, r.Name))
		if wanted || published(c.Name) != nil && !sends(w.in.State.Bindings[r], c.Name) {
			targets = append(targets, karmada.TargetCluster{Name: c.Name})
		}
	}
	slices.SortFunc(targets, byName)
	return targets
}

// has reports whether the cluster with index i holds an object already.
func (w *writer) has(i int, r object.Ref) bool {
	return slices.ContainsFunc(w.placed[i], func(p placed) bool { return w.refs[p.ref] == r })
}

// needs reports whether the cluster with index i holds something in a namespace.
func (w *writer) needs(i int, namespace string) bool {
	if w.used == nil {
		w.used = make([]map[string]bool, len(w.placed))
		for j, ps := range w.placed {
			w.used[j] = map[string]bool{}
			for _, p := range ps {
				w.used[j][w.refs[p.ref].Namespace] = true
			}
		}
	}
	return w.used[i][namespace]
}

// claimPath reports false if another template has the path that o's manifest
// would have, which only kinds that differ in nothing but case can.
func (w *writer) claimPath(o *object.Object) bool {
	path := tree.Path(o.Ref())
	if other, taken := w.claimed[path]; taken && other != o.Ref() {
		w.report(samePath(o, other))
		return false
	}
	w.claimed[path] = o.Ref()
	return true
}

func samePath(o *object.Object, other object.Ref) diag.Diagnostic {
	return diag.Diagnostic{
		Code: "same-path", Severity: diag.Error, Pos: o.Pos(),
		Message: fmt.Sprintf("%s and %s would be one file on a branch (%s); the second is left out", other, o.Ref(), tree.Path(o.Ref())),
		Hint:    "rename one of them",
	}
}

// paths returns what the cluster with index i holds so far, by path.
func (w *writer) paths(i int) map[string]object.Ref {
	have := make(map[string]object.Ref, len(w.placed[i]))
	for _, p := range w.placed[i] {
		have[tree.Path(w.refs[p.ref])] = w.refs[p.ref]
	}
	return have
}

// place puts a file into the cluster with index i.
func (w *writer) place(i int, ref int32, data []byte) {
	w.placed[i] = append(w.placed[i], placed{ref, w.blob(files.NewBlob(data))})
}

func (w *writer) ref(r object.Ref) int32 {
	w.refs = append(w.refs, r)
	return int32(len(w.refs) - 1) //nolint:gosec // a source has far fewer objects
}

// blob returns the index of a blob; equal blobs have one.
func (w *writer) blob(b *files.Blob) int32 {
	if i, ok := w.blobIDs[b.ID()]; ok {
		return i
	}
	i := int32(len(w.blobs)) //nolint:gosec // a plan has far fewer blobs
	w.blobs = append(w.blobs, b)
	w.blobIDs[b.ID()] = i
	return i
}

// rank settles the order of what is placed.
func (w *writer) rank() {
	order := make([]int32, len(w.refs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return w.refs[a].Compare(w.refs[b]) })
	w.ranks = make([]int32, len(w.refs))
	for rank, i := range order {
		w.ranks[i] = int32(rank)
	}
}

// signature is equal for clusters that hold the same manifests.
func (w *writer) signature(i int) string {
	ps := w.placed[i]
	slices.SortFunc(ps, func(a, b placed) int { return cmp.Compare(w.ranks[a.ref], w.ranks[b.ref]) })
	buf := make([]byte, 0, 8*len(ps))
	for _, p := range ps {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(p.ref))  //nolint:gosec // an index
		buf = binary.LittleEndian.AppendUint32(buf, uint32(p.blob)) //nolint:gosec // an index
	}
	return string(buf)
}

// manifests lists what the cluster with index i holds, sorted.
func (w *writer) manifests(i int) []tree.Manifest {
	ms := make([]tree.Manifest, 0, len(w.placed[i]))
	for _, p := range w.placed[i] {
		ms = append(ms, tree.Manifest{Ref: w.refs[p.ref], Blob: w.blobs[p.blob]})
	}
	return ms
}
