// Package ingress says which Services are in a cluster of those that an object sends traffic to: an Ingress that is made of a
// MultiClusterIngress, and a route of the Gateway API whose backends are ServiceImports, where a cluster has these rewritten. It
// writes such objects once it is known what else clusters are to hold; what is not there is a mistake, and the object stays there
// as it was published.
package ingress

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	rules "github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Result is what is written of decisions, and what services clusters are to exchange.
type Result struct {
	// Decisions are those that were written: those about objects with backends say what was found of these.
	Decisions []schedule.Decision
	Written   manifest.Result
	Exchange  *services.Exchange
	// Backends returns what there is in clusters of the Services that an object sends traffic to; nil where it goes out as it is written.
	Backends func(*schedule.Decision) map[string]rules.Found
}

// Write writes decisions out.
func Write(in manifest.Input) Result {
	in.Later = later(&in)
	written, exchange, decisions := services.Write(in)
	in.Decisions = decisions
	l := newLocator(&in, &written)
	var located []schedule.Decision
	for i := range decisions {
		if !in.Later[decisions[i].Ref()] {
			continue
		}
		d := decisions[i]
		is := l.locate(&d)
		d.Backends = is.backends
		written.Diags = append(written.Diags, is.diags()...)
		located = append(located, d)
	}
	written.Rewrite(in, located)
	keepTwins(&in, &written)
	backends := func(d *schedule.Decision) map[string]rules.Found {
		if !hasBackends(in.Policies, d) {
			return nil
		}
		return l.locate(d).backends
	}
	return Result{Decisions: schedule.Replaced(decisions, located), Written: written, Exchange: exchange, Backends: backends}
}

// later are the objects with backends.
func later(in *manifest.Input) map[object.Ref]bool {
	all := map[object.Ref]bool{}
	for i := range in.Decisions {
		if d := &in.Decisions[i]; hasBackends(in.Policies, d) && d.Template.IsDelivered() {
			all[d.Ref()] = true
		}
	}
	return all
}

// hasBackends reports an object that may be written otherwise than it is, by what a cluster has.
func hasBackends(p *index.Policies, d *schedule.Decision) bool {
	if d.Template.MadeOf != nil {
		return true
	}
	return rules.IsRoute(d.Ref()) && slices.ContainsFunc(d.Targets, func(c schedule.Target) bool { return rewrites(p, c.Name) })
}

// rewrites reports a cluster in which ServiceImports are written as the Services that stand for them.
func rewrites(p *index.Policies, cluster string) bool {
	i, ok := p.Position(cluster)
	return ok && p.Fleet.Clusters()[i].Source.Annotations[karmada.BackendsAnnotation] == karmada.BackendsRewrite
}

// keepTwins has Ingresses of the source stay as they were published of which a MultiClusterIngress would be another one, and says
// which MultiClusterIngresses go nowhere.
func keepTwins(in *manifest.Input, written *manifest.Result) {
	for _, i := range in.Policies.Set.Ingresses {
		switch d := schedule.Find(in.Decisions, rules.Of(i.Object.Ref())); {
		case d == nil || d.Template.MadeOf != i.Object:
			written.Keep(in, rules.Of(i.Object.Ref()))
		case d.Outcome == schedule.Unclaimed:
			written.Diags = append(written.Diags, diag.Diagnostic{
				Code: diag.SelectsNothing, Severity: diag.Warning, Pos: i.Object.Origin(),
				Message: fmt.Sprintf("no policy selects %s, so that no cluster has an Ingress of it", policies.Name(i.Object)),
				Hint:    "have a policy select it: apiVersion " + i.Object.APIVersion() + ", kind " + i.Object.Ref().Kind,
			})
		}
	}
}

// located is what was found of the backends of an object.
type located struct {
	of       *object.Object // where it is written
	backends map[string]rules.Found
	lacks    []lack
}

// lack is something that is not there in some clusters.
type lack struct {
	code     diag.Code
	path     string
	what     string
	hint     string
	at       diag.Pos
	clusters []string
}

// lack notes that something is not there in a cluster.
func (is *located) lack(cluster string, l lack) {
	i := slices.IndexFunc(is.lacks, func(o lack) bool { return o.code == l.code && o.path == l.path && o.what == l.what && o.hint == l.hint })
	if i < 0 {
		i, is.lacks = len(is.lacks), append(is.lacks, l)
	}
	is.lacks[i].clusters = append(is.lacks[i].clusters, cluster)
}

// diags say what is not there.
func (is *located) diags() (all []diag.Diagnostic) {
	for _, l := range is.lacks {
		all = append(all, diag.Diagnostic{
			Code: l.code, Severity: diag.Error, Pos: l.at,
			Message: fmt.Sprintf("%s: %s: %s in %s; what was published there stays", policies.Name(is.of), l.path, l.what, words.List(l.clusters)),
			Hint:    l.hint,
		})
	}
	return all
}
