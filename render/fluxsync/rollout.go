package fluxsync

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Reporter is how Flux sets commit statuses on the commits of a branch, by which roll-outs go on.
type Reporter struct {
	Forge  string // what notification-controller calls it: github, gitlab or gitea
	URL    string // of the repository
	Secret string // holds the credentials that may set statuses
	// Namespaces are those of the children that are in another one than the root.
	Namespaces []string
}

const notificationAPI = "notification.toolkit.fluxcd.io/v1beta3"

// reportLabel is on the Kustomizations of a cluster of which statuses are set. Its value is the cluster.
const reportLabel = "waybill.dev/reports"

// Awaited makes a Kustomization ready only when what it applies is healthy, and has its statuses set.
func (s Sync) Awaited(k map[string]any) map[string]any {
	spec, _ := k["spec"].(map[string]any)
	spec["wait"] = true
	return s.reported(k)
}

// AwaitedRoot is the root of a branch with children. A child goes after the root at the same revision, so that a root which
// waited for its children would wait for ever: it is ready when its own workloads are healthy, which are given as references
// with apiVersion, kind, name and namespace. The root has its children wait, each for what it applies.
func (s Sync) AwaitedRoot(workloads []map[string]any) map[string]any {
	root := s.reported(s.Root())
	spec, _ := root["spec"].(map[string]any)
	if len(workloads) > 0 {
		checks := make([]any, len(workloads))
		for i, w := range workloads {
			checks[i] = w
		}
		spec["healthChecks"] = checks
	}
	spec["patches"] = []any{map[string]any{
		"target": map[string]any{"group": "kustomize.toolkit.fluxcd.io", "kind": "Kustomization", "name": s.children()},
		"patch": "apiVersion: " + kustomizeAPI + "\nkind: Kustomization\nmetadata:\n  name: any\n  labels:\n    " + reportLabel + ": " + s.Cluster +
			"\nspec:\n  wait: true\n",
	}}
	return root
}

// children is a regular expression for the names of all children, also of those that the branch does not have yet.
func (s Sync) children() string {
	prefix := s.ChildName("")
	const digits = 11 // that end a name which is too long
	if most := validation.LabelValueMaxLength - digits; len(prefix) > most {
		prefix = prefix[:most]
	}
	return regexp.QuoteMeta(prefix) + ".*"
}

// reported has statuses set of what becomes of a Kustomization.
func (s Sync) reported(k map[string]any) map[string]any {
	meta, _ := k["metadata"].(map[string]any)
	meta["labels"] = map[string]any{reportLabel: s.Cluster}
	return k
}

// succeeded is how the event of a reconciliation begins that has ended well. Flux says more at the same severity, such as that a
// dependency is not ready yet, and notification-controller makes a success of all that.
const succeeded = "^Reconciliation finished in "

// Reports returns the Provider, and the Alerts for what went well and for what did not.
func (s Sync) Reports(r Reporter) []map[string]any {
	provider := map[string]any{
		"apiVersion": notificationAPI, "kind": "Provider", "metadata": metadata(s.RootName(), s.Namespace),
		"spec": map[string]any{
			"type": r.Forge, "address": r.URL, "secretRef": map[string]any{"name": r.Secret},
			"commitStatusExpr": "'waybill/flux/" + s.Cluster + "/' + event.involvedObject.name",
		},
	}
	var sources []any
	for _, namespace := range append([]string{""}, r.Namespaces...) {
		source := map[string]any{"kind": "Kustomization", "name": "*", "matchLabels": map[string]any{reportLabel: s.Cluster}}
		if namespace != "" {
			source["namespace"] = namespace
		}
		sources = append(sources, source)
	}
	alert := func(name, severity string) map[string]any {
		return map[string]any{
			"apiVersion": notificationAPI, "kind": "Alert", "metadata": metadata(s.RootName()+"-"+name, s.Namespace),
			"spec": map[string]any{"providerRef": map[string]any{"name": s.RootName()}, "eventSeverity": severity, "eventSources": sources},
		}
	}
	success, failure := alert("success", "info"), alert("failure", "error")
	spec, _ := success["spec"].(map[string]any)
	spec["inclusionList"] = []any{succeeded}
	return []map[string]any{provider, success, failure}
}
