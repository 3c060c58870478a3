package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
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
	failed  map[releaseID]where
	recent  []releaseID                       // that failed since somebody emptied it
	next    map[releaseID]map[object.Ref]bool // what is remembered
	diags   []diag.Diagnostic
}

// releaseID names a release: one of the source, or one that is bound to a cluster.
type releaseID struct {
	cluster string
	ref     object.Ref
}

// where is a set of clusters by name; nil is all.
type where map[string]bool

func newReleases(in *Input) *releases {
	return &releases{
		in: in, wanted: map[string]engine.Job{}, objects: map[string][]*object.Object{},
		failed: map[releaseID]where{}, next: map[releaseID]map[object.Ref]bool{},
	}
}

func (rs *releases) report(ds ...diag.Diagnostic) { rs.diags = append(rs.diags, ds...) }

// fail notes that a release could not be rendered for a cluster, or for any if
// cluster is empty: what it rendered to before stays there.
func (rs *releases) fail(id releaseID, cluster string) {
	rs.recent = append(rs.recent, id)
	have, ok := rs.failed[id]
	switch {
	case cluster == "":
		rs.failed[id] = nil
	case !ok:
		rs.failed[id] = where{cluster: true}
	case have != nil:
		have[cluster] = true
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
		set, _, _ := policies.Load(objs)
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
	for _, d := range rendered.Diags {
		if d.Pos.File == "" {
			d.Pos = release.Pos()
		}
		rs.report(d)
	}
	if rendered.Failed() {
		rs.fail(id, s.name())
		return nil
	}
	at := release.Ref().String() + "\x00" + key
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
// namespace, where the release stands, without hooks.
func (rs *releases) released(release *object.Object, namespace string, r engine.Rendered, s *scope) []*object.Object {
	all := make([]*object.Object, 0, len(r.Manifests))
	var hooks []string
	for _, m := range r.Manifests {
		if m.Hook != nil {
			if !m.Hook.Test() {
				hooks = append(hooks, m.Object.Ref().String())
			}
			continue
		}
		all = append(all, m.Object)
	}
	if len(hooks) > 0 {
		rs.report(diag.Diagnostic{
			Code: "hooks-dropped", Severity: diag.Warning, Pos: release.Pos(),
			Message: fmt.Sprintf("%s has hooks, which run at no time on a branch and are left out: %s", release.Ref(), list(hooks)),
			Hint:    "turn the chart's hooks off in values if it can do without them, or write the jobs out as manifests",
		})
	}
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
		if o.Annotations()[keepAnnotation] == "keep" {
			o = o.Annotated(preserveAnnotation, "true")
		}
		objs = append(objs, o.At(release.Pos()))
	}
	return objs
}

// keepAnnotation is Helm's: what has it is not deleted with its release.
const keepAnnotation = "helm.sh/resource-policy"

// kept lists the objects that releases which failed rendered to before, and where
// they stay. A release that is gone with the one that rendered it is kept with it.
func (rs *releases) kept() map[releaseID][]object.Ref {
	before := map[releaseID][]object.Ref{}
	for _, r := range rs.in.State.Releases {
		before[releaseID{r.Cluster, r.Release}] = r.Objects
	}
	out := map[releaseID][]object.Ref{}
	var keep func(id releaseID, w where)
	keep = func(id releaseID, w where) {
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
	}
	return out
}

// remembered returns what the next state says of releases.
func (rs *releases) remembered(kept map[releaseID][]object.Ref) []state.Release {
	for id, refs := range kept {
		if rs.next[id] == nil {
			rs.next[id] = map[object.Ref]bool{}
		}
		for _, r := range refs {
			rs.next[id][r] = true
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

func compareIDs(a, b releaseID) int {
	if a.cluster != b.cluster {
		return slices.Compare([]string{a.cluster}, []string{b.cluster})
	}
	return a.ref.Compare(b.ref)
}
