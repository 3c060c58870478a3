package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Prefer says whose rule counts for a kind that Karmada and Argo CD both have one for.
type Prefer string

// The preferences. The zero value is PreferBoth.
const (
	PreferBoth    Prefer = "both"
	PreferKarmada Prefer = "karmada"
	PreferArgoCD  Prefer = "argocd"
)

// Judge knows the rules.
type Judge struct {
	// Kinds has the customizations of the source, Karmada's rules and the built-in ones.
	Kinds *interpret.Interpreter
	// Prefer says whose rule counts; empty: both.
	Prefer Prefer
	// Own are the rules that the source has in a ConfigMap like Argo CD's; nil for none.
	Own *argocd.Rules
}

// Renew gives the scripts of the source back what they have spent: each round begins with all of it.
func (j *Judge) Renew() {
	j.Kinds.Renew()
	j.Own.Renew()
}

// Moment is when, and beside what, an object was seen.
type Moment struct {
	// Now is the time of the cluster's last answer, by its own clock; zero if it is not known.
	Now time.Time
	// HasPeers reports that another object of the kind in the cluster has a status.
	HasPeers bool
}

// Of judges a live object.
func (j *Judge) Of(live map[string]any, at Moment) Health {
	u := &unstructured.Unstructured{Object: live}
	first := ask(j.Kinds, live)
	v := j.done(u, first, at)
	h := Health{
		State: v.state, Reason: v.reason, Message: v.message, Failed: v.failed, By: v.by, Again: v.again,
		Generation: u.GetGeneration(), Status: reported(j.Kinds, live),
	}
	h.Observed, _, _ = unstructured.NestedInt64(live, "status", "observedGeneration")
	if ruled := first.state(); ruled != h.State {
		h.Karmada = ruled
	}
	return h
}

// answer is what an interpreter's rule for the kind says of an object.
type answer struct {
	by      string // whose rule it is; empty: there is none
	healthy bool
	err     error
}

// ask asks an interpreter.
func ask(kinds *interpret.Interpreter, live map[string]any) answer {
	a := answer{by: kinds.Answered(live, karmada.InterpreterOperationInterpretHealth), healthy: true}
	if a.by != "" {
		a.healthy, a.err = kinds.IsHealthy(live)
	}
	return a
}

// state is Karmada's word for an answer.
func (a answer) state() karmada.ResourceHealth {
	switch {
	case a.err != nil:
		return karmada.ResourceUnknown
	case a.healthy:
		return karmada.ResourceHealthy
	default:
		return karmada.ResourceUnhealthy
	}
}

// verdict is what one rule, or several, say of an object.
type verdict struct {
	state               karmada.ResourceHealth
	reason, message, by string
	failed              string // rules, and why
	again               time.Duration
}

// done asks the rules in their order, of which the first was asked already.
func (j *Judge) done(u *unstructured.Unstructured, first answer, at Moment) verdict {
	if u.GetDeletionTimestamp() != nil {
		return terminating(u)
	}
	var failed []string // rules, and why
	if interpret.Customized(first.by) {
		if first.err == nil {
			return ruling(u, first.healthy, first.by)
		}
		failed = append(failed, first.err.Error()) // it names the customization
		first = ask(j.Kinds.Uncustomized(), u.Object)
	}
	if rule := j.Own.For(u.GroupVersionKind().Group, u.GetKind()); rule != nil {
		v, answers, err := byArgoCD(rule, u)
		switch {
		case err != nil:
			failed = append(failed, err.Error())
		case answers:
			return v.after(failed)
		}
	}
	all, more := j.known(u, first)
	failed = append(failed, more...)
	if len(all) == 0 {
		all = []verdict{conventional(u, at)}
	}
	if len(failed) > 0 && len(all) == 1 && all[0].by == kstatus && all[0].state == karmada.ResourceHealthy {
		all[0].state, all[0].reason = karmada.ResourceUnknown, Unknown // it knows too little to replace a rule
	}
	return all[slices.IndexFunc(all, func(v verdict) bool { return v.isWorst(all) })].joined(all).after(failed)
}

// isWorst reports the first that is not healthy, or one of those that all are.
func (v verdict) isWorst(all []verdict) bool {
	return v.state != karmada.ResourceHealthy || !slices.ContainsFunc(all, func(o verdict) bool { return o.state != karmada.ResourceHealthy })
}

// joined names all rules that an object is healthy by.
func (v verdict) joined(all []verdict) verdict {
	if v.state != karmada.ResourceHealthy {
		return v
	}
	names := make([]string, 0, len(all))
	for _, o := range all {
		names = append(names, o.by)
		v.message = cmp.Or(v.message, o.message)
	}
	v.by = strings.Join(names, ", ")
	return v
}

// after says which rules failed before this one was asked.
func (v verdict) after(failed []string) verdict {
	if len(failed) == 0 {
		return v
	}
	v.failed = strings.Join(failed, "; ")
	if v.message != "" {
		failed = append(failed, v.message)
	}
	v.message = strings.Join(failed, "; ")
	return v
}

// known asks the rules that come with Waybill: first those that know best why an object is not
// healthy. Failed are those that could not be asked.
func (j *Judge) known(u *unstructured.Unstructured, first answer) (all []verdict, failed []string) {
	group, by := u.GroupVersionKind().Group, first.by
	rule := argoRule(group, u.GetKind())
	switch {
	case by == "" || rule == nil:
	case j.Prefer == PreferKarmada:
		rule = nil
	case j.Prefer == PreferArgoCD:
		by = ""
	}
	if rule != nil {
		v, answers, err := byArgoCD(rule, u)
		switch {
		case err != nil:
			failed = append(failed, err.Error())
		case answers:
			all = append(all, v)
		}
	}
	if by != "" && len(all) == 0 || isKubernetes(group) {
		if v, isRead := byKstatus(u); isRead || by == "" {
			all = append(all, v)
		}
	}
	if by == "" {
		return all, failed
	}
	switch {
	case first.err == nil:
		all = append(all, ruling(u, first.healthy, by))
	case by == interpret.Native:
		all = slices.Insert(all, 0, verdict{state: karmada.ResourceUnknown, reason: Unknown, message: "its status cannot be read", by: builtIn})
	default:
		failed = append(failed, first.err.Error())
	}
	return all, failed
}

// argoRule is Argo CD's rule for a kind. Of Kubernetes' own kinds those count that have no better
// judge here.
func argoRule(group, kind string) *argocd.Rule {
	if isKubernetes(group) && group != "policy" && (group != "batch" || kind != "CronJob") {
		return nil
	}
	return argocd.Builtin().For(group, kind)
}

// kubernetes are the groups of Kubernetes' own API servers whose kinds have a health.
var kubernetes = []string{
	"", "apps", "batch", "autoscaling", "policy", "extensions", "networking.k8s.io", "storage.k8s.io", "apiextensions.k8s.io",
	"apiregistration.k8s.io", "admissionregistration.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io",
	"flowcontrol.apiserver.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "events.k8s.io",
}

func isKubernetes(group string) bool { return slices.Contains(kubernetes, group) }
