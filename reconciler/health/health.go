// Package health judges objects by what a cluster says of them. It is the one judge, and gives
// two answers.
//
// Karmada's is what aggregatedStatus has as health, and by which failover.application moves work:
// that of the rule for the kind, a customization's, one for the kinds of other projects, or
// Karmada's own for a built-in kind (Karmada sections D.9 and E.9). A kind without a rule is
// healthy.
//
// Done is what everybody else asks for: waits, waves, moves and status. It asks, in this order,
//
//   - whether the object is being deleted: then it is not done;
//   - a customization of the source, alone: who writes one says what is healthy;
//   - a script in the source's ConfigMap for Argo CD, alone, unless it says nothing;
//   - the rules that Karmada and Argo CD have for the kind: both have to be satisfied where both
//     have one, unless one is preferred. Karmada's rules look at counters, which a roll-out that
//     never comes up satisfies as long as old pods serve; so where Argo CD has no rule, what is
//     healthy by Karmada's has to be Current by kstatus, too;
//   - kstatus, for kinds without a rule, and the conditions that Kubernetes' conventions name.
//
// Of Kubernetes' own kinds kstatus is asked always, and of Argo CD's rules only those for CronJobs
// and PodDisruptionBudgets. A rule that fails is named, and the next one is asked; where that is
// kstatus alone, an object that it finds nothing wrong with is Unknown.
package health

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// The reasons of an object that is not healthy, in kstatus's words, and one of Argo CD's.
const (
	InProgress  = string(status.InProgressStatus)
	Failed      = string(status.FailedStatus)
	Terminating = string(status.TerminatingStatus)
	NotFound    = string(status.NotFoundStatus)
	Unknown     = string(status.UnknownStatus)
	// Suspended is Argo CD's: the object waits for somebody to go on. It is neither healthy nor failed.
	Suspended = "Suspended"
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
	// Failed names the rules that failed before another one was asked, and why; Message begins with it.
	Failed string
	// By names the rules that say so, joined by ", ": "karmada v1.16.0 apps.kruise.io/CloneSet",
	// "argo-cd v3.5.0 argoproj.io/Rollout", "customization NAME", "built-in", "kstatus".
	By string
	// Again is after how long the answer may be another one although nothing changes; zero for never.
	Again time.Duration
	// Generation is that of the object, and Observed the one that its status is about, where
	// it says so. They are what a verdict is founded on.
	Generation, Observed int64
	// Status is what the cluster reports of the object (Karmada section D.7), as JSON, for
	// kinds whose reports somebody aggregates. Of other kinds it is left out: a status may hold
	// anything.
	Status json.RawMessage
	// Pods are what pods of an object that is not healthy say, the commonest first; nil where nobody asked. PodsUnknown says why they
	// could not be asked.
	Pods        []Pods
	PodsUnknown string
}

// Pods are pods of an object that are not well for the same reason.
type Pods struct {
	Reason    string // as Kubernetes has it, such as ImagePullBackOff
	Container string // empty where it is one of the pod
	Count     int
}

// Edition names the rules that come with Waybill, by their versions: with another one verdicts may be
// others although nothing changed.
const Edition = argocd.Source + ", " + thirdparty.Source

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
