package health

import (
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// The names of rules that are nobody else's.
const (
	builtIn = "built-in"
	kstatus = "kstatus"
)

// terminating is what is said of an object that is being deleted.
func terminating(u *unstructured.Unstructured) verdict {
	v := verdict{state: karmada.ResourceUnhealthy, reason: Terminating, message: "it is being deleted", by: kstatus}
	if result, err := status.Compute(u); err == nil && result.Status == status.TerminatingStatus {
		v.message = result.Message
	}
	return v
}

// ruling is what a rule says that answers yes or no.
func ruling(u *unstructured.Unstructured, healthy bool, by string) verdict {
	if by == interpret.Native {
		by = builtIn
	}
	v := verdict{state: map[bool]karmada.ResourceHealth{true: karmada.ResourceHealthy, false: karmada.ResourceUnhealthy}[healthy], by: by}
	if v.state == karmada.ResourceHealthy {
		return v
	}
	v.reason, v.message = InProgress, "it is not healthy by the rule for its kind"
	if result, err := status.Compute(u); err == nil && result.Status != status.CurrentStatus {
		v.reason, v.message = string(result.Status), result.Message
	}
	return v
}

// reasons are the words for Argo CD's.
var reasons = map[argocd.Status]string{
	argocd.Progressing: InProgress, argocd.Degraded: Failed, argocd.Suspended: Suspended, argocd.Missing: NotFound, argocd.Unknown: Unknown,
}

// byArgoCD asks a rule of Argo CD. A script may say nothing.
func byArgoCD(rule *argocd.Rule, u *unstructured.Unstructured) (v verdict, answers bool, err error) {
	said, err := rule.Judge(u.Object)
	if err != nil || said.Status == "" {
		return v, false, err
	}
	v = verdict{state: karmada.ResourceUnhealthy, reason: reasons[said.Status], message: said.Message, by: rule.Name}
	switch said.Status {
	case argocd.Healthy:
		v.state = karmada.ResourceHealthy
	case argocd.Unknown:
		v.state = karmada.ResourceUnknown
	default:
	}
	return v, true, nil
}

// byKstatus asks kstatus; false if it cannot read the status.
func byKstatus(u *unstructured.Unstructured) (v verdict, isRead bool) {
	result, err := status.Compute(u)
	switch {
	case err != nil || result.Status == status.UnknownStatus:
		return verdict{state: karmada.ResourceUnknown, reason: Unknown, message: "its status cannot be read", by: kstatus}, false
	case result.Status == status.CurrentStatus:
		return verdict{state: karmada.ResourceHealthy, by: kstatus}, true
	}
	return verdict{state: karmada.ResourceUnhealthy, reason: string(result.Status), message: result.Message, by: kstatus}, true
}

// conventional asks kstatus of a kind that has no rule, and looks at what Kubernetes' conventions
// name: conditions, and whether there is a status at all.
func conventional(u *unstructured.Unstructured, at Moment) verdict {
	v, _ := byKstatus(u)
	if v.state != karmada.ResourceHealthy || isKubernetes(u.GroupVersionKind().Group) {
		return v
	}
	s, _, _ := unstructured.NestedMap(u.Object, "status")
	if len(s) == 0 {
		return withoutStatus(u, at)
	}
	conditions, _, _ := unstructured.NestedSlice(s, "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		reason := ""
		switch name, is := c["type"], c["status"]; {
		case is == "False" && (name == "Available" || name == "Healthy" || name == "Synced"):
			reason = InProgress
		case is == "True" && (name == "Failed" || name == "Degraded"):
			reason = Failed
		}
		if reason != "" {
			v.state, v.reason = karmada.ResourceUnhealthy, reason
			v.message, _ = c["message"].(string)
			return v
		}
	}
	return v
}

// How long a new object may be without a status before it counts as one that never has any: of a
// kind of which others have one, and of any other.
const (
	firstStatus = time.Minute
	noStatus    = 10 * time.Second
)

// withoutStatus is what is said of an object without a status: its controller may not have seen it
// yet, or nobody writes one.
func withoutStatus(u *unstructured.Unstructured, at Moment) verdict {
	v := verdict{state: karmada.ResourceHealthy, by: kstatus}
	created := u.GetCreationTimestamp().Time
	if at.Now.IsZero() || created.IsZero() {
		return v
	}
	patience := noStatus
	if at.HasPeers {
		patience = firstStatus
	}
	age := max(0, at.Now.Sub(created)) // it may have come after that answer
	if age < patience {
		return verdict{state: karmada.ResourceUnhealthy, reason: InProgress, message: "it has no status yet", by: kstatus, again: patience - age}
	}
	return v
}
