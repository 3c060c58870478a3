package validate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// contextVersion is the one version of the protocol that webhooks speak.
const contextVersion = "v1alpha1"

// checkCustomization holds that there are scripts which name their functions (section E.9).
// That they are Lua is for who compiles them to say.
func checkCustomization(fs *findings, s *karmada.ResourceInterpreterCustomizationSpec, at field) {
	fs.kind(at.at("target"), s.Target.APIVersion, s.Target.Kind)
	c := &s.Customizations
	scripts := []struct {
		field, function string
		script          *karmada.LuaScript
	}{
		{"retention", "Retain", c.Retention},
		{"replicaResource", "GetReplicas", c.ReplicaResource},
		{"componentResource", "GetComponents", c.ComponentResource},
		{"replicaRevision", "ReviseReplica", c.ReplicaRevision},
		{"statusReflection", "ReflectStatus", c.StatusReflection},
		{"statusAggregation", "AggregateStatus", c.StatusAggregation},
		{"healthInterpretation", "InterpretHealth", c.HealthInterpretation},
		{"dependencyInterpretation", "GetDependencies", c.DependencyInterpretation},
	}
	given := 0
	for _, x := range scripts {
		if x.script == nil {
			continue
		}
		given++
		checkLua(fs, at.at("customizations", x.field, "luaScript"), x.script.LuaScript, x.function)
	}
	if given == 0 {
		fs.warn(at.at("customizations"), diag.ChangesNothing, "has no script", "")
	}
}

func checkLua(fs *findings, at field, script, function string) {
	if script != "" && !strings.Contains(script, function) { // an empty one is as good as none
		fs.warn(at, diag.MissingFunction, "does not define "+function+", which is what is called", "")
	}
}

func checkWebhooks(fs *findings, hooks []karmada.ResourceInterpreterWebhook, at field) {
	if hooks == nil {
		fs.missing(at)
	}
	names := map[string]bool{}
	for i := range hooks {
		h, at := &hooks[i], at.at(i)
		var reasons []string
		for _, e := range validation.IsFullyQualifiedDomainName(apifield.NewPath("name"), h.Name) {
			reasons = append(reasons, e.Detail)
		}
		fs.invalid(at.at("name"), h.Name, reasons)
		if names[h.Name] {
			fs.fail(at.at("name"), diag.DuplicateValue, fmt.Sprintf("%q is the name of another webhook", h.Name), "")
		}
		names[h.Name] = true
		checkClientConfig(fs, &h.ClientConfig, at.at("clientConfig"))
		for j := range h.Rules {
			checkInterpreterRule(fs, &h.Rules[j], at.at("rules", j))
		}
		fs.within(at.at("timeoutSeconds"), h.TimeoutSeconds, 1, 30)
		checkContextVersions(fs, h.InterpreterContextVersions, at.at("interpreterContextVersions"))
	}
}

func checkClientConfig(fs *findings, c *admissionregistrationv1.WebhookClientConfig, at field) {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		fs.fail(at, diag.RequiredField, "needs exactly one of url and service", "")
	case c.URL != nil:
		u, err := url.Parse(*c.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			fs.fail(at.at("url"), diag.InvalidValue, "is not the address of a webhook", "write an https URL with a host, without credentials, query or fragment")
		}
	default:
		checkWebhookService(fs, c.Service, at.at("service"))
	}
}

func checkWebhookService(fs *findings, s *admissionregistrationv1.ServiceReference, at field) {
	fs.require(at.at("name"), s.Name, "")
	fs.require(at.at("namespace"), s.Namespace, "")
	fs.within(at.at("port"), s.Port, 1, 65535)
	if s.Path != nil && !strings.HasPrefix(*s.Path, "/") {
		fs.fail(at.at("path"), diag.InvalidValue, fmt.Sprintf("%q does not begin with a slash", *s.Path), fmt.Sprintf("write %q", "/"+*s.Path))
	}
}

func checkInterpreterRule(fs *findings, r *karmada.RuleWithOperations, at field) {
	operations := make([]string, len(r.Operations))
	for i, op := range r.Operations {
		operations[i] = string(op)
		oneOf(fs, at.at("operations", i), op, karmada.InterpreterOperationAll,
			karmada.InterpreterOperationInterpretReplica, karmada.InterpreterOperationInterpretComponent, karmada.InterpreterOperationReviseReplica,
			karmada.InterpreterOperationInterpretStatus, karmada.InterpreterOperationPrune, karmada.InterpreterOperationRetain,
			karmada.InterpreterOperationAggregateStatus, karmada.InterpreterOperationInterpretHealth, karmada.InterpreterOperationInterpretDependency)
	}
	checkWildcards(fs, at.at("operations"), operations)
	checkWildcards(fs, at.at("apiGroups"), r.APIGroups)
	checkWildcards(fs, at.at("apiVersions"), r.APIVersions)
	checkWildcards(fs, at.at("kinds"), r.Kinds)
	for i, v := range r.APIVersions {
		fs.require(at.at("apiVersions", i), v, "")
	}
	for i, k := range r.Kinds {
		fs.require(at.at("kinds", i), k, "")
	}
}

// checkWildcards holds for a list that is needed and in which "*" stands alone.
func checkWildcards(fs *findings, at field, list []string) {
	if len(list) == 0 {
		fs.fail(at, diag.RequiredField, "is empty, and needs a value", `write ["*"] for all`)
	}
	if len(list) > 1 && slices.Contains(list, "*") {
		fs.fail(at, diag.ConflictingFields, `has "*", which stands for all, beside others`, `write ["*"] alone, or remove it`)
	}
}

func checkContextVersions(fs *findings, versions []string, at field) {
	if !slices.Contains(versions, contextVersion) {
		fs.fail(at, diag.RequiredField, fmt.Sprintf("needs %q among its values", contextVersion), "")
	}
	for i, v := range versions {
		fs.invalid(at.at(i), v, validation.IsDNS1035Label(v))
		if slices.Contains(versions[:i], v) {
			fs.fail(at.at(i), diag.DuplicateValue, fmt.Sprintf("%q is there already", v), "remove one of them")
		}
	}
}
