package expand

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// parts places a release that a policy selects, overrides and renders it for each of its
// clusters, and returns what it renders to as templates: claimed by the release's policy,
// placed only where the release has them. Clusters for which the release is alike are
// rendered for once.
func (x *expander) parts(l *index.Policies, release *template.Template, base scope) []*template.Template {
	policy, targets := x.in.Place(l, release)
	if policy == nil {
		return nil
	}
	noteRecipe(x, release.Object, &base)
	rules := l.Overrides.Rules(release.Subject)
	matching := l.Matching(rules.List)
	inner := x.innerRules(l)
	alike := map[kin]*likeness{}
	byRef, groups, failed := map[object.Ref]*template.Template{}, slices.Repeat([]int{template.NoGroup}, len(l.Fleet.Clusters())), map[string]bool{}
	var order []*template.Template
	for _, target := range targets {
		i, ok := l.Position(target.Name)
		if !ok {
			continue
		}
		c := l.Fleet.Clusters()[i]
		key := kin{matching: matching[i], within: inner.matching(c), serves: x.serves(c)}
		if virtual.Of(c.Source) != nil {
			key.cluster = c.Name
		}
		like, known := alike[key]
		if !known {
			like = x.renderFor(l, release, matching[i], base, c)
			if like.group = len(alike); like.asks {
				key.cluster = c.Name
			}
			alike[key] = like
		}
		groups[i] = like.group
		for _, id := range like.failed {
			x.releases.failFor(id, c.Name, targets)
			failed[c.Name] = true
		}
		if known {
			continue
		}
		for _, o := range like.objects {
			t := byRef[o.Ref()]
			if t == nil {
				t = template.New(o, &x.in.Memo.Template)
				t.Subject.File = ""
				t.Part = &template.Part{Release: release.Object, Policy: policy, Groups: groups, Failed: failed}
				byRef[o.Ref()] = t
				order = append(order, t)
			}
			t.Part.Add(o, like.group, &x.in.Memo.Template)
		}
	}
	return order
}

// noteRecipe notes what a release is made from, whatever the clusters are that it goes to.
func noteRecipe(x *expander, release *object.Object, s *scope) {
	if job, _ := flux.Read(release, s.lookup, x.setting(nil)); job != nil {
		x.recipes[release.Ref()] = job.Key()
	}
}

// noteRestless notes a release whose result may be another one each time, and what it renders to. What stands in a cluster's own
// directory goes out with nothing.
func noteRestless(known map[object.Ref]Restless, release *object.Object, job *engine.Job, objs []*object.Object, s *scope) {
	function := job.Restless()
	if function == "" || s.bound {
		return
	}
	is := Restless{Release: release, Function: function}
	known[release.Ref()] = is
	for _, o := range objs {
		known[o.Ref()] = is
	}
}

// kin are the clusters for which a release is alike: the rules that match them, of the release and
// of those within it, what their API servers serve, and the one cluster that is virtual, or that the
// release, or one within it, asks for.
type kin struct{ matching, within, cluster, serves string }

// serves identifies what a release sees of a cluster's API server.
func (x *expander) serves(c *fleet.Cluster) string {
	if len(c.Source.Status.APIEnablements) == 0 {
		return c.Source.Status.KubernetesVersion
	}
	s, known := x.served[c]
	if !known {
		s = strings.Join(append(c.APIVersions(), c.Source.Status.KubernetesVersion), "\x00")
		x.served[c] = s
	}
	return s
}

// likeness is what a release renders to for clusters for which it is alike.
type likeness struct {
	group   int
	objects []*object.Object
	failed  []state.ReleaseID
	asks    bool // it, or a release within it, may be another one for each cluster
}

// renderFor overrides a release for a cluster and renders it.
func (x *expander) renderFor(l *index.Policies, release *template.Template, matching string, base scope, c *fleet.Cluster) *likeness {
	overridden, bad := x.in.Override(l, release, matching)
	if bad != nil {
		exemplify(bad, c.Name)
		x.report(x.about.note(release.Ref(), *bad)...)
		return &likeness{failed: []state.ReleaseID{{Release: release.Ref()}}}
	}
	base.cluster, base.within = c, x.within(l, release, overridden, c)
	var objs []*object.Object
	mark := len(x.replaced)
	x.asks = false
	failed := x.releases.during(func() { objs = x.unfoldFor([]*object.Object{overridden}, base) })
	objs = x.withoutSources(objs, mark)
	return &likeness{objects: objs, failed: failed, asks: x.asks}
}
