// Package expand puts what releases render to in the place of the releases.
//
// A release that no policy selects is rendered once, and its objects are templates of
// their own. One that a policy selects is placed and overridden like any template, then
// rendered for each of its clusters; its objects are templates that its policy claims.
// One in a cluster's own directory is rendered for that cluster. What a release renders
// to may hold releases and policies again, so that expanding goes on until none is left.
//
// Expand is pure: it asks for what has to be rendered through Render, and nothing else.
// A release that cannot be rendered is a Failure: what it rendered to before is then not
// known to be gone, and the plan keeps it where it is.
package expand

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// Expand expands a source. The error is Render's. It has the jobs of the plan before done
// first, because most of them are wanted again: then one round is enough.
func Expand(in Input, render Render) (Result, error) {
	rendered := map[string]engine.Rendered{}
	repository := flux.Identify(in.Source.Config.Flux.Self, in.Source.Objects, in.Source.Bound)
	var g *ground
	for wanted := in.Memo.jobs; ; {
		if err := do(wanted, render, rendered); err != nil {
			return Result{}, err
		}
		x := newExpander(&in, &repository, rendered)
		g = x.ground(x.unfoldUnselected(in.Source.Objects), g)
		r := x.expand(g)
		if len(x.wanted) == 0 {
			in.Memo.jobs = x.done
			return r, nil
		}
		wanted = x.wanted
	}
}

// do has jobs, which are by key, done in the order of their keys, and adds the results.
func do(jobs map[string]engine.Job, render Render, rendered map[string]engine.Rendered) error {
	if len(jobs) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(jobs))
	list := make([]engine.Job, len(keys))
	for i, key := range keys {
		list[i] = jobs[key]
	}
	results, err := render(list)
	if err != nil {
		return err
	}
	for i, key := range keys {
		rendered[key] = results[i]
	}
	return nil
}

// ground is what there is before releases that policies select are placed.
type ground struct {
	of       []*object.Object // what it is made of
	policies *index.Policies
	units    []unit.Unit
	windows  unit.Windows
	broken   []render.Broken
	objects  []*object.Object                  // that are no policies, in the order of their refs
	madeOf   map[*object.Object]*object.Object // what Ingresses among them are made of
	lookup   *flux.Index                       // of objects
	diags    []diag.Diagnostic
}

// ground makes the ground of objects; that of the round before, which may be nil, if they
// are the same.
func (x *expander) ground(objs []*object.Object, before *ground) *ground {
	if before != nil && slices.Equal(before.of, objs) {
		return before
	}
	set, objects, diags := policies.Settings{Failover: x.in.Source.Config.Failover.Enabled}.Load(objs, &x.in.Memo.Policies)
	objects, ignored := withoutSubscriptions(&x.in.Source.Config, x.repository, objects)
	diags = append(diags, ignored...)
	units, unbound := unit.Of(&set, x.in.Source.Config.Rollout)
	windows, _ := unit.ReadWindows(x.in.Source.Config.Rollout.Windows) // whoever reads the source says what is wrong
	diags = slices.Concat(diags, unbound)
	set.Observe(x.in.Observed)
	set.Failover.Marks, set.Failover.Now = x.in.Marks, x.in.Now
	objects, unmade := withoutImports(&x.in.Source.Config, objects)
	diags = append(diags, unmade...)
	objects, ofImports := services.WithDerived(objects, func(o *object.Object) services.Derivation {
		return x.in.Memo.services.Or(o, func() services.Derivation { return services.Derive(o) })
	})
	objects, madeOf, ofIngresses := ingress.WithMade(objects, set.Ingresses, func(o *object.Object) *object.Object {
		return x.in.Memo.ingresses.Or(o, func() *object.Object { return ingress.Make(o) })
	})
	diags = slices.Concat(diags, ofImports, ofIngresses)
	render.SortObjects(objects)
	return &ground{
		of: objs, policies: index.Of(set, x.in.Source.Config.SkipNamespaces, &x.in.Memo.Policies), broken: set.Broken,
		units: units, windows: windows, objects: objects, madeOf: madeOf, lookup: flux.NewIndex(objects), diags: diags,
	}
}

func (x *expander) expand(g *ground) Result {
	x.report(g.diags...)
	r := Result{
		Policies: g.policies, Units: g.units, Windows: g.windows, Bound: map[string][]*object.Object{},
		HoldReason: brokenByRelease(g.broken, x.in.Source.Objects),
	}
	base := scope{around: g.objects, lookup: g.lookup}
	r.Templates = x.templates(g, base)
	for _, c := range g.policies.Fleet.Clusters() {
		if own := x.in.Source.Bound[c.Name]; len(own) > 0 {
			mark := len(x.replaced)
			r.Bound[c.Name] = x.withoutSources(x.unfoldFor(own, scope{cluster: c, bound: true, around: g.objects, lookup: g.lookup}), mark)
		}
	}
	x.useUp(r.Templates, r.Bound)
	r.Failures, r.ContentUnknown = x.releases.failures(x.in.Releases)
	for _, f := range r.Failures {
		if r.HoldReason == "" {
			r.HoldReason = f.hidesPolicy()
		}
	}
	r.Restless = x.restless
	r.Releases, r.UsedUp, r.Recipes, r.Drew, r.Sensitive = x.releases.remembered(), x.usedUp, x.recipes, x.drew, x.sensitive
	for _, ref := range slices.SortedFunc(maps.Keys(x.nested.inners), object.Ref.Compare) {
		r.Inners = append(r.Inners, x.nested.inners[ref])
	}
	r.Unclaimed = x.nested.unclaimed
	r.Diags, r.Lacks = append(x.diags, x.said.diagnostics(x.about)...), x.said.lacks()
	r.About = x.about
	return r
}

// brokenByRelease says that a policy which a release renders has an error: there is no
// earlier version of it to go by. Those that the source writes out were taken from an
// earlier commit before.
func brokenByRelease(broken []render.Broken, written []*object.Object) string {
	have := object.Refs(written)
	for _, b := range broken {
		if !have[b.Ref] {
			return fmt.Sprintf("it would change while %s, which a release renders, has an error", b.Ref)
		}
	}
	return ""
}

// templates makes the templates: of the objects of a ground, and of what the releases that a policy
// selects render to.
func (x *expander) templates(g *ground, base scope) []*template.Template {
	var all, releases []*template.Template
	byRef := make(map[object.Ref]*template.Template, len(g.objects))
	add := func(t *template.Template) { all, byRef[t.Ref()] = append(all, t), t }
	for _, o := range g.objects {
		t := template.New(o, &x.in.Memo.Template)
		t.MadeOf = g.madeOf[o]
		if t.IsRelease() {
			x.nested.standing[t.Ref()] = true
			releases = append(releases, t)
		}
		add(t)
	}
	for _, release := range releases {
		for _, t := range x.parts(g.policies, release, base) {
			if other := byRef[t.Ref()]; other != nil {
				x.report(x.about.note(release.Ref(), alsoAt(release.Object, t.Object, other.Object))...)
				continue
			}
			if d := match.Own(t.Object); d != nil {
				x.report(*d)
				continue
			}
			add(t)
		}
	}
	slices.SortFunc(all, func(a, b *template.Template) int { return a.Ref().Compare(b.Ref()) })
	return all
}
