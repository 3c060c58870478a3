package render

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Health says whose rules judge whether objects are healthy.
type Health struct {
	// Prefer is whose rule counts for a kind that Karmada and Argo CD both have one for: HealthBoth
	// (the default), HealthKarmada or HealthArgoCD.
	Prefer string `json:"prefer,omitempty"`
	// ArgoCDConfigMap is a ConfigMap of the source, as namespace/name, that has health scripts as
	// Argo CD's argocd-cm has them. Empty: none.
	ArgoCDConfigMap string `json:"argocdConfigMap,omitempty"`
}

// problem says what is wrong with the name of the ConfigMap; "" if nothing is.
func (h *Health) problem() string {
	namespace, name, _ := strings.Cut(h.ArgoCDConfigMap, "/")
	if h.ArgoCDConfigMap == "" || validation.IsDNS1123Label(namespace) == nil && validation.IsDNS1123Subdomain(name) == nil {
		return ""
	}
	return fmt.Sprintf("spec.health.argocdConfigMap is %q; want the namespace and the name of a ConfigMap, as argocd/argocd-cm", h.ArgoCDConfigMap)
}

// The values of Health.Prefer.
const (
	HealthBoth    = "both"
	HealthKarmada = "karmada"
	HealthArgoCD  = "argocd"
)
