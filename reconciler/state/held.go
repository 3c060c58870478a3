package state

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// HeldBy says why the publication holds a cluster; empty if it does not.
func HeldBy(c *karmada.Cluster) string {
	for _, condition := range c.Status.Conditions {
		if condition.Type == HeldCondition && condition.Status == metav1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}
