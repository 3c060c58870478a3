package services

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// export settles what a ServiceExport exports: the Service of its name has to be where it is.
func (s *settler) export(is *service) {
	exports, service := s.written.Row(rules.ExportOf(is.ref)), s.written.Row(is.ref)
	if exports == nil {
		return
	}
	var wants []manifest.Want
	if service != nil {
		wants = service.Wants
	}
	var without []string
	pairs := make([]pair, 0, len(exports.Wants))
	for _, w := range exports.Wants {
		for len(wants) > 0 && wants[0].Cluster < w.Cluster {
			wants = wants[1:]
		}
		if len(wants) > 0 && wants[0].Cluster == w.Cluster {
			pairs = append(pairs, pair{w.Cluster, wants[0].Blob, w.Blob})
			continue
		}
		is.refuse(w.Cluster, mcs.ServiceExportReasonNoService)
		without = append(without, s.exchange.clusters[w.Cluster])
	}
	if len(without) > 0 {
		s.report(diag.Diagnostic{
			Code: diag.NoService, Severity: diag.Warning, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s exports %s, which is not delivered to %s: nothing is exported there", is.name(), is.ref, words.List(without)),
			Hint:    "have a policy place the Service there, or the ServiceExport elsewhere",
		})
	}
	s.compare(is, pairs)
}

// noExport says that nothing exports what is imported.
func (s *settler) noExport(is *service) {
	if d := schedule.Find(s.in.Decisions, rules.ExportOf(is.ref)); d != nil && d.Outcome != schedule.Unclaimed {
		return
	}
	s.report(diag.Diagnostic{
		Code: diag.NoExport, Severity: diag.Warning, Pos: is.imported.Origin(),
		Message: fmt.Sprintf("%s imports %s, which no ServiceExport exports from any cluster: the Service that is derived has no endpoints", policies.Name(is.imported), is.ref),
		Hint:    "write a ServiceExport of that name, and have a policy place it where the Service is; or remove the ServiceImport",
	})
}

// pair is a cluster that exports a Service, and the numbers of the manifests of that and of what exports it.
type pair struct{ cluster, service, export int32 }

// compare holds the Services of providers against each other.
func (s *settler) compare(is *service, pairs []pair) {
	all := s.provided(is, pairs)
	if is.wrong {
		return
	}
	is.merged = rules.Merge(all)
	said := map[rules.Reason]bool{}
	for _, c := range is.merged.Conflicts {
		if said[c.Reason] {
			continue
		}
		said[c.Reason] = true
		var others []string
		for _, o := range is.merged.Conflicts {
			if o.Reason == c.Reason {
				others = append(others, o.Clusters...)
			}
		}
		slices.Sort(others)
		s.report(conflict(is, &c, others))
	}
	if len(all) > 0 && all[0].Service.ClusterIP == corev1.ClusterIPNone {
		s.hostnames(is, pairs)
	}
}

// conflict says that exports differ.
func conflict(is *service, c *rules.Conflict, others []string) diag.Diagnostic {
	comes := "that of the lower name counts"
	switch {
	case c.Reason == mcs.ServiceExportReasonPortConflict && is.native == nil:
		comes = "the derived Service has the ports of all"
		if len(is.merged.Beside) > 0 {
			comes += ", but for " + words.List(is.merged.Beside)
		}
	case c.Reason == mcs.ServiceExportReasonPortConflict:
		comes = "endpoints are found by the names of ports"
	case c.Reason == mcs.ServiceExportReasonTypeConflict:
		comes = "no endpoint of " + words.List(others) + " is imported"
	}
	return diag.Diagnostic{
		Code: diag.ExportConflict, Severity: diag.Warning, Pos: is.by.Origin(),
		Message: fmt.Sprintf("%s: %s: %s exported by %s and %s differ in %s; %s", is.name(), c.Reason, is.ref, c.Winner, words.List(others), c.Message, comes),
		Hint:    "write the Service alike for all clusters that export it, or look at the overrides for it",
	}
}

// class are clusters that export a Service alike.
type class struct {
	is       *rules.Provided // nil if it cannot be exported
	clusters []int32
}

// provided are the Services of providers as they would be written, those that are alike as one.
func (s *settler) provided(is *service, pairs []pair) (all []rules.Provided) {
	type key struct{ service, export int32 }
	at, last := map[key]*class{}, (*class)(nil)
	var of key
	var classes []*class
	for _, p := range pairs {
		if p.service < 0 {
			continue
		}
		if k := (key{p.service, p.export}); last == nil || k != of {
			if of, last = k, at[k]; last == nil {
				last = &class{is: s.read(is, p)}
				at[k], classes = last, append(classes, last)
			}
		}
		switch {
		case last.is != nil:
			last.clusters = append(last.clusters, p.cluster)
		case !is.wrong:
			is.refuse(p.cluster, mcs.ServiceExportReasonInvalidServiceType)
		}
	}
	for _, c := range classes { // in the order of their first clusters, and so of names
		if c.is == nil {
			continue
		}
		for _, cluster := range c.clusters {
			if c.is.Clusters = append(c.is.Clusters, s.exchange.clusters[cluster]); len(classes) == 1 {
				break // nobody asks for the others
			}
		}
		all = append(all, *c.is)
	}
	return all
}

// read reads a Service and what exports it; nil if it cannot be exported, or has a mistake, which is said.
func (s *settler) read(is *service, of pair) *rules.Provided {
	p, cluster := rules.Provided{}, s.exchange.clusters[of.cluster]
	spec, err := rules.Service(content(s.written.Blobs.At(of.service)))
	if err == nil && spec.Type == corev1.ServiceTypeExternalName {
		s.report(diag.Diagnostic{
			Code: diag.InvalidServiceType, Severity: diag.Error, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s: %s: %s is of type ExternalName in %s, and has no endpoints to export", is.name(), mcs.ServiceExportReasonInvalidServiceType, is.ref, cluster),
			Hint:    "write another type, or remove what exports it",
		})
		return nil
	}
	if err != nil {
		s.report(diag.Diagnostic{
			Code: diag.InvalidValue, Severity: diag.Error, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s: in %s: %v; what was published stays", is.name(), cluster, err), Hint: "mend it, or the overrides for it",
		})
		is.wrong = true
		return nil
	}
	if of.export >= 0 {
		exports, wrong := rules.Exported(content(s.written.Blobs.At(of.export)))
		said := policies.Mistakes(is.by, wrong)
		for _, d := range said {
			if !slices.Contains(s.exchange.diags, d) { // of what another cluster has
				s.report(d)
			}
		}
		if diag.HasErrors(said) {
			is.wrong = true
			return nil
		}
		p.Export = *exports
	}
	p.Service = *spec
	return &p
}

// content is what a manifest says; nil if it is encrypted.
func content(b *files.Blob) map[string]any {
	content, err := object.ReadCanonical(b)
	if err != nil {
		return nil
	}
	return content
}

// derived completes the Service that is derived from an import with what is exported, and returns the decision about it; nil where
// it stays as it is.
func (s *settler) derived(is *service) *schedule.Decision {
	if is.imported == nil {
		return nil
	}
	is.derived = object.Ref{Kind: "Service", Namespace: is.ref.Namespace, Name: interpret.DerivedName(is.imported.Content())}
	d := schedule.Find(s.in.Decisions, is.derived)
	switch {
	case d == nil && !diag.HasErrors(rules.Derive(is.imported).Said):
		return nil
	case d == nil, is.wrong, d.Template.Object.Pos() != is.imported.Pos(): // there is a mistake, or the source has one of that name
		s.keepDerived(is)
		return nil
	}
	completed := rules.Completed(d.Template.Object, &is.merged)
	if completed == d.Template.Object {
		return nil
	}
	whole := *d
	whole.Template = template.New(completed, &template.Memo{})
	return &whole
}

// keepDerived has the Service stay that is derived, also where what names it has a mistake.
func (s *settler) keepDerived(is *service) {
	is.wrong = true
	s.written.Keep(s.in, is.derived)
	usual := is.derived
	usual.Name = interpret.DerivedName(map[string]any{"metadata": map[string]any{"name": is.ref.Name}})
	if usual != is.derived && schedule.Find(s.in.Decisions, usual) == nil {
		s.written.Keep(s.in, usual)
	}
}

// hostnames says that pods of StatefulSets of one headless Service have one name in several clusters.
func (s *settler) hostnames(is *service, pairs []pair) {
	for _, d := range s.statefulSets()[is.ref] {
		taken := map[int64]string{} // ordinals, by the cluster that has them
		for _, p := range pairs {
			cluster := s.exchange.clusters[p.cluster]
			first, n := s.ordinals(d.Ref(), int(p.cluster))
			i := int64(0)
			for ; i < n && taken[first+i] == ""; i++ {
				taken[first+i] = cluster
			}
			if i == n {
				continue
			}
			s.report(diag.Diagnostic{
				Code: diag.SameHostname, Severity: diag.Notice, Pos: d.Template.Object.Origin(),
				Message: fmt.Sprintf("%s: pods of %s are called %s-%d in %s and in %s: one DNS name of %s has both addresses",
					is.name(), d.Ref(), d.Ref().Name, first+i, taken[first+i], cluster, is.ref),
				Hint: "override spec.ordinals.start for one of the clusters",
			})
			break
		}
	}
}

// ordinals are the first number of the pods of a StatefulSet in a cluster, and how many there are.
func (s *settler) ordinals(r object.Ref, cluster int) (first, n int64) {
	row := s.written.Row(r)
	if row == nil {
		return 0, 0
	}
	w, ok := row.Wanted(cluster)
	if !ok || w.Blob < 0 {
		return 0, 0
	}
	spec, _ := content(s.written.Blobs.At(w.Blob))["spec"].(map[string]any)
	ordinals, _ := spec["ordinals"].(map[string]any)
	first, _ = ordinals["start"].(int64)
	n, said := spec["replicas"].(int64)
	if !said {
		n = 1
	}
	return first, n
}

// statefulSets are those of the plan by the Services that their pods have names of.
func (s *settler) statefulSets() map[object.Ref][]*schedule.Decision {
	if s.sets != nil {
		return s.sets
	}
	s.sets = map[object.Ref][]*schedule.Decision{}
	for i := range s.in.Decisions {
		d := &s.in.Decisions[i]
		if d.Ref().Kind != "StatefulSet" || d.Ref().Group != "apps" {
			continue
		}
		spec, _ := d.Template.Content["spec"].(map[string]any)
		if name, _ := spec["serviceName"].(string); name != "" {
			of := object.Ref{Kind: "Service", Namespace: d.Ref().Namespace, Name: name}
			s.sets[of] = append(s.sets[of], d)
		}
	}
	return s.sets
}
