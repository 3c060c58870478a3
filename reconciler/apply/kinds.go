package apply

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The order of kinds is the one in which Flux applies them: what others need first, what judges others last. Flux's library has it
// beside clients and kubectl, which nobody links to decide: a test in reconciler/clusters, which has that library, holds the two alike.
var (
	firstKinds = []string{
		"CustomResourceDefinition", "Namespace", "ClusterRole",
		"ClusterClass", "RuntimeClass", "PriorityClass", "StorageClass", "VolumeSnapshotClass", "IngressClass", "GatewayClass",
		"ClusterRoleBinding", "ResourceQuota", "ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Secret", "Service", "LimitRange",
		"Deployment", "StatefulSet", "CronJob", "PodDisruptionBudget",
	}
	lastKinds = []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)

// rankOf is where a kind stands: 0 for any that is neither among the first nor among the last.
func rankOf(kind string) int {
	if i := slices.Index(firstKinds, kind); i >= 0 {
		return i - len(firstKinds)
	}
	return 1 + slices.Index(lastKinds, kind)
}

// CompareKinds orders kinds as Flux applies them.
func CompareKinds(a, b schema.GroupKind) int {
	return cmp.Or(cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
}
