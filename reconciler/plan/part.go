package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// part says which release a template is part of, and what it says where.
type part struct {
	release  *template
	variants []variant
	of       map[string]int // by cluster: the variant; absent where the release lacks it
	// failed are the clusters for which the release, or one within it, could not be
	// rendered. What was there before stays, with the replicas that it has.
	failed map[string]bool
}

// parts places a release that a policy selects, overrides and renders it for each of
// its clusters, and returns what it rendered to as templates: claimed by the
// release's policy, placed only where the release has them. Clusters for which the
// release is alike are rendered for once.
func (b *builder) parts(release *template, base scope) []*template {
	b.schedule(release)
	rules := b.overrides.Rules(release.subject)
	alike := map[string]*likeness{}
	byRef, failed := map[object.Ref]*template{}, map[string]bool{}
	var order []*template
	for _, target := range release.own {
		i, ok := b.out.index[target.Name]
		if !ok {
			continue
		}
		c, matching := b.fleet.Clusters()[i], b.out.matching(rules.List, i)
		key := matching + "\x00" + c.Name
		if !flux.AsksCluster(release.object) {
			key = matching + "\x00" + versions(c)
		}
		l, ok := alike[key]
		if !ok {
			b.releases.recent = nil
			l = &likeness{objs: b.renderFor(release, rules, matching, base, c)}
			l.failed = b.releases.recent
			alike[key] = l
		}
		for _, id := range l.failed {
			b.releases.fail(id, c.Name)
			b.releases.aim(id, release.own)
			failed[c.Name] = true
		}
		objs := l.objs
		for _, o := range objs {
			t := byRef[o.Ref()]
			if t == nil {
				t = b.newTemplate(o)
				t.policy, t.part = release.policy, &part{release: release, of: map[string]int{}, failed: failed}
				t.part.variants = []variant{t.variant}
				byRef[o.Ref()] = t
				order = append(order, t)
			}
			t.part.of[c.Name] = t.part.variant(o, b.in.Memo)
		}
	}
	return order
}

// likeness is what a release renders to for clusters for which it is alike.
type likeness struct {
	objs   []*object.Object
	failed []releaseID
}

// variant returns the number of the variant that an object is, and adds it if it is
// a new one.
func (p *part) variant(o *object.Object, m *Memo) int {
	n := slices.IndexFunc(p.variants, func(v variant) bool { return v.object == o })
	if n < 0 {
		n = len(p.variants)
		p.variants = append(p.variants, m.variant(o))
	}
	return n
}

// versions is what a release that asks nothing else may learn of a cluster.
func versions(c *fleet.Cluster) string {
	var s strings.Builder
	s.WriteString(c.Source.Status.KubernetesVersion)
	for _, e := range c.Source.Status.APIEnablements {
		fmt.Fprintf(&s, "\x00%s %v", e.GroupVersion, e.Resources)
	}
	return s.String()
}

// renderFor overrides a release for a cluster and renders it; nil if it cannot, or
// not yet.
func (b *builder) renderFor(release *template, rules override.Rules, matching string, base scope, c *fleet.Cluster) []*object.Object {
	content, err := overridden(release, release.object, release.object.Content(), rules, matching)
	if err != nil {
		d := overrideFailed(release, err)
		d.Message += " (clusters like " + c.Name + ")"
		b.report(*d)
		b.releases.fail(releaseID{ref: release.object.Ref()}, c.Name)
		return nil
	}
	base.cluster = c
	return b.releases.unfoldFor([]*object.Object{release.object.With(content)}, base)
}

// only returns the clusters that may have t: where its release has it, or had it and
// cannot be rendered now; nil for all.
func (b *builder) only(t *template) func(string) bool {
	if t.part == nil {
		return nil
	}
	previous := b.previous(t)
	return func(cluster string) bool {
		return t.in(cluster) != nil || t.part.failed[cluster] && slices.ContainsFunc(previous, func(c target) bool { return c.Name == cluster })
	}
}

// countVariants gives each cluster the replicas that the release has there, where
// they are not divided.
func (b *builder) countVariants(t *template) {
	if t.part == nil || !t.isWorkload() {
		return
	}
	if t.divided() {
		b.warnOfVariants(t)
		return
	}
	asked := make([]int32, len(t.part.variants))
	for n, v := range t.part.variants {
		if replicas, _, ok, err := b.interpret.Replicas(v.content); ok && err == nil {
			asked[n] = replicas
		} else {
			asked[n] = t.replicas
		}
	}
	for i, c := range t.own {
		if t.in(c.Name) != nil {
			t.own[i].Replicas = asked[t.part.of[c.Name]]
			continue
		}
		for _, was := range b.previous(t) {
			if was.Name == c.Name {
				t.own[i].Replicas = was.Replicas
			}
		}
	}
}

// warnOfVariants says that the total to divide is not the same everywhere.
func (b *builder) warnOfVariants(t *template) {
	for _, v := range t.part.variants {
		if n, _, ok, err := b.interpret.Replicas(v.content); ok && err == nil && n != t.replicas {
			b.report(diag.Diagnostic{
				Code: "replicas-differ", Severity: diag.Warning, Pos: t.part.release.object.Pos(),
				Message: fmt.Sprintf("%s renders %s with %d replicas in one cluster and %d in another; %s divides %d", t.part.release.object.Ref(), t.object.Ref(), t.replicas, n, t.policy, t.replicas),
				Hint:    "say the same number everywhere, and let the policy's weights tell clusters apart",
			})
			return
		}
	}
}
