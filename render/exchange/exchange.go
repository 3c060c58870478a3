// Package exchange is what waybill.yaml says of the services that clusters exchange (spec.services).
package exchange

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// least is the shortest StaleAfter: with a shorter one the endpoints of a cluster that answers could count as not ready.
	least = 30 * time.Second
	// shortest and longest bound MinInterval.
	shortest, longest = time.Second, 10 * time.Minute
)

// Endpoints is who brings the endpoints of services to the clusters that import them.
type Endpoints string

// Who that may be.
const (
	Off      Endpoints = "off"      // nobody: what is there stays as it is
	Apply    Endpoints = "apply"    // whoever applies to these clusters
	External Endpoints = "external" // something else, that makes the imports, too
)

// UnmarshalJSON reads one. Without quotes YAML 1.1 reads off as false.
func (e *Endpoints) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		*e = Off
		return nil
	}
	return json.Unmarshal(data, (*string)(e))
}

// Bus is at which refs of a repository the endpoints of clusters are that are not reached by whoever needs them.
type Bus string

// Which those may be.
const (
	Refs   Bus = "refs"   // refs that are no branches; branches where a server takes no others
	Branch Bus = "branch" // branches
)

// Services say how clusters exchange services.
type Services struct {
	Endpoints Endpoints `json:"endpoints"`
	Bus       Bus       `json:"bus,omitempty"`
	// MinInterval is how long a change of endpoints waits until it is pushed to a repository, unless an endpoint is lost by it, and how
	// often it is looked for those of others. With 0s that depends on how many clusters push there.
	MinInterval metav1.Duration `json:"minInterval,omitzero"`
	// StaleAfter is how long a cluster may be silent until its endpoints count as not ready in others. With 0s they count for ever.
	StaleAfter metav1.Duration `json:"staleAfter"`
}

// Default is off.
func Default() Services { return Services{Endpoints: Off, Bus: Refs} }

// Check names the first field with a problem.
func (s *Services) Check() (field, problem string) {
	switch s.Endpoints {
	case Off, Apply, External:
	case "branch":
		return "endpoints", "is branch, and Waybill writes no endpoints to branches: Argo CD leaves EndpointSlices out by its resource.exclusions, and Flux would apply them minutes late; want off, external, or apply, beside either with an agent --services-only"
	default:
		return "endpoints", fmt.Sprintf("is %q; want one of off, apply, external", s.Endpoints)
	}
	switch s.Bus {
	case "", Refs, Branch:
	default:
		return "bus", fmt.Sprintf("is %q; want one of refs, branch", s.Bus)
	}
	if d := s.MinInterval.Duration; d != 0 && (d < shortest || d > longest) {
		return "minInterval", fmt.Sprintf("is %s; want 0s, or from %s to %s", d, shortest, longest)
	}
	if d := s.StaleAfter.Duration; d < 0 || d > 0 && d < least {
		return "staleAfter", fmt.Sprintf("is %s; want 0s, or %s or more: whether a cluster answers is looked at every 10s", d, least)
	}
	return "", ""
}
