package expand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/namespaced"
	"github.com/waybill-dev/waybill/render/object"
)

// maxNesting is how deep releases may render to releases: a Flux Kustomization of
// HelmReleases is two.
const maxNesting = 8

// unfoldUnselected replaces the releases among objs that no policy selects.
func (x *expander) unfoldUnselected(objs []*object.Object) []*object.Object {
	return x.unfold(objs, func(objs []*object.Object) (scope, func(*object.Object) bool) {
		var claiming []*object.Object
		for _, o := range objs {
			if policies.Claims(o) {
				claiming = append(claiming, o)
			}
		}
		set, _, _ := policies.Load(claiming, &x.in.Memo.Policies)
		claims := match.New(set.Propagation)
		return scope{around: objs, lookup: flux.NewIndex(objs)}, func(o *object.Object) bool {
			return claims.Policy(policies.SubjectOf(o)) == nil
		}
	})
}

// unfoldFor replaces every release among objs, rendered for the cluster of base, which says
// what they may refer to besides each other.
func (x *expander) unfoldFor(objs []*object.Object, base scope) []*object.Object {
	return x.unfold(objs, func(objs []*object.Object) (scope, func(*object.Object) bool) {
		s := base
		s.around, s.lookup = slices.Concat(objs, base.around), base.lookup.With(objs)
		return s, func(*object.Object) bool { return true }
	})
}

// unfold replaces releases until there is none to replace. Each round asks anew which they
// are, because what was rendered may hold policies, and sources.
func (x *expander) unfold(objs []*object.Object, which func([]*object.Object) (scope, func(*object.Object) bool)) []*object.Object {
	asked := len(x.wanted)
	for range maxNesting {
		if !slices.ContainsFunc(objs, flux.IsRelease) {
			return objs
		}
		s, wanted := which(objs)
		s.asked = asked
		next, unfolded := x.replace(objs, &s, wanted)
		if !unfolded {
			return next
		}
		objs = next
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool {
		if flux.IsRelease(o) {
			x.report(x.about.note(o.Ref(), diag.Diagnostic{
				Code: diag.NestedRelease, Severity: diag.Error, Pos: o.Origin(),
				Message: fmt.Sprintf("%s is a release within %d others, which is too deep; nothing of it is delivered", o.Ref(), maxNesting),
			})...)
		}
		return flux.IsRelease(o)
	})
}

// replace puts what releases render to in their place; of two objects with one ref the one
// that was there stays. It reports whether there is more to look at.
func (x *expander) replace(objs []*object.Object, s *scope, wanted func(*object.Object) bool) (next []*object.Object, unfolded bool) {
	have := make(map[object.Ref]*object.Object, len(objs))
	var replaced []*object.Object
	for _, o := range objs {
		if flux.IsRelease(o) && wanted(o) {
			replaced = append(replaced, o)
			x.replaced = append(x.replaced, o)
			continue
		}
		have[o.Ref()] = o
		next = append(next, o)
	}
	ready, waiting := x.ready(replaced, s)
	next, unfolded = append(next, waiting...), len(waiting) > 0
	for _, release := range ready {
		rendered := x.render(x.overridden(release, s), s)
		x.note(release, rendered, s)
		for _, o := range rendered {
			if other := have[o.Ref()]; other != nil {
				x.report(x.about.note(release.Ref(), alsoAt(release, o, other))...)
				continue
			}
			have[o.Ref()] = o
			next = append(next, o)
			unfolded = true
		}
	}
	return next, unfolded
}

// ready tells the releases that can be rendered from those that wait for what others render. Where
// all wait none can be waited for, unless what was rendered before them is yet to be.
func (x *expander) ready(releases []*object.Object, s *scope) (ready, waiting []*object.Object) {
	for _, release := range releases {
		if s.lookup.Waits(release) {
			waiting = append(waiting, release)
		} else {
			ready = append(ready, release)
		}
	}
	if len(ready) > 0 {
		return ready, waiting
	}
	if len(x.wanted) > s.asked {
		return nil, nil
	}
	return waiting, nil
}

// render returns what a release renders to. There is nothing yet if the job is to be done
// first, and nothing at all if it failed, which is then reported.
func (x *expander) render(release *object.Object, s *scope) []*object.Object {
	if release == nil {
		return nil
	}
	x.asks = x.asks || flux.AsksCluster(release)
	id := s.id(release)
	if x.repository.SyncsItself(release, s.lookup) {
		return nil // its folder is read as it is
	}
	job, problems := flux.Read(release, s.lookup, x.setting(s.cluster))
	x.report(x.about.note(release.Ref(), problems...)...)
	if job == nil {
		x.releases.fail(id, s.name())
		return nil
	}
	x.sensitive = x.sensitive || len(job.Secrets) > 0 || job.Draws()
	key := job.Key()
	rendered, ok := x.rendered[key]
	if !ok {
		x.wanted[key] = *job
		return nil
	}
	if !job.DrawsOnce() {
		x.done[key] = *job
	}
	at := release.Ref().String() + "\x00" + key
	x.said.add(at, release, s, &rendered, x.repository)
	known := x.releases.get(id)
	known.inputs[rendered.Inputs] = true
	if rendered.Failed() {
		x.releases.fail(id, s.name())
		return nil
	}
	here := installed{at, release.Pos()}
	objs, ok := x.objects[here]
	if !ok {
		objs = x.installed(release, job, rendered, s)
		x.objects[here] = objs
	}
	known.renders(object.Refs(objs))
	noteRestless(x.restless, release, job, objs, s)
	x.drew = x.drew || job.Draws()
	return objs
}

// setting is what a release is rendered in.
func (x *expander) setting(c *fleet.Cluster) flux.Setting {
	s := flux.Setting{
		Lock: x.in.Source.Lock, Repository: x.repository, Pinned: x.in.Pinned, Open: x.in.Source.Config.Secrets == render.SecretsAllow, Random: x.in.Random,
	}
	if c == nil {
		return s
	}
	s.Random.Cluster = c.Name
	if m := virtual.Of(c.Source); m != nil {
		s.Suffix = m.Suffix
	}
	s.KubeVersion, s.APIVersions = c.Source.Status.KubernetesVersion, c.APIVersions()
	s.Cluster = flux.Facts(flux.Cluster{
		Name: c.Name, Region: c.Region, Provider: c.Provider, Zones: c.Zones, Labels: c.Labels, Annotations: c.Source.Annotations,
	})
	return s
}

// installed returns what a release rendered to as it is installed: in the release's
// namespace, where the release stands.
func (x *expander) installed(release *object.Object, job *engine.Job, r engine.Rendered, s *scope) []*object.Object {
	all, hooks := r.WithHooks(release, x.in.Source.Config.Publish.Hooks == render.HooksArgoCD)
	x.report(hooks...)
	scopes := namespaced.Of(s.around, all)
	objs := make([]*object.Object, 0, len(all))
	secrets := strings.Join(job.Secrets, "\x00")
	for _, o := range all {
		if render.IsPolicy(o.Ref()) && (s.cluster != nil || o.Ref().Name == "") {
			x.report(diag.Diagnostic{
				Code: diag.NestedPolicy, Severity: diag.Warning, Pos: release.Origin(),
				Message: fmt.Sprintf("%s renders %s for a cluster, where policies do not act; it is left out", release.Ref(), o.Ref()),
				Hint:    "write the policy out, or render it by a release that no policy selects",
			})
			continue
		}
		placed := atHome(s.mapping(), scopes.Released(o, job.Namespace()), job.Target())
		from := installation{rendered: o, namespace: placed.Ref().Namespace, at: release.Pos(), origin: release.Origin(), secrets: secrets}
		objs = append(objs, x.in.Memo.installed.Or(from, func() *object.Object {
			if helm.Keep(placed.Content()) {
				placed = placed.Annotated(interpret.PreserveAnnotation, "true")
			}
			return placed.From(release).RenderedWith(job.Secrets)
		}))
	}
	return objs
}

// atHome returns what was rendered into the namespace that a release has in a virtual cluster as
// templates have it: in the namespace of the release. What else a chart says of that namespace
// stays, and is right there.
func atHome(m *virtual.Mapping, o *object.Object, target string) *object.Object {
	r := o.Ref()
	home := m.Template(object.Ref{Kind: "Namespace", Name: target}).Name
	switch {
	case m == nil || target == "":
	case r.Namespace == target:
		return o.InNamespace(home)
	case r == object.Ref{Kind: "Namespace", Name: target}:
		return o.Named(home)
	}
	return o
}

// installed names what a release rendered to where it stands: folders of clusters may hold releases
// of one name.
type installed struct {
	job string
	at  diag.Pos
}

// installation is all that an installed object is made of. It is the same object in the
// next plan, so that what is made of it is remembered, too.
type installation struct {
	rendered  *object.Object // by an engine
	namespace string
	at        diag.Pos
	origin    diag.Pos // of the release
	secrets   string   // of the job
}
