// Package health judges objects by what a cluster says of them. It is the one judge, and gives
// two answers.
//
// Karmada's is what aggregatedStatus has as health, and by which failover.application moves work:
// that of the rule for the kind, a customization's, one for the kinds of other projects, or
// Karmada's own for a built-in kind (Karmada sections D.9 and E.9). A kind without a rule is
// healthy.
//
// Done is what everybody else asks for: waits, waves, moves and status. Karmada's rules look at
// counters, which a roll-out that never comes up satisfies as long as old pods serve; so what is
// healthy by them has to be Current by kstatus, too. A customization is asked alone: who writes one
// says what is healthy. For kinds without a rule kstatus decides. Either way, kstatus says why an
// object is not healthy, and tells one that gets there from one that failed. An object that is
// being deleted is not done, whatever its status says.
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
	// State says whether the object is done.
	State karmada.ResourceHealth
	// Karmada is Karmada's answer where that is another one; empty: it is State.
	Karmada karmada.ResourceHealth
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
	ruled := in.Health(live)
	h.State, h.Reason, h.Message = done(in, u, ruled)
	if ruled != h.State {
		h.Karmada = ruled
	}
	return h
}

// done says whether an object is done, and why not. Ruled is what the rule for its kind says.
func done(in *interpret.Interpreter, u *unstructured.Unstructured, ruled karmada.ResourceHealth) (state karmada.ResourceHealth, reason, message string) {
	by := in.Answered(u.Object, karmada.InterpreterOperationInterpretHealth)
	result, err := status.Compute(u)
	isRead := err == nil && result.Status != status.UnknownStatus
	switch {
	case u.GetDeletionTimestamp() != nil && isRead:
		return karmada.ResourceUnhealthy, string(result.Status), result.Message
	case u.GetDeletionTimestamp() != nil:
		return karmada.ResourceUnhealthy, Terminating, "it is being deleted"
	case ruled == karmada.ResourceUnknown || by == "" && !isRead:
		return karmada.ResourceUnknown, Unknown, "its status cannot be read"
	case ruled == karmada.ResourceHealthy && (!isRead || result.Status == status.CurrentStatus || interpret.Customized(by)):
		return karmada.ResourceHealthy, "", ""
	case !isRead:
		return ruled, Unknown, "its status cannot be read"
	case result.Status == status.CurrentStatus:
		return ruled, InProgress, "it is not healthy by the rule for its kind"
	}
	return karmada.ResourceUnhealthy, string(result.Status), result.Message
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
