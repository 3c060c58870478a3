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
	"k8s.io/apimachinery/pkg/util/strategicpatch"
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

// metaOf returns what is known of the lists of a kind; nil for nothing.
func metaOf(apiVersion, kind string) strategicpatch.LookupPatchMeta {
	t, ok := types[apiVersion+" "+kind]
	if !ok {
		return nil
	}
	return strategicpatch.PatchMetaFromStruct{T: t}
}
