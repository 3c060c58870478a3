// Package validate refuses, with the field's path, what Karmada's API server and its
// validating webhooks refuse of an object that karmada.Decode made, and warns of what
// they accept and people trip over. The types, their decoding and their defaults are in
// package karmada; where an object goes, match, place and override decide.
//
// # Decisions
//
// Object runs before karmada.Default so that it sees what people wrote: an old
// spelling, or a replicaScheduling that says nothing and so divides. Every rule
// therefore takes a field that is not given as Default would have it, and a document
// has the same mistakes before and after.
//
// Warnings are for what Karmada accepts and does something unexpected with, seen in
// one document alone. What it takes two documents to see belongs to the plan.
//
// Where Karmada does not look, a mistake is a warning and the object stays in
// force: in label selectors, in the clusters of static weights and of a
// ClusterTaintPolicy, and in the deprecated form of an OverridePolicy, with
// overriders beside targetCluster, beyond what the schema says. The message says
// what comes of it. A fieldOverrider without an operation, which Karmada takes and
// empties the field by, is an error.
//
// The words and numbers of a schedule are those that both Karmada's webhook takes
// and its controller runs, and weekday 7 besides.
//
// Resource models are validated by ascending grade, with the first from nothing and
// the last without bound, because that is how Karmada stores them whatever is
// written.
//
// The schemas of Karmada's CRDs are not used, although a validator of JSON schemas is
// at hand. They would take the place of some seventy calls of one line each (is
// required, one of, at least, within) and of the walk of karmada.Decode, 218 lines;
// they are themselves thousands of lines of a foreign file a version. What most of
// Object says is of webhooks, and of traps that schemas do not know. And their
// messages are worse: not which field was meant, nothing on what to write instead, and
// many for one mistake where a value may have two forms.
//
// Immutable fields are not checked: a commit that changes one is a commit.
package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// maxClusterName is the length of the longest name of a cluster (section C.1).
const maxClusterName = 48

// Object returns what is wrong with x, which karmada.Decode returned or karmada.Read filled, in the order of
// the document: as errors what Karmada's API server and validating webhooks refuse, and
// selectors that cannot be read; as warnings what they accept and people trip over. It
// answers the same before and after karmada.Default, but that only before can it tell
// of spellings that Default rewrites. Rules that need more than the one object are not
// here.
func Object(x any) []karmada.FieldError {
	fs := new(findings)
	if o, ok := x.(object); ok {
		checkMetadata(fs, o)
	}
	spec := field{"spec"}
	switch x := x.(type) {
	case *karmada.PropagationPolicy:
		checkPropagationPolicy(fs, x, spec)
	case *karmada.OverridePolicy:
		checkOverridePolicy(fs, x, spec)
	case *karmada.Cluster:
		checkCluster(fs, &x.Spec, spec)
		checkVirtual(fs, x)
		if by, ok := x.Annotations[karmada.BackendsAnnotation]; ok {
			oneOf(fs, field{"metadata", "annotations", karmada.BackendsAnnotation}, by, karmada.BackendsRewrite)
		}
		if _, err := karmada.Ranges(x.Annotations[karmada.RangesAnnotation]); err != nil {
			fs.fail(field{"metadata", "annotations", karmada.RangesAnnotation}, diag.InvalidValue, err.Error(), "write ranges with commas between them")
		}
	case *karmada.ClusterTaintPolicy:
		checkTaintPolicy(fs, &x.Spec, spec)
	case *karmada.FederatedResourceQuota:
		checkQuota(fs, &x.Spec, spec)
	case *karmada.Work:
		checkWork(fs, &x.Spec, spec)
	case *karmada.FederatedHPA:
		checkFederatedHPA(fs, &x.Spec, spec)
	case *karmada.CronFederatedHPA:
		checkCronFederatedHPA(fs, &x.Spec, spec)
	case *karmada.WorkloadRebalancer:
		checkRebalancer(fs, &x.Spec, spec)
	case *karmada.Remedy:
		checkRemedy(fs, &x.Spec, spec)
	case *karmada.ResourceInterpreterCustomization:
		checkCustomization(fs, &x.Spec, spec)
	case *karmada.ResourceInterpreterWebhookConfiguration:
		checkWebhooks(fs, x.Webhooks, field{"webhooks"})
	case *karmada.MultiClusterService:
		checkMultiClusterService(fs, &x.Spec, spec)
	case *karmada.MultiClusterIngress:
		checkMultiClusterIngress(fs, &x.Spec, spec)
	case *mcs.ServiceExport:
		checkServiceExport(fs, &x.Spec, spec)
	case *mcs.ServiceImport:
		checkServiceImport(fs, &x.Spec, spec)
	}
	return *fs
}

// object is what every kind of Karmada's can do.
type object interface {
	metav1.Object
	schema.ObjectKind
}

// checkMetadata holds name, namespace, labels and annotations against the rules of an
// API server. An object that does not say its kind has no rules for the first two.
func checkMetadata(fs *findings, o object) {
	at := field{"metadata"}
	if apiVersion, kind := o.GroupVersionKind().ToAPIVersionAndKind(); karmada.Known(apiVersion, kind) {
		if o.GetName() == "" {
			fs.require(at.at("name"), "", "")
		} else {
			fs.invalid(at.at("name"), o.GetName(), objectName(kind, o.GetName()))
		}
		checkNamespace(fs, at.at("namespace"), o.GetNamespace(), apiVersion, kind)
	}
	checkLabels(fs, at.at("labels"), o.GetLabels())
	checkAnnotations(fs, at.at("annotations"), o.GetAnnotations())
}

// objectName says why no object of the kind can have the name.
func objectName(kind, name string) []string {
	switch kind {
	case "Cluster":
		return clusterName(name)
	case "FederatedResourceQuota":
		return quotaName(name)
	case "MultiClusterService":
		return utilvalidation.IsDNS1035Label(name)
	default:
		return utilvalidation.IsDNS1123Subdomain(name)
	}
}

// policyGroup is the apiVersion of the policies.
const policyGroup = "policy.karmada.io/v1alpha1"

func checkNamespace(fs *findings, at field, namespace, apiVersion, kind string) {
	namespaced := karmada.Namespaced(apiVersion, kind)
	switch {
	case namespaced && namespace == "":
		hint := "write the namespace"
		if wide := "Cluster" + kind; karmada.Known(policyGroup, wide) {
			hint += ", or make it a " + wide + " to select in every namespace"
		}
		fs.fail(at, diag.RequiredField, "is required", hint)
	case namespaced:
		fs.invalid(at, namespace, utilvalidation.IsDNS1123Label(namespace))
	case namespace != "":
		hint := "remove it"
		if narrow, ok := strings.CutPrefix(kind, "Cluster"); ok && karmada.Known(policyGroup, narrow) {
			hint += ", or make it a " + narrow + " to select in that namespace only"
		}
		fs.fail(at, diag.ConflictingFields, fmt.Sprintf("%q is given, but a %s has no namespace", namespace, kind), hint)
	}
}

func checkLabels(fs *findings, at field, labels map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fs.key(at.at(k), k)
		fs.invalid(at.at(k), labels[k], utilvalidation.IsValidLabelValue(labels[k]))
	}
}

// checkAnnotations differ from labels in that their keys are compared in lower case and
// their values are free, but bounded in sum.
func checkAnnotations(fs *findings, at field, annotations map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(annotations)) {
		fs.key(at.at(k), strings.ToLower(k))
	}
	if err := validation.ValidateAnnotationsSize(annotations); err != nil {
		fs.fail(at, diag.InvalidValue, err.Error(), "")
	}
}

// checkResourceSelectors holds for the selectors of both policies, of which meta is one's.
func checkResourceSelectors(fs *findings, at field, selectors []karmada.ResourceSelector, meta *metav1.ObjectMeta) {
	paths, by := meta.Annotations[karmada.PathsAnnotation]
	checkPaths(fs, field{"metadata", "annotations", karmada.PathsAnnotation}, paths, by)
	namespace := meta.Namespace
	for i, s := range selectors {
		at := at.at(i)
		fs.kind(at, s.APIVersion, s.Kind)
		checkWild(fs, at, s, by || namespace != "")
		if namespace != "" && s.Namespace != "" && s.Namespace != namespace {
			fs.fail(at.at("namespace"), diag.ConflictingFields,
				fmt.Sprintf("%q is not the policy's namespace %q, and it selects nowhere else", s.Namespace, namespace),
				"remove it, or make the policy a cluster-wide one")
		}
		if s.Name == "" {
			fs.labelSelector(at.at("labelSelector"), s.LabelSelector)
		} else if s.LabelSelector != nil {
			fs.warn(at.at("labelSelector"), diag.UnusedField,
				fmt.Sprintf("does nothing, because name %q alone decides", s.Name), "remove one of them")
		}
	}
}

// checkWild holds for a selector of any kind. Bounded says that the policy bounds it.
func checkWild(fs *findings, at field, s karmada.ResourceSelector, bounded bool) {
	switch {
	case s.Wild() && !bounded && s.Namespace == "":
		fs.fail(at.at("kind"), diag.InvalidValue, "selects every object of the source",
			"add namespace, or annotate the policy with "+karmada.PathsAnnotation+", as in apps/monitoring/")
	case s.Kind == karmada.Wildcard && s.APIVersion != karmada.Wildcard:
		fs.fail(at.at("kind"), diag.InvalidValue, "is a wildcard, and apiVersion is none", `write "*" for both, or for neither`)
	case s.APIVersion == karmada.Wildcard && s.Kind != karmada.Wildcard:
		fs.fail(at.at("apiVersion"), diag.InvalidValue, "is a wildcard, and kind is none", `write "*" for both, or for neither`)
	}
}

// checkPaths holds for the paths of a policy, if it has any.
func checkPaths(fs *findings, at field, text string, given bool) {
	switch n := ignore.ParseList(text).Len(); {
	case given && n == 0:
		fs.fail(at, diag.InvalidValue, "names no path, so that nothing is selected", "write a folder, as in apps/monitoring/, or remove it")
	case n > ignore.MostPatterns:
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("has %d patterns; at most %d can be tried", n, ignore.MostPatterns), "name the folder that they are in")
	}
}

// checkClusterAffinity holds wherever clusters are filtered (section A.1).
func checkClusterAffinity(fs *findings, at field, a *karmada.ClusterAffinity) {
	checkReadable(fs, at, a)
	checkMeaning(fs, at, a)
}

// checkUncheckedAffinity holds where Karmada does not look at an affinity: what can be read
// acts all the same, and draws a warning if it would be refused elsewhere.
func checkUncheckedAffinity(fs *findings, at field, a *karmada.ClusterAffinity, comesOfIt string) {
	checkReadable(fs, at, a)
	fs.unchecked(comesOfIt, func(fs *findings) { checkMeaning(fs, at, a) })
}

// checkReadable reports what in the selectors of an affinity cannot be read.
func checkReadable(fs *findings, at field, a *karmada.ClusterAffinity) {
	if a == nil {
		return
	}
	fs.labelSelector(at.at("labelSelector"), a.LabelSelector)
	if a.FieldSelector == nil {
		return
	}
	for i, e := range a.FieldSelector.MatchExpressions {
		at := at.at("fieldSelector", "matchExpressions", i)
		fs.key(at.at("key"), e.Key)
		if !asksForField(e) {
			oneOf(fs, at.at("operator"), e.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
		}
		fs.values(at, metav1.LabelSelectorOperator(e.Operator), e.Values)
		if e.Key != "zone" { // which is compared; the others are selected by as labels are
			fs.labelValues(at.at("values"), e.Values)
		}
	}
}

// asksForField reports an expression that can be read, and that webhooks refuse.
func asksForField(e corev1.NodeSelectorRequirement) bool {
	return e.Operator == corev1.NodeSelectorOpExists || e.Operator == corev1.NodeSelectorOpDoesNotExist
}

// checkMeaning holds what can be read of an affinity.
func checkMeaning(fs *findings, at field, a *karmada.ClusterAffinity) {
	if a == nil {
		return
	}
	if a.FieldSelector != nil {
		for i, e := range a.FieldSelector.MatchExpressions {
			at := at.at("fieldSelector", "matchExpressions", i)
			if len(utilvalidation.IsQualifiedName(e.Key)) == 0 {
				oneOf(fs, at.at("key"), e.Key, "provider", "region", "zone")
			}
			if asksForField(e) {
				oneOf(fs, at.at("operator"), e.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
			}
		}
	}
	for i, name := range a.ClusterNames {
		if slices.Contains(a.ExcludeClusters, name) {
			fs.warn(at.at("clusterNames", i), diag.ExcludedCluster, fmt.Sprintf("%q is excluded too, so that it does not match", name), "remove it from one of the lists")
		}
	}
}

// clusterName says why no cluster can have the name.
func clusterName(name string) []string {
	if len(name) > maxClusterName {
		return []string{fmt.Sprintf("it has %d characters, at most %d are allowed", len(name), maxClusterName)}
	}
	return utilvalidation.IsDNS1123Label(name)
}
