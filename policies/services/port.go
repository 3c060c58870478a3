package services

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// NoPort is a port that a MultiClusterService exposes and its Service does not have.
type NoPort struct {
	Index int // among spec.ports
	What  string
	Has   string // the ports that there are
}

// Ports are the names of the ports of a Service that a MultiClusterService exposes, nil for all, and those that the Service lacks.
// A port is meant by its name if it has one, and otherwise by its number.
func Ports(exposed []karmada.ExposurePort, s *corev1.ServiceSpec) (names []string, lacks []NoPort) {
	for n, e := range exposed {
		i := slices.IndexFunc(s.Ports, func(p corev1.ServicePort) bool {
			return e.Name != "" && p.Name == e.Name || e.Name == "" && p.Port == e.Port
		})
		if i < 0 {
			what := "the name " + e.Name
			if e.Name == "" {
				what = fmt.Sprintf("the number %d", e.Port)
			}
			lacks = append(lacks, NoPort{Index: n, What: what, Has: portsText(&Provided{Service: *s})})
			continue
		}
		if name := s.Ports[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names, lacks
}
