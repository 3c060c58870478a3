package interpret

import "strings"

// serverMetadata are the fields of metadata that only a server or a controller of
// the control plane sets.
var serverMetadata = []string{
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
	"managedFields", "resourceVersion", "selfLink", "uid", "ownerReferences", "finalizers",
}

// generatedLabels are the labels by which the Job controller knows a Job's pods.
var (
	generatedSelector = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}
	generatedLabels   = append([]string{"job-name", "batch.kubernetes.io/job-name"}, generatedSelector...)
)

// Prune returns obj without what belongs to the control plane that it was taken
// from (Karmada section D.4). Kinds are told by their name, of any group.
func Prune(obj map[string]any) map[string]any {
	obj = without(obj, nil, "status")
	obj = without(obj, []string{"metadata"}, serverMetadata...)
	switch stringAt(obj, "kind") {
	case "Deployment":
		return withoutAnnotations(obj, "deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history")
	case "Job":
		return pruneJob(obj)
	case "Secret":
		return pruneSecret(obj)
	case "ServiceAccount":
		return pruneServiceAccount(obj)
	case "Service":
		if stringAt(obj, "spec", "clusterIP") == "None" {
			return obj
		}
		return without(obj, []string{"spec"}, "clusterIP", "clusterIPs")
	case "PersistentVolumeClaim":
		return withoutAnnotations(obj, "volume.kubernetes.io/selected-node")
	default:
		return obj
	}
}

func withoutAnnotations(obj map[string]any, keys ...string) map[string]any {
	return without(obj, []string{"metadata", "annotations"}, keys...)
}

func pruneJob(obj map[string]any) map[string]any {
	obj = without(obj, []string{"spec"}, "ttlSecondsAfterFinished")
	if manual, _ := at(obj, "spec", "manualSelector").(bool); manual {
		return obj
	}
	obj = without(obj, []string{"spec", "selector", "matchLabels"}, generatedSelector...)
	return without(obj, []string{"spec", "template", "metadata", "labels"}, generatedLabels...)
}

// pruneSecret empties the token that a cluster issues. The data are null rather
// than absent, as in Karmada.
func pruneSecret(obj map[string]any) map[string]any {
	if stringAt(obj, "type") != serviceAccountToken {
		return obj
	}
	return with(withoutAnnotations(obj, "kubernetes.io/service-account.uid"), nil, "data")
}

// pruneServiceAccount removes the token secrets that a cluster has named.
func pruneServiceAccount(obj map[string]any) map[string]any {
	secrets := listAt(obj, "secrets")
	if secrets == nil {
		return obj
	}
	prefix := stringAt(obj, "metadata", "name") + "-token-"
	kept := make([]any, 0, len(secrets))
	for _, item := range secrets {
		ref, _ := item.(map[string]any)
		if !strings.HasPrefix(stringAt(ref, "name"), prefix) {
			kept = append(kept, item)
		}
	}
	return with(obj, kept, "secrets")
}
