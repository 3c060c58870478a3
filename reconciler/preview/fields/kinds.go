package fields

import (
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/third_party/forked/golang/json"
)

// types are the Go types of kinds, whose tags say by which keys Kubernetes merges lists.
var types = map[string]reflect.Type{
	"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":   reflect.TypeFor[admissionv1.MutatingWebhookConfiguration](),
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": reflect.TypeFor[admissionv1.ValidatingWebhookConfiguration](),
	"apps/v1 DaemonSet":                               reflect.TypeFor[appsv1.DaemonSet](),
	"apps/v1 Deployment":                              reflect.TypeFor[appsv1.Deployment](),
	"apps/v1 ReplicaSet":                              reflect.TypeFor[appsv1.ReplicaSet](),
	"apps/v1 StatefulSet":                             reflect.TypeFor[appsv1.StatefulSet](),
	"autoscaling/v2 HorizontalPodAutoscaler":          reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](),
	"batch/v1 CronJob":                                reflect.TypeFor[batchv1.CronJob](),
	"batch/v1 Job":                                    reflect.TypeFor[batchv1.Job](),
	"networking.k8s.io/v1 Ingress":                    reflect.TypeFor[networkingv1.Ingress](),
	"networking.k8s.io/v1 NetworkPolicy":              reflect.TypeFor[networkingv1.NetworkPolicy](),
	"policy/v1 PodDisruptionBudget":                   reflect.TypeFor[policyv1.PodDisruptionBudget](),
	"rbac.authorization.k8s.io/v1 ClusterRole":        reflect.TypeFor[rbacv1.ClusterRole](),
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": reflect.TypeFor[rbacv1.ClusterRoleBinding](),
	"rbac.authorization.k8s.io/v1 Role":               reflect.TypeFor[rbacv1.Role](),
	"rbac.authorization.k8s.io/v1 RoleBinding":        reflect.TypeFor[rbacv1.RoleBinding](),
	"storage.k8s.io/v1 StorageClass":                  reflect.TypeFor[storagev1.StorageClass](),
	"v1 LimitRange":                                   reflect.TypeFor[corev1.LimitRange](),
	"v1 PersistentVolume":                             reflect.TypeFor[corev1.PersistentVolume](),
	"v1 PersistentVolumeClaim":                        reflect.TypeFor[corev1.PersistentVolumeClaim](),
	"v1 Pod":                                          reflect.TypeFor[corev1.Pod](),
	"v1 PodTemplate":                                  reflect.TypeFor[corev1.PodTemplate](),
	"v1 Service":                                      reflect.TypeFor[corev1.Service](),
	"v1 ServiceAccount":                               reflect.TypeFor[corev1.ServiceAccount](),
}

// typeOf is the Go type of a kind; nil where it is not known.
func typeOf(apiVersion, kind string) reflect.Type { return types[apiVersion+" "+kind] }

// fieldOf is the type of a field of a struct, or of the items of a field that is a list, and the key that those are merged by; nil
// where there is no such field. It is what strategicpatch looks up, without the schemas that it brings.
func fieldOf(of reflect.Type, key string, list bool) (t reflect.Type, mergedBy string) {
	t, _, mergedBy, err := json.LookupPatchMetadataForStruct(of, key)
	switch {
	case err != nil:
		return nil, ""
	case list:
		return itemOf(t), mergedBy
	}
	return t, ""
}

// itemOf is the type of the items of a list; nil for what is none.
func itemOf(t reflect.Type) reflect.Type {
	isList := func(t reflect.Type) bool { return t.Kind() == reflect.Array || t.Kind() == reflect.Slice }
	switch {
	case isList(t) && !isList(t.Elem()):
		return t.Elem()
	case t.Kind() == reflect.Pointer && isList(t.Elem()):
		return t.Elem().Elem()
	case t.Kind() == reflect.Pointer:
		return t.Elem()
	}
	return nil
}
