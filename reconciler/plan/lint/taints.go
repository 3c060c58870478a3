package lint

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// taints reports taints of effect NoExecute that nothing follows, because work does not fail over.
func (f *finder) taints() {
	if f.policies.Set.Failover.Enabled {
		return
	}
	for _, c := range f.policies.Set.Clusters {
		cluster, ok := f.policies.Fleet.Lookup(c.Object.Ref().Name)
		if !ok {
			continue
		}
		for i := range cluster.Taints {
			taint := &cluster.Taints[i]
			if taint.Effect != corev1.TaintEffectNoExecute {
				continue
			}
			if refs := f.stays(cluster.Name, taint); len(refs) > 0 {
				f.report(diag.Diagnostic{
					Code: diag.TaintNotFollowed, Severity: diag.Warning, Pos: c.Object.FieldPos([]any{"spec", "taints"}),
					Message: fmt.Sprintf("cluster %s has the taint %s, and what does not tolerate it stays there: %s", cluster.Name, taint.ToString(), words.List(refs)),
					Hint:    "work leaves a cluster by its taints where waybill.yaml has spec.failover.enabled: true; NoSchedule keeps new work out",
				})
			}
		}
	}
}

// stays lists the templates in a cluster that do not tolerate a taint.
func (f *finder) stays(cluster string, taint *corev1.Taint) (refs []string) {
	for _, t := range f.templates {
		if t.Policy == nil || !slices.ContainsFunc(t.Scheduled, func(c schedule.Target) bool { return c.Name == cluster }) {
			continue
		}
		if !slices.ContainsFunc(t.Policy.Spec.Placement.ClusterTolerations, func(l corev1.Toleration) bool { return fleet.Tolerates(l, taint) }) {
			refs = append(refs, t.Ref().String())
		}
	}
	return refs
}
