package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/object"
)

// maxNesting is how deep releases may render to releases: a Flux Kustomization of
// HelmReleases is two.
const maxNesting = 8

// releases turns releases into what they render to. It is where a plan finds out
// what has to be rendered first (Plan.Wanted), and what of a release that cannot be
// rendered stays as it was.
type releases struct {
	in      *Input
	wanted  map[string]engine.Job
	objects map[string][]*object.Object // of a release and a job
	failed  map[releaseID]*where
	recent  []releaseID                       // that failed since somebody emptied it
	next    map[releaseID]map[object.Ref]bool // what is remembered
	diags   []diag.Diagnostic
	told    map[string]*told // by release and job
	// unknown says that a release failed of which nothing is known: what is missing may
	// have moved into it, or it may have another name now.
	unknown bool
}

// releaseID names a release: one of the source, or one that is bound to a cluster.
type releaseID struct {
	cluster string
	ref     object.Ref
}

// where says for which clusters a release could not be rendered.
type where struct {
	everywhere bool // it is not rendered for a cluster
	clusters   map[string]bool
	aimed      map[string]bool // the clusters that it goes to
}

// has reports whether a cluster is among those.
func (w *where) has(cluster string) bool { return w.everywhere || w.clusters[cluster] }

func newReleases(in *Input) *releases {
	return &releases{
		in: in, wanted: map[string]engine.Job{}, objects: map[string][]*object.Object{},
		failed: map[releaseID]*where{}, next: map[releaseID]map[object.Ref]bool{}, told: map[string]*told{},
	}
}

func (rs *releases) report(ds ...diag.Diagnostic) { rs.diags = append(rs.diags, ds...) }

// fail notes that a release could not be rendered for a cluster, or for any if
// cluster is empty: what it rendered to before stays there.
func (rs *releases) fail(id releaseID, cluster string) {
	rs.recent = append(rs.recent, id)
	if rs.failed[id] == nil {
		rs.failed[id] = &where{clusters: map[string]bool{}, aimed: map[string]bool{}}
	}
	if cluster == "" {
		rs.failed[id].everywhere = true
		return
	}
	rs.failed[id].clusters[cluster], rs.failed[id].aimed[cluster] = true, true
}

// aim notes where releases that failed go besides.
func (rs *releases) aim(id releaseID, clusters []target) {
	for _, c := range clusters {
		rs.failed[id].aimed[c.Name] = true
	}
}

// scope is what the releases of one unfolding have in common.
type scope struct {
	cluster *fleet.Cluster // that they are rendered for; nil for none
	bound   bool           // they are bound to it
	around  []*object.Object
	shelf   *flux.Shelf
}

// id names a release of the scope.
func (s *scope) id(o *object.Object) releaseID {
	if s.bound {
		return releaseID{s.cluster.Name, o.Ref()}
	}
	return releaseID{ref: o.Ref()}
}

// name is the cluster's; empty without one.
func (s *scope) name() string {
	if s.cluster == nil {
		return ""
	}
	return s.cluster.Name
}

// unfoldUnselected replaces the releases among objs that no policy selects by what
// they render to, until none is left.
func (rs *releases) unfoldUnselected(objs []*object.Object) []*object.Object {
	return rs.unfold(objs, func(objs []*object.Object) (scope, func(*object.Object) bool) {
		set, _, _ := policies.Load(slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { return !policies.Claims(o) }), rs.in.Memo)
		claims := match.New(set.Propagation)
		return scope{around: objs, shelf: flux.NewShelf(objs)}, func(o *object.Object) bool {
			return claims.Policy(policies.SubjectOf(o)) == nil
		}
	})
}

// unfoldFor replaces every release among objs, rendered for a cluster. Base is what
// they may refer to besides each other.
func (rs *releases) unfoldFor(objs []*object.Object, base scope) []*object.Object {
	return rs.unfold(objs, func(objs []*object.Object) (scope, func(*object.Object) bool) {
		s := base
		s.around, s.shelf = slices.Concat(objs, base.around), base.shelf.With(objs)
		return s, func(*object.Object) bool { return true }
	})
}

// unfold replaces releases until there is none to replace. Each round asks which
// they are, because what was rendered may hold policies, and sources.
func (rs *releases) unfold(objs []*object.Object, which func([]*object.Object) (scope, func(*object.Object) bool)) []*object.Object {
	for range maxNesting {
		if !slices.ContainsFunc(objs, flux.IsRelease) {
			return objs
		}
		s, wanted := which(objs)
		next, unfolded := rs.replace(objs, &s, wanted)
		if !unfolded {
			return next
		}
		objs = next
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool {
		if flux.IsRelease(o) {
			rs.report(diag.Diagnostic{
				Code: "nested-release", Severity: diag.Error, Pos: o.Pos(),
				Message: fmt.Sprintf("%s is a release within %d others, which is too deep; nothing of it is delivered", o.Ref(), maxNesting),
			})
		}
		return flux.IsRelease(o)
	})
}

// replace puts what releases render to in their place; of two objects with one ref
// the one that was there stays. It reports whether there is more to look at.
func (rs *releases) replace(objs []*object.Object, s *scope, wanted func(*object.Object) bool) (next []*object.Object, unfolded bool) {
	have := make(map[object.Ref]*object.Object, len(objs))
	var replaced []*object.Object
	for _, o := range objs {
		if flux.IsRelease(o) && wanted(o) {
			replaced = append(replaced, o)
			continue
		}
		have[o.Ref()] = o
		next = append(next, o)
	}
	for _, release := range replaced {
		for _, o := range rs.render(release, s) {
			if other := have[o.Ref()]; other != nil {
				rs.report(diag.Diagnostic{
					Code: "duplicate-object", Severity: diag.Error, Pos: release.Pos(),
					Message: fmt.Sprintf("%s renders %s, which is also at %s; that one is used", release.Ref(), o.Ref(), other.Pos()),
					Hint:    "remove one of them, or rename it",
				})
				continue
			}
			have[o.Ref()] = o
			next = append(next, o)
			unfolded = true
		}
	}
	return next, unfolded
}

// render returns what a release renders to. There is nothing yet if the job is to be
// done first, and nothing at all if it failed, which is then reported.
func (rs *releases) render(release *object.Object, s *scope) []*object.Object {
	id := s.id(release)
	if flux.SyncsItself(release) {
		return nil // its folder is read as it is
	}
	job, problems := flux.Read(release, s.shelf, rs.setting(s.cluster))
	rs.report(problems...)
	if job == nil {
		rs.fail(id, s.name())
		return nil
	}
	key := job.Key()
	rendered, ok := rs.in.Rendered[key]
	if !ok {
		rs.wanted[key] = *job
		return nil
	}
	at := release.Ref().String() + "\x00" + key
	rs.tell(at, release, s, rendered.Diags)
	if rendered.Failed() {
		rs.fail(id, s.name())
		return nil
	}
	objs, ok := rs.objects[at]
	if !ok {
		objs = rs.released(release, job.Namespace(), rendered, s)
		rs.objects[at] = objs
	}
	if rs.next[id] == nil {
		rs.next[id] = map[object.Ref]bool{}
	}
	for _, o := range objs {
		rs.next[id][o.Ref()] = true
	}
	return objs
}

// setting is what a release is rendered for.
func (rs *releases) setting(c *fleet.Cluster) flux.Setting {
	s := flux.Setting{Lock: rs.in.Source.Lock, Pinned: rs.in.Medium == Branch}
	if c == nil {
		return s
	}
	s.KubeVersion = c.Source.Status.KubernetesVersion
	for _, e := range c.Source.Status.APIEnablements {
		s.APIVersions = append(s.APIVersions, e.GroupVersion)
		for _, r := range e.Resources {
			s.APIVersions = append(s.APIVersions, e.GroupVersion+"/"+r.Kind)
		}
	}
	s.Cluster = facts(c)
	return s
}

// told is what a job had to say, for all the clusters that it was done for.
type told struct {
	release  *object.Object
	diags    []diag.Diagnostic
	clusters []string // one of those that are alike
	bound    bool     // to them
}

// tell notes what a job had to say.
func (rs *releases) tell(at string, release *object.Object, s *scope, diags []diag.Diagnostic) {
	if len(diags) == 0 {
		return
	}
	if rs.told[at] == nil {
		rs.told[at] = &told{release: release, diags: diags, bound: s.bound}
	}
	if t, cluster := rs.told[at], s.name(); cluster != "" && !slices.Contains(t.clusters, cluster) {
		t.clusters = append(t.clusters, cluster)
	}
}

// diagnostics returns all that is to be said of releases. What has no place of its own
// stands where the release does.
func (rs *releases) diagnostics() []diag.Diagnostic {
	all := slices.Clone(rs.diags)
	for _, at := range slices.Sorted(maps.Keys(rs.told)) {
		t := rs.told[at]
		what := t.release.Ref().String()
		switch {
		case t.bound:
			what += " for " + list(t.clusters)
		case len(t.clusters) > 0:
			what += " for clusters like " + list(t.clusters)
		}
		for _, d := range t.diags {
			if d.Pos.File == "" {
				d.Pos, d.Message = t.release.Pos(), what+": "+d.Message
			}
			all = append(all, d)
		}
	}
	return all
}

// cause says why an object that no template stands for is no longer there.
func (rs *releases) cause(r object.Ref, cluster string) string {
	for _, was := range rs.in.State.Releases {
		if _, ok := slices.BinarySearchFunc(was.Objects, r, object.Ref.Compare); !ok || was.Cluster != "" && was.Cluster != cluster {
			continue
		}
		if rs.next[releaseID{was.Cluster, was.Release}] != nil {
			return fmt.Sprintf("%s no longer renders it", was.Release)
		}
		return fmt.Sprintf("%s, which rendered it, is no longer in the source", was.Release)
	}
	return "it is no longer in the source"
}

// facts is what a release may take from the cluster that it is rendered for.
func facts(c *fleet.Cluster) map[string]string {
	facts := map[string]string{"name": c.Name, "region": c.Region, "provider": c.Provider, "zone": ""}
	if len(c.Zones) > 0 {
		facts["zone"] = c.Zones[0]
	}
	for k, v := range c.Labels {
		facts["labels."+k] = v
	}
	for k, v := range c.Source.Annotations {
		facts["annotations."+k] = v
	}
	return facts
}

// released returns what a release rendered to as it is installed: in the release's
// namespace, where the release stands.
func (rs *releases) released(release *object.Object, namespace string, r engine.Rendered, s *scope) []*object.Object {
	all := rs.withHooks(release, r)
	scopes := render.ScopesOf(s.around, all)
	objs := make([]*object.Object, 0, len(all))
	for _, o := range all {
		if render.IsPolicyGroup(o.Ref().Group) && (s.cluster != nil || o.Ref().Name == "") {
			rs.report(diag.Diagnostic{
				Code: "nested-policy", Severity: diag.Warning, Pos: release.Pos(),
				Message: fmt.Sprintf("%s renders %s for a cluster, where policies do not act; it is left out", release.Ref(), o.Ref()),
				Hint:    "write the policy out, or render it by a release that no policy selects",
			})
			continue
		}
		o = scopes.Released(o, namespace)
		if helm.Keep(o.Content()) {
			o = o.Annotated(preserveAnnotation, "true")
		}
		objs = append(objs, o.At(release.Pos()))
	}
	return objs
}

// withHooks returns the manifests of a release, with its hooks as the config says: left
// out, or as Argo CD runs them. Hooks that are tests are nobody's loss.
func (rs *releases) withHooks(release *object.Object, r engine.Rendered) []*object.Object {
	all := make([]*object.Object, 0, len(r.Manifests))
	var dropped, translated []string
	for _, m := range r.Manifests {
		switch {
		case m.Hook == nil:
			all = append(all, m.Object)
		case m.Hook.Test():
		case rs.in.Source.Config.Publish.Hooks == render.HooksArgoCD && m.Hook.Syncs():
			translated = append(translated, m.Object.Ref().String())
			all = append(all, argoHook(m.Object, *m.Hook))
		default:
			dropped = append(dropped, m.Object.Ref().String())
		}
	}
	if len(dropped) > 0 {
		rs.report(diag.Diagnostic{
			Code: "hooks-dropped", Severity: diag.Warning, Pos: release.Pos(),
			Message: fmt.Sprintf("%s has hooks, which run at no time on a branch and are left out: %s", release.Ref(), list(dropped)),
			Hint:    "turn the chart's hooks off in values if it can do without them, or write the jobs out as manifests; for Argo CD, set spec.publish.hooks in " + render.ConfigFile,
		})
	}
	if len(translated) > 0 {
		rs.report(diag.Diagnostic{
			Code: "hooks-translated", Severity: diag.Notice, Pos: release.Pos(),
			Message: fmt.Sprintf("%s has hooks, which Argo CD runs at each sync: %s", release.Ref(), list(translated)),
		})
	}
	return all
}

// argoHook returns the manifest of a hook as Argo CD runs it. Helm's own annotations
// go: Argo CD would read them as well.
func argoHook(o *object.Object, h helm.Hook) *object.Object {
	annotations := map[string]any{}
	for k, v := range o.Annotations() {
		if !strings.HasPrefix(k, "helm.sh/hook") {
			annotations[k] = v
		}
	}
	for k, v := range helm.ArgoCD(h) {
		annotations[k] = v
	}
	content := maps.Clone(o.Content())
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	metadata["annotations"] = annotations
	content["metadata"] = metadata
	return o.With(content)
}

// kept lists the objects that releases which failed rendered to before. A release that
// is gone with the one that rendered it is kept with it. One that nothing is known of may
// have come from elsewhere: from a policy to a cluster's directory, or back.
func (rs *releases) kept() map[releaseID][]object.Ref {
	before, places := map[releaseID][]object.Ref{}, map[object.Ref][]releaseID{}
	for _, r := range rs.in.State.Releases {
		id := releaseID{r.Cluster, r.Release}
		before[id] = r.Objects
		places[id.ref] = append(places[id.ref], id)
	}
	out := map[releaseID][]object.Ref{}
	var keep func(id releaseID, w *where)
	keep = func(id releaseID, w *where) {
		if _, done := out[id]; done || before[id] == nil {
			return
		}
		out[id] = before[id]
		rs.failed[id] = w
		for _, r := range before[id] {
			keep(releaseID{id.cluster, r}, w)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(rs.failed), compareIDs) {
		keep(id, rs.failed[id])
		if len(before[id]) > 0 {
			continue
		}
		rs.unknown = rs.unknown || places[id.ref] == nil
		for _, other := range places[id.ref] {
			if rs.next[other] == nil && rs.failed[other] == nil {
				keep(other, &where{everywhere: true})
			}
		}
	}
	return out
}

// remembered returns what the next state says of releases: what they rendered to, what is
// kept of those that failed, and what held clusters may still have of before.
func (rs *releases) remembered(kept map[releaseID][]object.Ref, held map[string]string) []state.Release {
	for id, refs := range kept {
		rs.add(id, refs)
	}
	for _, r := range rs.in.State.Releases {
		id := releaseID{r.Cluster, r.Release}
		if isHeld := held[id.cluster] != "" || id.cluster == "" && len(held) > 0; isHeld && rs.next[id] != nil {
			rs.add(id, r.Objects)
		}
	}
	var out []state.Release
	for _, id := range slices.SortedFunc(maps.Keys(rs.next), compareIDs) {
		out = append(out, state.Release{
			Cluster: id.cluster, Release: id.ref,
			Objects: slices.SortedFunc(maps.Keys(rs.next[id]), object.Ref.Compare),
		})
	}
	return out
}

// acknowledge has the releases that failed remembered, be it without an object, so that
// nothing is looked for in them any longer.
func (rs *releases) acknowledge() {
	for id := range rs.failed {
		rs.add(id, nil)
	}
}

// add notes objects of a release.
func (rs *releases) add(id releaseID, refs []object.Ref) {
	if rs.next[id] == nil {
		rs.next[id] = map[object.Ref]bool{}
	}
	for _, r := range refs {
		rs.next[id][r] = true
	}
}

func compareIDs(a, b releaseID) int {
	if a.cluster != b.cluster {
		return slices.Compare([]string{a.cluster}, []string{b.cluster})
	}
	return a.ref.Compare(b.ref)
}
