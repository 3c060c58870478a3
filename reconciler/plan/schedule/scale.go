package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// scale gives templates the replicas that CronFederatedHPAs have in force at the plan's
// time (Karmada section E.6): those of the rule that came about last.
func (d *decider) scale() {
	for _, s := range d.in.Policies.Set.Scalers {
		d.result.Timed = true
		group, _ := object.GroupVersion(s.Value.Spec.ScaleTargetRef.APIVersion)
		ref := object.Ref{Group: group, Kind: s.Value.Spec.ScaleTargetRef.Kind, Namespace: s.Object.Ref().Namespace, Name: s.Value.Spec.ScaleTargetRef.Name}
		m := d.byRef[ref]
		if m == nil {
			d.report(diag.Diagnostic{
				Code: diag.ScalesNothing, Severity: diag.Warning, Pos: s.Object.FieldPos([]any{"spec", "scaleTargetRef"}),
				Message: fmt.Sprintf("%s scales %s, which is no template of the source", policies.Name(s.Object), ref),
				Hint:    "check its apiVersion, kind and name; a FederatedHPA needs a control plane",
			})
			continue
		}
		replicas := d.inForce(s)
		if replicas == nil {
			continue
		}
		content, err := d.in.Policies.Interpreter.About(m.Template.Object).Revise(m.Template.Content, *replicas)
		if err != nil {
			m.Size.Err = err
			continue
		}
		scaled := *m.Template
		scaled.Content, scaled.Scaled = content, strconv.Itoa(int(*replicas))
		m.Template = &scaled
	}
}

// inForce returns the replicas that a schedule has in force, nil for none, and notes when
// that changes next.
func (d *decider) inForce(s policies.Located[karmada.CronFederatedHPA]) *int32 {
	now := scale.InForce(s.Value.Spec.Rules, d.in.Now)
	for i, err := range now.Wrong {
		d.report(diag.Diagnostic{
			Code: diag.BadSchedule, Severity: diag.Error, Pos: s.Object.FieldPos([]any{"spec", "rules", i, "schedule"}),
			Message: fmt.Sprintf("%s %v", policies.Name(s.Object), err),
		})
	}
	if !now.Next.IsZero() && (d.result.RecheckAt.IsZero() || now.Next.Before(d.result.RecheckAt)) {
		d.result.RecheckAt = now.Next
	}
	return now.Replicas
}

// rebalance marks the templates that WorkloadRebalancers name. A rebalancer acts once: the
// binding records it, with its content (Karmada section E.8).
func (d *decider) rebalance() {
	for _, r := range d.in.Policies.Set.Rebalancers {
		mark := r.Object.Ref().Name + "@" + files.Sum("blob", r.Object.YAML()).String()[:12]
		for i, w := range r.Value.Spec.Workloads {
			group, _ := object.GroupVersion(w.APIVersion)
			m := d.byRef[object.Ref{Group: group, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}]
			if m == nil {
				d.report(diag.Diagnostic{
					Code: diag.RebalancesNothing, Severity: diag.Warning, Pos: r.Object.FieldPos([]any{"spec", "workloads", i}),
					Message: fmt.Sprintf("%s names %s %s/%s, which is no template of the source", policies.Name(r.Object), w.Kind, w.Namespace, w.Name),
					Hint:    "check its apiVersion, kind, namespace and name",
				})
				continue
			}
			m.rebalanced = strings.TrimPrefix(m.rebalanced+","+mark, ",")
			old := d.before(m)
			m.fresh = m.fresh || old != nil && !d.recovered(m) && !slices.Contains(strings.Split(old.Annotations[state.RebalancedAnnotation], ","), mark)
		}
	}
}

// triggered returns when a template was last divided afresh on request: at this commit, or
// as its binding says.
func (d *decider) triggered(m *item) *metav1.Time {
	if m.fresh {
		at := metav1.NewTime(d.in.When.UTC().Truncate(time.Second))
		return &at
	}
	if old := d.before(m); old != nil && old.Spec.RescheduleTriggeredAt != nil {
		at := metav1.NewTime(old.Spec.RescheduleTriggeredAt.UTC())
		return &at
	}
	return nil
}
