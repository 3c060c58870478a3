package observation

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Lost says of a cluster that nobody hears of its agent any more; empty if somebody does.
func Lost(seen *karmada.ClusterStatus) string {
	if seen == nil {
		return ""
	}
	c := meta.FindStatusCondition(seen.Conditions, ConditionHeartbeat)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	return "no heartbeat of its agent came since " + c.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z")
}
