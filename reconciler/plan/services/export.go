package services

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/policies/interpret"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// export settles what a ServiceExport exports: the Service of its name has to be where it is.
func (s *settler) export(is *service) {
	is.unexported = map[string]rules.Reason{}
	exports, service := s.row(rules.ExportOf(is.ref)), s.row(is.ref)
	if exports == nil {
		return
	}
	var without []string
	for _, w := range exports.Wants {
		name := s.exchange.clusters[w.Cluster]
		if service != nil {
			if _, there := service.Wanted(int(w.Cluster)); there {
				continue
			}
		}
		without, is.unexported[name] = append(without, name), mcs.ServiceExportReasonNoService
	}
	if len(without) > 0 {
		s.report(diag.Diagnostic{
			Code: diag.NoService, Severity: diag.Warning, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s exports %s, which is not delivered to %s: nothing is exported there", is.name(), is.ref, words.List(without)),
			Hint:    "have a policy place the Service there, or the ServiceExport elsewhere",
		})
	}
	s.compare(is, func(cluster string) bool {
		if is.unexported[cluster] != "" {
			return false
		}
		i, _ := s.in.Policies.Position(cluster)
		_, wanted := exports.Wanted(i)
		return wanted
	})
}

// compare holds the Services of providers against each other.
func (s *settler) compare(is *service, provides func(cluster string) bool) {
	all := s.provided(is, provides)
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
		s.report(s.conflict(is, &c, others))
	}
	if len(all) > 0 && all[0].Service.ClusterIP == corev1.ClusterIPNone {
		s.hostnames(is, all)
	}
}

// conflict says that exports differ.
func (s *settler) conflict(is *service, c *rules.Conflict, others []string) diag.Diagnostic {
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

// provided are the Services of providers as they would be written, those that are alike as one.
func (s *settler) provided(is *service, provides func(cluster string) bool) (all []rules.Provided) {
	row, exports := s.row(is.ref), s.row(rules.ExportOf(is.ref))
	if row == nil {
		return nil
	}
	type key struct{ service, export int32 }
	at := map[key]int{}
	for _, w := range row.Wants {
		name := s.exchange.clusters[w.Cluster]
		if w.Blob < 0 || !provides(name) {
			continue
		}
		k := key{service: w.Blob, export: manifest.Unwritten}
		if is.native == nil {
			e, _ := exports.Wanted(int(w.Cluster))
			k.export = e.Blob
		}
		i, known := at[k]
		if !known {
			i = -1
			if p := s.read(is, k.service, k.export, name); p != nil {
				i, all = len(all), append(all, *p)
			}
			at[k] = i
		}
		if i < 0 {
			is.unexported[name] = mcs.ServiceExportReasonInvalidServiceType
			continue
		}
		all[i].Clusters = append(all[i].Clusters, name)
	}
	slices.SortStableFunc(all, func(a, b rules.Provided) int { return cmp.Compare(a.Clusters[0], b.Clusters[0]) })
	return all
}

// read reads a Service and what exports it; nil if it cannot be exported, which is said.
func (s *settler) read(is *service, service, export int32, cluster string) *rules.Provided {
	p := rules.Provided{}
	spec, err := rules.Service(s.content(service))
	if err == nil && spec.Type == corev1.ServiceTypeExternalName {
		s.report(diag.Diagnostic{
			Code: diag.InvalidServiceType, Severity: diag.Error, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s: %s: %s is of type ExternalName in %s, and has no endpoints to export", is.name(), mcs.ServiceExportReasonInvalidServiceType, is.ref, cluster),
			Hint:    "write another type, or remove what exports it",
		})
		return nil
	}
	if err == nil && export >= 0 {
		var of *mcs.ServiceExportSpec
		if of, err = rules.Exported(s.content(export)); err == nil {
			p.Export = *of
		}
	}
	if err != nil {
		s.report(diag.Diagnostic{
			Code: diag.InvalidValue, Severity: diag.Error, Pos: is.by.Origin(),
			Message: fmt.Sprintf("%s: in %s: %v", is.name(), cluster, err), Hint: "mend it, or the overrides for it",
		})
		return nil
	}
	p.Service = *spec
	return &p
}

// content is what a manifest says; nil if it is encrypted.
func (s *settler) content(blob int32) map[string]any {
	data, err := s.written.Blobs.At(blob).Bytes()
	if err != nil {
		return nil
	}
	content, err := object.DecodeCanonical(data)
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
	case d == nil:
		return nil
	case d.Template.Object.Pos() != is.imported.Pos(): // the source has one of that name
		is.wrong = true
		s.stays(is.derived)
		return nil
	}
	completed := rules.Completed(d.Template.Object, &is.merged)
	if completed == d.Template.Object {
		return nil
	}
	d.Template = template.New(completed, &template.Memo{})
	return d
}

// hostnames says that pods of StatefulSets of one headless Service have one name in several clusters.
func (s *settler) hostnames(is *service, all []rules.Provided) {
	var clusters []string
	for i := range all {
		clusters = append(clusters, all[i].Clusters...)
	}
	slices.Sort(clusters)
	for _, d := range s.statefulSets()[is.ref] {
		taken := map[int64]string{} // ordinals, by the cluster that has them
		for _, cluster := range clusters {
			first, n := s.ordinals(d.Ref(), cluster)
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
func (s *settler) ordinals(r object.Ref, cluster string) (first, n int64) {
	row := s.row(r)
	if row == nil {
		return 0, 0
	}
	i, _ := s.in.Policies.Position(cluster)
	w, ok := row.Wanted(i)
	if !ok || w.Blob < 0 {
		return 0, 0
	}
	spec, _ := s.content(w.Blob)["spec"].(map[string]any)
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
