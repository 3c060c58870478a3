package observation

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
		sortKinds(e.Resources)
		s.APIs = append(s.APIs, e)
	}
	sortAPIs(s.APIs)
	return s
}

func sortKinds(kinds []karmada.APIResource) {
	slices.SortStableFunc(kinds, func(a, b karmada.APIResource) int { return strings.Compare(a.Name, b.Name) })
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

// serve puts what is served into a status, and says what changed. What comes holds at once. What
// goes, and another version, holds when it was seen for the threshold: an API server that starts
// does not name all of its kinds yet, and of several that are upgraded each answers for itself.
func (t *Tracker) serve(s *Served, status *karmada.ClusterStatus, now time.Time, change *Change) {
	last := t.missed
	t.missed = missed{}
	if t.missed.version = last.version; s.Version == "" || s.Version == status.KubernetesVersion {
		t.missed.version = time.Time{}
	} else if status.KubernetesVersion == "" || over(&t.missed.version, now) {
		status.KubernetesVersion = s.Version
		change.Words, change.Soon = append(change.Words, "version "+s.Version), true
	}
	apis := t.missed.with(s.merged(status.APIEnablements), status.APIEnablements, last.kinds, now)
	if !equality.Semantic.DeepEqual(apis, status.APIEnablements) {
		status.APIEnablements = apis
		change.Words, change.Soon = append(change.Words, fmt.Sprintf("what it serves (%d group versions)", len(apis))), true
	}
}

// missed says since when what is recorded is not seen.
type missed struct {
	version time.Time // zero: it is seen
	kinds   map[kind]time.Time
}

// kind is one that is served.
type kind struct {
	groupVersion string
	karmada.APIResource
}

// over reports whether the threshold is over, which begins now if it has not.
func over(since *time.Time, now time.Time) bool {
	if since.IsZero() {
		*since = now
	}
	return now.Sub(*since) >= Threshold
}

// with returns what is served, and those of the recorded kinds that are not missed for long.
func (m *missed) with(apis, recorded []karmada.APIEnablement, last map[kind]time.Time, now time.Time) []karmada.APIEnablement {
	m.kinds, apis = map[kind]time.Time{}, slices.Clone(apis)
	for _, e := range recorded {
		i := slices.IndexFunc(apis, func(o karmada.APIEnablement) bool { return o.GroupVersion == e.GroupVersion })
		var stay []karmada.APIResource
		for _, r := range e.Resources {
			if i >= 0 && slices.Contains(apis[i].Resources, r) {
				continue
			}
			since := last[kind{e.GroupVersion, r}]
			if !over(&since, now) {
				stay = append(stay, r)
			}
			m.kinds[kind{e.GroupVersion, r}] = since
		}
		switch {
		case len(stay) == 0:
		case i >= 0:
			apis[i].Resources = slices.Concat(apis[i].Resources, stay)
			sortKinds(apis[i].Resources)
		default:
			apis = append(apis, karmada.APIEnablement{GroupVersion: e.GroupVersion, Resources: stay})
		}
	}
	sortAPIs(apis)
	return apis
}
