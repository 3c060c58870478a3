package observation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// ServedBy returns what an API server serves, by its version and what its discovery returned.
// Subresources are no kinds of their own.
func ServedBy(version string, lists []*metav1.APIResourceList, failed []string) *Served {
	s := &Served{Version: version, Failed: failed}
	for _, l := range lists {
		e := karmada.APIEnablement{GroupVersion: l.GroupVersion}
		for i := range l.APIResources {
			if r := &l.APIResources[i]; !strings.Contains(r.Name, "/") {
				e.Resources = append(e.Resources, karmada.APIResource{Name: r.Name, Kind: r.Kind})
			}
		}
		slices.SortStableFunc(e.Resources, func(a, b karmada.APIResource) int { return strings.Compare(a.Name, b.Name) })
		s.APIs = append(s.APIs, e)
	}
	sortAPIs(s.APIs)
	return s
}

func sortAPIs(apis []karmada.APIEnablement) {
	slices.SortStableFunc(apis, func(a, b karmada.APIEnablement) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
}

// readiness is the condition Ready as it is seen, in Karmada's words.
func readiness(h Health) metav1.Condition {
	c := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionFalse}
	switch h {
	case Healthy:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "ClusterReady", "cluster is healthy and ready to accept workloads"
	case Unhealthy:
		c.Reason, c.Message = "ClusterNotReady", "cluster is reachable but health endpoint responded without ok"
	case Unreachable:
		c.Reason, c.Message = "ClusterNotReachable", "cluster is not reachable"
	}
	return c
}

// completeness is the condition CompleteAPIEnablements as it is seen.
func completeness(s *Served) metav1.Condition {
	c := metav1.Condition{Type: karmada.ConditionCompleteAPIs, Status: metav1.ConditionFalse}
	switch {
	case len(s.APIs) == 0:
		c.Reason, c.Message = "Empty", "the cluster does not say what it serves"
	case len(s.Failed) > 0:
		c.Reason, c.Message = "Partial", "some API groups do not say what they serve; of these, what they served before counts"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Complete", "all API groups say what they serve"
	}
	return c
}

// merged is what is served, and what group versions that do not say it served before.
func (s *Served) merged(before []karmada.APIEnablement) []karmada.APIEnablement {
	if len(s.APIs) == 0 {
		return before
	}
	apis := slices.Clone(s.APIs)
	for _, e := range before {
		is := func(o karmada.APIEnablement) bool { return o.GroupVersion == e.GroupVersion }
		if slices.Contains(s.Failed, e.GroupVersion) && !slices.ContainsFunc(apis, is) {
			apis = append(apis, e)
		}
	}
	sortAPIs(apis)
	return apis
}

// serve puts what is served into a status, and says what changed.
func (s *Served) serve(status *karmada.ClusterStatus, change *Change) {
	if s.Version != "" && s.Version != status.KubernetesVersion {
		status.KubernetesVersion = s.Version
		change.Words, change.Soon = append(change.Words, "version "+s.Version), true
	}
	if apis := s.merged(status.APIEnablements); !equality.Semantic.DeepEqual(apis, status.APIEnablements) {
		status.APIEnablements = apis
		change.Words, change.Soon = append(change.Words, fmt.Sprintf("what it serves (%d group versions)", len(apis))), true
	}
}
