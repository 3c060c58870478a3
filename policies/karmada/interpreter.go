package karmada

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceInterpreterCustomization teaches a kind in Lua
// (config.karmada.io/v1alpha1, Karmada section E.9).
type ResourceInterpreterCustomization struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ResourceInterpreterCustomizationSpec `json:"spec"`
}

// ResourceInterpreterCustomizationSpec is a kind and its scripts.
type ResourceInterpreterCustomizationSpec struct {
	Target         CustomizationTarget `json:"target"`
	Customizations CustomizationRules  `json:"customizations"`
}

// CustomizationTarget is the exact apiVersion and kind that the scripts are for.
type CustomizationTarget struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// CustomizationRules has one script an operation; nil leaves the operation to the
// next interpreter.
type CustomizationRules struct {
	Retention                *LuaScript `json:"retention,omitempty"`
	ReplicaResource          *LuaScript `json:"replicaResource,omitempty"`
	ComponentResource        *LuaScript `json:"componentResource,omitempty"`
	ReplicaRevision          *LuaScript `json:"replicaRevision,omitempty"`
	StatusReflection         *LuaScript `json:"statusReflection,omitempty"`
	StatusAggregation        *LuaScript `json:"statusAggregation,omitempty"`
	HealthInterpretation     *LuaScript `json:"healthInterpretation,omitempty"`
	DependencyInterpretation *LuaScript `json:"dependencyInterpretation,omitempty"`
}

// LuaScript is the Lua 5.1 source that defines one function. Karmada has a type
// for each operation; on the wire they are the same.
type LuaScript struct {
	LuaScript string `json:"luaScript"`
}

// ResourceInterpreterWebhookConfiguration teaches kinds by calling out
// (config.karmada.io/v1alpha1, Karmada section E.9).
type ResourceInterpreterWebhookConfiguration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Webhooks          []ResourceInterpreterWebhook `json:"webhooks"`
}

// ResourceInterpreterWebhook is one webhook and what it is asked. TimeoutSeconds
// nil means 10.
type ResourceInterpreterWebhook struct {
	Name                       string                                      `json:"name"`
	ClientConfig               admissionregistrationv1.WebhookClientConfig `json:"clientConfig"`
	Rules                      []RuleWithOperations                        `json:"rules,omitempty"`
	TimeoutSeconds             *int32                                      `json:"timeoutSeconds,omitempty"`
	InterpreterContextVersions []string                                    `json:"interpreterContextVersions"`
}

// RuleWithOperations is a set of kinds and the operations on them.
type RuleWithOperations struct {
	Operations      []InterpreterOperation `json:"operations"`
	InterpreterRule `json:",inline"`
}

// InterpreterRule is a set of kinds; "*" alone means all.
type InterpreterRule struct {
	APIGroups   []string `json:"apiGroups"`
	APIVersions []string `json:"apiVersions"`
	Kinds       []string `json:"kinds"`
}

// InterpreterOperation is a question that is put to an interpreter.
type InterpreterOperation string

// The interpreter operations. InterpreterOperationAll stands for all of them.
const (
	InterpreterOperationAll                 InterpreterOperation = "*"
	InterpreterOperationInterpretReplica    InterpreterOperation = "InterpretReplica"
	InterpreterOperationInterpretComponent  InterpreterOperation = "InterpretComponent"
	InterpreterOperationReviseReplica       InterpreterOperation = "ReviseReplica"
	InterpreterOperationInterpretStatus     InterpreterOperation = "InterpretStatus"
	InterpreterOperationPrune               InterpreterOperation = "Prune"
	InterpreterOperationRetain              InterpreterOperation = "Retain"
	InterpreterOperationAggregateStatus     InterpreterOperation = "AggregateStatus"
	InterpreterOperationInterpretHealth     InterpreterOperation = "InterpretHealth"
	InterpreterOperationInterpretDependency InterpreterOperation = "InterpretDependency"
)
