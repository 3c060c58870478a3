// Package services says what services clusters exchange by a plan: which clusters provide and which call one, what the Services
// derived from ServiceImports are completed with, and what is wrong with all that. It adds to each cluster's tree the file that
// says what the cluster exports and imports (tree.ServicesFile). Endpoints are no part of a plan.
package services

import (
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
)

// Exchange is what services clusters are to exchange. The nil one is that of a source which exchanges none.
type Exchange struct {
	diags    []diag.Diagnostic
	services []*service // in the order of names, of one name by MultiClusterService first
	clusters []string
	pulls    []bool // of each: its syncMode is Pull
	keyless  []bool // of each: that, and its agent has no key
	// endpoints are who delivers them: see exchange.Services.
	endpoints exchange.Endpoints
}

// service is a Service that clusters export to others in one of the two ways.
type service struct {
	ref object.Ref
	// by is what exports it: a MultiClusterService, or the ServiceExport. Nil where there is an import alone.
	by     *object.Object
	native *karmada.MultiClusterServiceSpec // nil: by a ServiceExport
	// imported is the ServiceImport, and derived what is derived from it; nil and zero for none.
	imported *object.Object
	derived  object.Ref
	// provides and calls are the clusters that a MultiClusterService names; nil for all.
	provides, calls []bool
	ports           []string // that are imported, by name; nil for all
	unexported      map[int32]rules.Reason
	merged          rules.Merged
	// wrong reports a mistake for which all stays as it was published.
	wrong bool
}

// refuse notes that a cluster does not export the service, and why.
func (is *service) refuse(cluster int32, why rules.Reason) {
	if is.unexported == nil {
		is.unexported = map[int32]rules.Reason{}
	}
	is.unexported[cluster] = why
}

// Write writes decisions out, and finds what services clusters exchange by them. It returns the decisions, of which those about Services
// that are derived are completed.
func Write(in manifest.Input) (manifest.Result, *Exchange, []schedule.Decision) {
	written := manifest.Write(in)
	s := settler{in: &in, written: &written, exchange: &Exchange{}}
	s.find()
	if len(s.exchange.services) == 0 {
		return written, nil, in.Decisions
	}
	for _, c := range in.Policies.Fleet.Clusters() {
		s.exchange.clusters = append(s.exchange.clusters, c.Name)
		isPulled := c.Source.Spec.SyncMode == karmada.Pull
		s.exchange.pulls = append(s.exchange.pulls, isPulled)
		s.exchange.keyless = append(s.exchange.keyless, isPulled && c.Source.Annotations[heartbeat.AgentKey] == "")
	}
	s.exchange.endpoints = in.Config.Services.Endpoints
	return written, s.exchange, schedule.Replaced(in.Decisions, s.settle())
}

// settler settles what services clusters exchange.
type settler struct {
	in       *manifest.Input
	written  *manifest.Result
	exchange *Exchange
	sets     map[object.Ref][]*schedule.Decision // StatefulSets, by their Services; nil until it is asked
}

func (s *settler) report(d diag.Diagnostic) { s.exchange.diags = append(s.exchange.diags, d) }

// find finds the services.
func (s *settler) find() {
	for _, e := range s.in.Policies.Set.Exposures {
		s.exchange.services = append(s.exchange.services, &service{ref: rules.Of(e.Object.Ref()), by: e.Object, native: &e.Value.Spec})
	}
	exported := map[object.Ref]*service{}
	of := func(d *schedule.Decision) *service {
		ref := rules.Of(d.Ref())
		if exported[ref] == nil {
			exported[ref] = &service{ref: ref}
			s.exchange.services = append(s.exchange.services, exported[ref])
		}
		return exported[ref]
	}
	for i := range s.in.Decisions {
		switch d := &s.in.Decisions[i]; {
		case d.Ref().Group != rules.Group:
		case d.Ref().Kind == rules.ExportKind:
			of(d).by = d.Template.Object
		case d.Ref().Kind == rules.ImportKind:
			of(d).imported = d.Template.Object
		}
	}
	slices.SortStableFunc(s.exchange.services, func(a, b *service) int { return a.ref.Compare(b.ref) })
}

// settle settles each service, and writes derived Services anew that are completed, about which it returns the decisions, in their order.
func (s *settler) settle() (completed []schedule.Decision) {
	for _, is := range s.exchange.services {
		if is.native != nil {
			s.exposure(is)
			continue
		}
		if is.by != nil {
			s.export(is)
		}
		if is.imported == nil {
			continue
		}
		s.noExport(is)
		if d := s.derived(is); d != nil {
			completed = append(completed, *d)
		}
	}
	if len(completed) > 0 {
		slices.SortFunc(completed, func(a, b schedule.Decision) int { return a.Ref().Compare(b.Ref()) })
		s.written.Rewrite(*s.in, completed)
	}
	return completed
}

// style says how it is imported.
func (is *service) style() string {
	if is.native != nil {
		return rules.Native
	}
	return rules.ByImport
}

// name says what exports a service, or imports it.
func (is *service) name() string {
	if is.by == nil {
		return policies.Name(is.imported)
	}
	return policies.Name(is.by)
}
