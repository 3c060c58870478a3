package services

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"
)

// Reason is why exports of a Service are in conflict, in the words of the Multi-Cluster Services API.
type Reason = mcs.ServiceExportConditionReason

// Provided is a Service as some clusters export it.
type Provided struct {
	Clusters []string // in the order of names
	Service  corev1.ServiceSpec
	Export   mcs.ServiceExportSpec
}

// Conflict is a difference between what a cluster exports, Winner, and what others do.
type Conflict struct {
	Reason   Reason
	Winner   string
	Clusters []string
	Message  string // both values
}

// Merged is what comes of a Service that clusters export.
type Merged struct {
	Conflicts []Conflict
	// Ports are those of all; Beside are those among them that cannot stand beside another one of the same number or name, with
	// the cluster that has it.
	Ports  []corev1.ServicePort
	Beside []string
	// Labels and Annotations are those that the winner exports.
	Labels, Annotations map[string]string
	Affinity            corev1.ServiceAffinity
	AffinityConfig      map[string]any
	// Lost are the clusters whose endpoints are not imported: they are headless and the winner is not, or it is and they are not.
	Lost map[string]bool
}

// Conflicting reports a conflict with a reason.
func (m *Merged) Conflicting(r Reason) bool {
	return slices.ContainsFunc(m.Conflicts, func(c Conflict) bool { return c.Reason == r })
}

// Merge compares what clusters export of one Service, in the order of their first clusters: that of the lowest name wins.
func Merge(all []Provided) Merged {
	m := Merged{Lost: map[string]bool{}}
	if len(all) == 0 {
		return m
	}
	first := &all[0]
	m.Affinity, m.AffinityConfig = affinity(&first.Service), configOf(&first.Service)
	m.Labels, m.Annotations = first.Export.ExportedLabels, first.Export.ExportedAnnotations
	for i := range all {
		p := &all[i]
		lost := headless(p) != headless(first)
		for _, d := range differences {
			is, was := d.of(p), d.of(first)
			if is == was || lost && d.reason != mcs.ServiceExportReasonTypeConflict {
				continue
			}
			m.Conflicts = append(m.Conflicts, Conflict{
				Reason: d.reason, Winner: first.Clusters[0], Clusters: p.Clusters,
				Message: fmt.Sprintf("%s: %s in %s, %s in %s", d.what, was, first.Clusters[0], is, p.Clusters[0]),
			})
		}
		if lost {
			for _, c := range p.Clusters {
				m.Lost[c] = true
			}
			continue
		}
		m.add(p)
	}
	return m
}

// add adds the ports of what some clusters export; what is there already stays.
func (m *Merged) add(p *Provided) {
	for _, port := range p.Service.Ports {
		i := slices.IndexFunc(m.Ports, func(o corev1.ServicePort) bool { return o.Name == port.Name || collide(o, port) })
		switch {
		case i < 0:
			m.Ports = append(m.Ports, corev1.ServicePort{Name: port.Name, Protocol: protocol(port), Port: port.Port, AppProtocol: port.AppProtocol})
		case portText(m.Ports[i]) != portText(port):
			m.Beside = append(m.Beside, fmt.Sprintf("%s of %s beside %s", portText(port), p.Clusters[0], portText(m.Ports[i])))
		}
	}
}

// difference is what exports may be in conflict about.
type difference struct {
	reason Reason
	what   string
	of     func(*Provided) string
}

// differences are all of them.
var differences = []difference{
	{mcs.ServiceExportReasonTypeConflict, "type", func(p *Provided) string {
		if headless(p) {
			return "headless"
		}
		return "with a cluster IP"
	}},
	{mcs.ServiceExportReasonPortConflict, "ports", portsText},
	{mcs.ServiceExportReasonSessionAffinityConflict, "session affinity", func(p *Provided) string { return string(affinity(&p.Service)) }},
	{mcs.ServiceExportReasonSessionAffinityConfigConflict, "seconds of session affinity", seconds},
	{mcs.ServiceExportReasonLabelsConflict, "exported labels", func(p *Provided) string { return pairs(p.Export.ExportedLabels) }},
	{mcs.ServiceExportReasonAnnotationsConflict, "exported annotations", func(p *Provided) string { return pairs(p.Export.ExportedAnnotations) }},
}

func headless(p *Provided) bool { return p.Service.ClusterIP == corev1.ClusterIPNone }

func affinity(s *corev1.ServiceSpec) corev1.ServiceAffinity {
	if s.SessionAffinity == "" {
		return corev1.ServiceAffinityNone
	}
	return s.SessionAffinity
}

// seconds are for how long a client is sent to one endpoint.
func seconds(p *Provided) string {
	c := p.Service.SessionAffinityConfig
	if affinity(&p.Service) == corev1.ServiceAffinityNone || c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		return "as by default"
	}
	return strconv.Itoa(int(*c.ClientIP.TimeoutSeconds))
}

// configOf is the session affinity's config as a manifest has it; nil for none.
func configOf(s *corev1.ServiceSpec) map[string]any {
	if s.SessionAffinityConfig == nil {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.SessionAffinityConfig)
	if err != nil {
		panic("services: what was decoded does not encode: " + err.Error())
	}
	return content
}

func pairs(m map[string]string) string {
	if len(m) == 0 {
		return "none"
	}
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+m[k])
	}
	return strings.Join(all, " ")
}

func protocol(p corev1.ServicePort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

// collide reports ports that no Service may have beside each other.
func collide(a, b corev1.ServicePort) bool { return a.Port == b.Port && protocol(a) == protocol(b) }

// portText is a port as people read it, as in http 80/TCP.
func portText(p corev1.ServicePort) string {
	text := strings.TrimPrefix(fmt.Sprintf("%s %d/%s", p.Name, p.Port, protocol(p)), " ")
	if p.AppProtocol != nil {
		text += " " + *p.AppProtocol
	}
	return text
}

// portsText are the ports of what clusters export, by name.
func portsText(p *Provided) string {
	var all []string
	for _, port := range p.Service.Ports {
		all = append(all, portText(port))
	}
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// union adds ports to those of a manifest, as far as these can stand beside them.
func union(have any, ports []corev1.ServicePort) (all []any, added bool) {
	list, _ := have.([]any)
	all = slices.Clone(list)
	var is []corev1.ServicePort
	for _, h := range list {
		var p corev1.ServicePort
		content, _ := h.(map[string]any)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &p); err == nil {
			is = append(is, p)
		}
	}
	for _, p := range ports {
		if slices.ContainsFunc(is, func(o corev1.ServicePort) bool { return o.Name == p.Name || collide(o, p) }) {
			continue
		}
		port := map[string]any{"port": int64(p.Port), "protocol": string(protocol(p))}
		if p.Name != "" {
			port["name"] = p.Name
		}
		if p.AppProtocol != nil {
			port["appProtocol"] = *p.AppProtocol
		}
		all, is, added = append(all, port), append(is, p), true
	}
	return all, added
}

// Service is the spec of a Service.
func Service(content map[string]any) (*corev1.ServiceSpec, error) {
	var s corev1.Service
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &s); err != nil {
		return nil, fmt.Errorf("reading the Service: %w", err)
	}
	return &s.Spec, nil
}
