// Package health judges objects by what a cluster says of them. It is the one judge: what
// `waybill apply --wait` waits for, what the status branches say and what Karmada's
// aggregatedStatus has as health are its answers.
//
// Where an interpreter has a rule for the kind, that decides: a customization's, one for the
// kinds of other projects, or Karmada's own for a built-in kind (Karmada sections D.9 and E.9).
// For all other kinds, which Karmada calls healthy without a look, kstatus decides. Either
// way, kstatus says why an object is not healthy, and tells one that gets there from one that
// failed. An object that is being deleted is not healthy, whatever its status says.
package health

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// The reasons of an object that is not healthy, in kstatus's words.
const (
	InProgress  = string(status.InProgressStatus)
	Failed      = string(status.FailedStatus)
	Terminating = string(status.TerminatingStatus)
	NotFound    = string(status.NotFoundStatus)
	Unknown     = string(status.UnknownStatus)
)

// Health is what can be said of one object in one cluster.
type Health struct {
	State karmada.ResourceHealth
	// Reason is one of the reasons; empty for what is healthy.
	Reason  string
	Message string
	// Generation is that of the object, and Observed the one that its status is about, where
	// it says so. They are what a verdict is founded on.
	Generation, Observed int64
	// Status is what the cluster reports of the object (Karmada section D.7), as JSON, for
	// kinds whose reports somebody aggregates. Of other kinds it is left out: a status may hold
	// anything.
	Status json.RawMessage
}

// healthless are core kinds that have no health: being there is all that they do.
var healthless = []string{"ConfigMap", "Secret", "ServiceAccount", "LimitRange", "ResourceQuota", "Endpoints"}

// Has reports a kind with more to its health than that the object is there.
func Has(r object.Ref) bool {
	return r.Group != "rbac.authorization.k8s.io" && (r.Group != "" || !slices.Contains(healthless, r.Kind)) && !strings.HasSuffix(r.Kind, "Class")
}

// There is the health of an object that is there, and whose kind has no more to it.
func There() Health { return Health{State: karmada.ResourceHealthy} }

// Missing is the health of an object that is not there.
func Missing() Health {
	return Health{State: karmada.ResourceUnhealthy, Reason: NotFound, Message: "it is not there"}
}

// Of judges a live object.
func Of(in *interpret.Interpreter, live map[string]any) Health {
	u := &unstructured.Unstructured{Object: live}
	h := Health{Generation: u.GetGeneration(), Status: reported(in, live)}
	h.Observed, _, _ = unstructured.NestedInt64(live, "status", "observedGeneration")
	result, err := status.Compute(u)
	switch by := in.Answered(live, karmada.InterpreterOperationInterpretHealth); {
	case u.GetDeletionTimestamp() != nil:
		h.State = karmada.ResourceUnhealthy
	case by != "":
		h.State = in.Health(live)
	case err != nil || result.Status == status.UnknownStatus:
		h.State = karmada.ResourceUnknown
	case result.Status == status.CurrentStatus:
		h.State = karmada.ResourceHealthy
	default:
		h.State = karmada.ResourceUnhealthy
	}
	switch {
	case h.State == karmada.ResourceHealthy:
	case h.State == karmada.ResourceUnknown || err != nil:
		h.Reason, h.Message = Unknown, "its status cannot be read"
	case result.Status == status.CurrentStatus:
		h.Reason, h.Message = InProgress, "it is not healthy by the rule for its kind"
	default:
		h.Reason, h.Message = string(result.Status), result.Message
	}
	return h
}

// reported is what is written of an object's status.
func reported(in *interpret.Interpreter, live map[string]any) json.RawMessage {
	const most = 16 << 10 // bytes; a larger one is left out
	if in.Answered(live, karmada.InterpreterOperationInterpretStatus) == "" && in.Answered(live, karmada.InterpreterOperationAggregateStatus) == "" {
		return nil
	}
	report, err := in.Reflect(live)
	if err != nil || report == nil {
		return nil
	}
	data, err := json.Marshal(report)
	if err != nil || len(data) > most {
		return nil
	}
	return data
}
