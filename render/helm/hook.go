package helm

import (
	"slices"
	"strconv"
	"strings"
)

// Hook is what makes a manifest run at a moment of a release instead of being part of
// it: the annotations helm.sh/hook, helm.sh/hook-weight and helm.sh/hook-delete-policy.
type Hook struct {
	Events         []string `json:"events"` // pre-install, post-upgrade, test, ...
	Weight         int      `json:"weight,omitempty"`
	DeletePolicies []string `json:"deletePolicies,omitempty"`
}

// Test reports that the hook runs for helm test only.
func (h Hook) Test() bool {
	return len(h.Events) > 0 && !slices.ContainsFunc(h.Events, func(e string) bool { return e != "test" })
}

// Syncs reports that Argo CD has a moment for the hook: rollbacks and tests have none.
func (h Hook) Syncs() bool {
	return slices.ContainsFunc(h.Events, func(e string) bool { return argoEvent(e) != "" })
}

// The annotations of Argo CD that stand for those of Helm.
const (
	argoHook         = "argocd.argoproj.io/hook"
	argoDeletePolicy = "argocd.argoproj.io/hook-delete-policy"
	argoWave         = "argocd.argoproj.io/sync-wave"
)

// ArgoCD returns the annotations by which Argo CD runs what Helm would have run, as
// its documentation maps them: install and upgrade are both a sync. A hook for nothing
// but tests and rollbacks, which Argo CD does not know, is skipped.
func ArgoCD(h Hook) map[string]string {
	annotations := map[string]string{argoHook: translated(h.Events, argoEvent)}
	if annotations[argoHook] == "" {
		return map[string]string{argoHook: "Skip"}
	}
	if policies := translated(h.DeletePolicies, argoPolicy); policies != "" {
		annotations[argoDeletePolicy] = policies
	}
	if h.Weight != 0 {
		annotations[argoWave] = strconv.Itoa(h.Weight)
	}
	return annotations
}

// translated joins what words mean, each meaning once.
func translated(words []string, mean func(string) string) string {
	var out []string
	for _, word := range words {
		if meaning := mean(word); meaning != "" && !slices.Contains(out, meaning) {
			out = append(out, meaning)
		}
	}
	return strings.Join(out, ",")
}

func argoEvent(event string) string {
	switch event {
	case "pre-install", "pre-upgrade":
		return "PreSync"
	case "post-install", "post-upgrade":
		return "PostSync"
	case "pre-delete":
		return "PreDelete"
	case "post-delete":
		return "PostDelete"
	default:
		return ""
	}
}

func argoPolicy(policy string) string {
	switch policy {
	case "before-hook-creation":
		return "BeforeHookCreation"
	case "hook-succeeded":
		return "HookSucceeded"
	case "hook-failed":
		return "HookFailed"
	default:
		return ""
	}
}

// Keep reports whether an object says that it outlives its release, by the annotation
// helm.sh/resource-policy: keep.
func Keep(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	policy, _ := annotations["helm.sh/resource-policy"].(string)
	return strings.EqualFold(strings.TrimSpace(policy), "keep")
}
