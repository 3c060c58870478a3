// Package exchange is what waybill.yaml says of the services that clusters exchange (spec.services).
package exchange

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// least is the shortest StaleAfter: with a shorter one the endpoints of a cluster that answers could count as not ready.
const least = 30 * time.Second

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

// Services say how clusters exchange services.
type Services struct {
	Endpoints Endpoints `json:"endpoints"`
	// StaleAfter is how long a cluster may be silent until its endpoints count as not ready in others. With 0s they count for ever.
	StaleAfter metav1.Duration `json:"staleAfter"`
}

// Default is off.
func Default() Services { return Services{Endpoints: Off} }

// Check names the first field with a problem.
func (s *Services) Check() (field, problem string) {
	switch s.Endpoints {
	case Off, Apply, External:
	case "branch":
		return "endpoints", "is branch, and Waybill writes no endpoints to branches; want one of off, apply, external"
	default:
		return "endpoints", fmt.Sprintf("is %q; want one of off, apply, external", s.Endpoints)
	}
	if d := s.StaleAfter.Duration; d < 0 || d > 0 && d < least {
		return "staleAfter", fmt.Sprintf("is %s; want 0s, or %s or more: whether a cluster answers is looked at every 10s", d, least)
	}
	return "", ""
}
