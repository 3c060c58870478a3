package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OverridePolicy says what differs in which cluster. The same type serves
// ClusterOverridePolicy.
type OverridePolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              OverrideSpec `json:"spec"`
}

// OverrideSpec is the body of both override policy kinds. TargetCluster and
// Overriders at this level are the old form, read only if OverrideRules is empty.
type OverrideSpec struct {
	ResourceSelectors []ResourceSelector `json:"resourceSelectors,omitempty"`
	OverrideRules     []RuleWithCluster  `json:"overrideRules,omitempty"`
	TargetCluster     *ClusterAffinity   `json:"targetCluster,omitempty"`
	Overriders        Overriders         `json:"overriders,omitempty"`
}

// Rules returns the rules in force: OverrideRules, or the old form as one rule.
func (s *OverrideSpec) Rules() []RuleWithCluster {
	if len(s.OverrideRules) > 0 {
		return s.OverrideRules
	}
	return []RuleWithCluster{{TargetCluster: s.TargetCluster, Overriders: s.Overriders}}
}

// RuleWithCluster applies overriders in the clusters it matches; nil matches all.
type RuleWithCluster struct {
	TargetCluster *ClusterAffinity `json:"targetCluster,omitempty"`
	Overriders    Overriders       `json:"overriders"`
}

// Overriders are changes to one object, applied in the order of the fields of
// this struct after Plaintext is moved to the end: image, command, args, labels,
// annotations, field, plaintext.
type Overriders struct {
	Plaintext            []PlaintextOverrider       `json:"plaintext,omitempty"`
	ImageOverrider       []ImageOverrider           `json:"imageOverrider,omitempty"`
	CommandOverrider     []CommandArgsOverrider     `json:"commandOverrider,omitempty"`
	ArgsOverrider        []CommandArgsOverrider     `json:"argsOverrider,omitempty"`
	LabelsOverrider      []LabelAnnotationOverrider `json:"labelsOverrider,omitempty"`
	AnnotationsOverrider []LabelAnnotationOverrider `json:"annotationsOverrider,omitempty"`
	FieldOverrider       []FieldOverrider           `json:"fieldOverrider,omitempty"`
}

// OverriderOperator is add, remove or replace.
type OverriderOperator string

// The overrider operators.
const (
	OverriderOpAdd     OverriderOperator = "add"
	OverriderOpRemove  OverriderOperator = "remove"
	OverriderOpReplace OverriderOperator = "replace"
)

// ImageComponent is a part of an image reference.
type ImageComponent string

// The image components.
const (
	ImageRegistry   ImageComponent = "Registry"
	ImageRepository ImageComponent = "Repository"
	ImageTag        ImageComponent = "Tag"
)

// ImageOverrider changes a component of image references.
type ImageOverrider struct {
	Predicate *ImagePredicate   `json:"predicate,omitempty"`
	Component ImageComponent    `json:"component"`
	Operator  OverriderOperator `json:"operator"`
	Value     string            `json:"value,omitempty"`
}

// ImagePredicate names the one field to change instead of the default ones.
type ImagePredicate struct {
	Path string `json:"path"`
}

// CommandArgsOverrider changes the command or args of the named containers.
type CommandArgsOverrider struct {
	ContainerName string            `json:"containerName"`
	Operator      OverriderOperator `json:"operator"`
	Value         []string          `json:"value,omitempty"`
}

// LabelAnnotationOverrider changes labels or annotations of the object itself.
type LabelAnnotationOverrider struct {
	Operator OverriderOperator `json:"operator"`
	Value    map[string]string `json:"value,omitempty"`
}
