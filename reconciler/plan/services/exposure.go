package services

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// exposure settles what a MultiClusterService exposes.
func (s *settler) exposure(is *service) {
	is.provides, is.calls = setOf(s.in.Policies, rules.Providers(is.native)), setOf(s.in.Policies, rules.Consumers(is.native))
	s.unknown(is, is.native.Providers())
	s.unknown(is, is.native.Consumers())
	d := schedule.Find(s.in.Decisions, is.ref)
	if d == nil || d.Template.Part != nil {
		s.noService(is, d)
		return
	}
	spec, err := rules.Service(d.Template.Content)
	if err != nil {
		s.wrong(is, diag.Diagnostic{
			Code: diag.InvalidValue, Severity: diag.Error, Pos: d.Template.Object.Origin(),
			Message: fmt.Sprintf("%s exposes %s: %v; what was published stays", is.name(), is.ref, err), Hint: "mend the Service",
		})
		return
	}
	ports, lacks := rules.Ports(is.native.Ports, spec)
	for _, l := range lacks {
		s.wrong(is, diag.Diagnostic{
			Code: diag.NoSuchPort, Severity: diag.Error, Pos: is.by.FieldPos([]any{"spec", "ports", l.Index}),
			Message: fmt.Sprintf("%s exposes a port with %s, and %s at %s has none; what was published stays", is.name(), l.What, is.ref, d.Template.Object.Origin()),
			Hint:    "the Service has " + l.Has,
		})
	}
	is.ports = ports
	row := s.written.Row(is.ref)
	if row == nil {
		return
	}
	pairs := make([]pair, 0, len(row.Wants))
	for _, w := range row.Wants {
		if is.provides == nil || is.provides[w.Cluster] {
			pairs = append(pairs, pair{w.Cluster, w.Blob, manifest.Unwritten})
		}
	}
	s.compare(is, pairs)
}

// wrong notes a mistake for which all of a service stays as it was published.
func (s *settler) wrong(is *service, d diag.Diagnostic) {
	is.wrong = true
	s.report(d)
	s.written.Keep(s.in, is.ref)
}

// noService says that what a MultiClusterService exposes is no template, or one that goes where its release goes.
func (s *settler) noService(is *service, d *schedule.Decision) {
	is.wrong = true
	report := diag.Diagnostic{
		Code: diag.NoService, Severity: diag.Error, Pos: is.by.Origin(),
		Message: fmt.Sprintf("%s exposes %s, which is no template of the source; what was published stays", is.name(), is.ref),
		Hint:    "add the Service, with that name and in that namespace; or remove the MultiClusterService",
	}
	if d != nil {
		release := d.Template.Part.Release.Ref()
		report.Message = fmt.Sprintf("%s exposes %s, which %s renders, so that it goes where that goes", is.name(), is.ref, release)
		report.Hint = "select what the release renders in place of the release, or write the Service out beside it"
		s.report(report)
		return
	}
	s.report(report)
	s.written.Keep(s.in, is.ref)
}

// unknown says which clusters are named and not registered.
func (s *settler) unknown(is *service, named []karmada.Named) {
	if len(named) == 0 {
		return
	}
	first := &named[0]
	for i, name := range first.Clusters {
		if _, ok := s.in.Policies.Position(name); ok {
			continue
		}
		s.report(diag.Diagnostic{
			Code: diag.MatchesNothing, Severity: diag.Warning, Pos: is.by.FieldPos(first.At(i)),
			Message: fmt.Sprintf("%s names the cluster %q, which is not registered", is.name(), name),
			Hint:    words.Meant(name, s.exchange.clusters, "registered are "+words.List(s.exchange.clusters)),
		})
	}
}

// setOf are clusters by their names; nil for nil.
func setOf(p *index.Policies, names []string) []bool {
	if names == nil {
		return nil
	}
	set := make([]bool, len(p.Fleet.Clusters()))
	for _, name := range names {
		if i, ok := p.Position(name); ok {
			set[i] = true
		}
	}
	return set
}
