package render

// Health says whose rules judge whether objects are healthy.
type Health struct {
	// Prefer is whose rule counts for a kind that Karmada and Argo CD both have one for: HealthBoth
	// (the default), HealthKarmada or HealthArgoCD.
	Prefer string `json:"prefer,omitempty"`
}

// The values of Health.Prefer.
const (
	HealthBoth    = "both"
	HealthKarmada = "karmada"
	HealthArgoCD  = "argocd"
)
