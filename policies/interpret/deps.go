package interpret

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/render/object"
)

// Dependency is what an object needs beside it: one object by its Name, or, where
// Name is empty, those that LabelSelector selects.
type Dependency struct {
	APIVersion, Kind, Namespace, Name string
	LabelSelector                     *metav1.LabelSelector
}

// Names returns what the dependency refers to by name; false for one that selects.
func (d *Dependency) Names() (object.Ref, bool) {
	group, _ := object.GroupVersion(d.APIVersion)
	return object.Ref{Group: group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}, d.Name != ""
}

// Finder returns what tells whether the dependency refers to an object, by its labels.
func (d *Dependency) Finder() func(o *object.Object, ls labels.Set) bool {
	selector, err := metav1.LabelSelectorAsSelector(d.LabelSelector)
	if err != nil {
		selector = labels.Nothing()
	}
	return func(o *object.Object, ls labels.Set) bool {
		r := o.Ref()
		return o.APIVersion() == d.APIVersion && r.Kind == d.Kind && r.Namespace == d.Namespace && (r.Name == d.Name || d.Name == "" && selector.Matches(ls))
	}
}

// Dependencies returns what obj refers to, sorted by kind and name, each once
// (Karmada section A.6). It does not follow what it finds: a dependency's own
// dependencies are not listed. Optional references count. A kind that is not
// known to refer to anything has none. It is an error if a pod's spec cannot be
// read.
func (in *Interpreter) Dependencies(obj map[string]any) ([]Dependency, error) {
	h, ok := hook(in, obj, func(l layer) map[kind]dependenciesHook { return l.dependencies })
	if !ok {
		return nil, nil
	}
	deps, err := h(obj)
	if err != nil {
		return nil, in.located("finding what is needed by", obj, err)
	}
	slices.SortFunc(deps, compareDependencies)
	return deps, nil
}

// compareDependencies orders dependencies. Only equal ones are as good as each other.
func compareDependencies(a, b Dependency) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(selected(a), selected(b)),
	)
}

// selected is the selector of a dependency, as text.
func selected(d Dependency) string {
	if d.LabelSelector == nil {
		return ""
	}
	return metav1.FormatLabelSelector(d.LabelSelector)
}

var nativeDependencies = map[kind]dependenciesHook{
	deployment:  podsAt("spec", "template", "spec"),
	replicaSet:  podsAt("spec", "template", "spec"),
	daemonSet:   podsAt("spec", "template", "spec"),
	statefulSet: statefulSetDependencies,
	job:         podsAt("spec", "template", "spec"),
	cronJob:     podsAt("spec", "jobTemplate", "spec", "template", "spec"),
	pod:         podsAt("spec"),
	ingress:     ingressDependencies,
	gateway:     gatewayDependencies, gatewayBeta: gatewayDependencies,
	serviceImport: serviceImportDependencies, serviceImportBeta: serviceImportDependencies,
}

// podsAt makes a hook that finds what a pod needs whose spec stands at the end of
// path.
func podsAt(path ...string) dependenciesHook {
	return func(obj map[string]any) ([]Dependency, error) {
		var spec corev1.PodSpec
		if err := typed(mapAt(obj, path...), &spec); err != nil {
			return nil, fmt.Errorf("reading %s: %w", dotted(path), err)
		}
		refs := references{namespace: stringAt(obj, "metadata", "namespace"), seen: map[Dependency]bool{}}
		refs.pod(&spec)
		return refs.found, nil
	}
}

// statefulSetDependencies leaves out the claims that the StatefulSet makes itself.
func statefulSetDependencies(obj map[string]any) ([]Dependency, error) {
	deps, err := podsAt("spec", "template", "spec")(obj)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, item := range listAt(obj, "spec", "volumeClaimTemplates") {
		claim, _ := item.(map[string]any)
		own[stringAt(claim, "metadata", "name")] = true
	}
	return slices.DeleteFunc(deps, func(d Dependency) bool { return d.Kind == "PersistentVolumeClaim" && own[d.Name] }), nil
}

// ingressDependencies finds certificates. The Services behind an Ingress are
// placed by policies of their own.
func ingressDependencies(obj map[string]any) ([]Dependency, error) {
	refs := references{namespace: stringAt(obj, "metadata", "namespace"), seen: map[Dependency]bool{}}
	for _, item := range listAt(obj, "spec", "tls") {
		tls, _ := item.(map[string]any)
		refs.add("Secret", stringAt(tls, "secretName"))
	}
	return refs.found, nil
}

// gatewayDependencies finds the certificates of a Gateway's listeners that are Secrets of its namespace. Karmada knows nothing of Gateways.
func gatewayDependencies(obj map[string]any) ([]Dependency, error) {
	refs := references{namespace: stringAt(obj, "metadata", "namespace"), seen: map[Dependency]bool{}}
	for _, item := range listAt(obj, "spec", "listeners") {
		listener, _ := item.(map[string]any)
		for _, item := range listAt(listener, "tls", "certificateRefs") {
			ref, _ := item.(map[string]any)
			isSecret := stringAt(ref, "group") == "" && cmp.Or(stringAt(ref, "kind"), "Secret") == "Secret"
			if isSecret && cmp.Or(stringAt(ref, "namespace"), refs.namespace) == refs.namespace {
				refs.add("Secret", stringAt(ref, "name"))
			}
		}
	}
	return refs.found, nil
}

// serviceImportDependencies finds the Service and the endpoints that stand for
// another cluster's Service.
func serviceImportDependencies(obj map[string]any) ([]Dependency, error) {
	derived, namespace := DerivedName(obj), stringAt(obj, "metadata", "namespace")
	return []Dependency{
		{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: derived},
		{
			APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice", Namespace: namespace,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{discoveryv1.LabelServiceName: derived}},
		},
	}, nil
}
