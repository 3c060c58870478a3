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
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// scaled are templates with the replicas of schedules, and within the bounds of FederatedHPAs.
type scaled struct {
	templates []*template.Template
	errs      map[int]error // why replicas cannot be set
	federated autoscale.Result
	recheck   recheck.Recheck
	diags     []diag.Diagnostic
}

// scaleAll gives templates the replicas that CronFederatedHPAs have in force at the plan's
// time (Karmada section E.6): those of the rule that came about last.
func scaleAll(in *Input) scaled {
	out := scaled{templates: in.Templates, errs: map[int]error{}}
	scalers := in.Policies.Set.Scalers
	if len(scalers) == 0 {
		return out.bounded(in)
	}
	out.templates, out.recheck.Timed = slices.Clone(in.Templates), true
	for _, s := range scalers {
		if autoscale.Federated(s.Value) {
			continue
		}
		ref := autoscale.TargetOf(&s.Value.Spec.ScaleTargetRef, s.Object)
		i, found := find(out.templates, ref)
		if !found {
			out.diags = append(out.diags, diag.Diagnostic{
				Code: diag.ScalesNothing, Severity: diag.Warning, Pos: s.Object.FieldPos([]any{"spec", "scaleTargetRef"}),
				Message: fmt.Sprintf("%s scales %s, which is no template of the source", policies.Name(s.Object), ref),
				Hint:    "check its apiVersion, kind and name",
			})
			continue
		}
		replicas, again, diags := inForce(s, in.Now)
		out.recheck, out.diags = out.recheck.And(again), append(out.diags, diags...)
		if replicas == nil {
			continue
		}
		out.set(in, i, *replicas)
	}
	return out.bounded(in)
}

// set gives a template other replicas.
func (s *scaled) set(in *Input, i int, replicas int32) {
	t := s.templates[i]
	content, err := in.Policies.Interpreter.About(t.Object).Revise(t.Content, replicas)
	if err != nil {
		s.errs[i] = err
		return
	}
	as := *t
	as.Content, as.Scaled = content, strconv.Itoa(int(replicas))
	s.templates[i] = &as
}

// bounded brings the replicas of what FederatedHPAs scale into their bounds.
func (s *scaled) bounded(in *Input) scaled {
	s.federated = autoscale.Find(autoscale.Input{
		Set: &in.Policies.Set, Templates: in.Templates, Interpreter: in.Policies.Interpreter, Now: in.Now,
		IsClaimed: func(t *template.Template) bool { return t.Part != nil || in.Policies.Claims.Policy(t.Subject) != nil },
		Was:       func(r object.Ref) bool { return in.State.Bindings[r] != nil },
	})
	s.recheck, s.diags = s.recheck.And(s.federated.Recheck), append(s.diags, s.federated.Diags...)
	if len(s.federated.Scalers) > 0 {
		s.templates = slices.Clone(s.templates)
	}
	for _, by := range s.federated.Scalers {
		i, _ := find(s.templates, by.Target) // it is a template
		if size := in.size(s.templates[i].Variant); size.Err == nil {
			if n := by.Bounds.Bring(size.Replicas); n != size.Replicas {
				s.set(in, i, n)
			}
		}
	}
	return *s
}

// find returns the position of a template among some in the order of refs.
func find(templates []*template.Template, r object.Ref) (int, bool) {
	return slices.BinarySearchFunc(templates, r, func(t *template.Template, r object.Ref) int { return t.Ref().Compare(r) })
}

// inForce returns the replicas that a schedule has in force, nil for none, and when that changes next.
func inForce(s policies.Located[karmada.CronFederatedHPA], at time.Time) (*int32, recheck.Recheck, []diag.Diagnostic) {
	now, again := scale.InForce(s.Value.Spec.Rules, at), recheck.Recheck{}
	var diags []diag.Diagnostic
	for i, err := range now.Wrong {
		diags = append(diags, diag.Diagnostic{
			Code: diag.BadSchedule, Severity: diag.Error, Pos: s.Object.FieldPos([]any{"spec", "rules", i, "schedule"}),
			Message: fmt.Sprintf("%s %v", policies.Name(s.Object), err),
		})
	}
	if !now.Next.IsZero() {
		again = again.By(now.Next, at)
	}
	return now.Replicas, again, diags
}

// rebalance is what WorkloadRebalancers ask of an item.
type rebalance struct {
	by    string // their names, with digests of their contents
	fresh bool   // the last plan did not know all of them: it is divided afresh
}

// rebalances returns the marks of the WorkloadRebalancers that name templates, by their positions.
func rebalances(in *Input) (map[int][]string, []diag.Diagnostic) {
	marks, diags := map[int][]string{}, []diag.Diagnostic(nil)
	for _, r := range in.Policies.Set.Rebalancers {
		mark := r.Object.Ref().Name + "@" + files.Sum("blob", r.Object.YAML()).String()[:12]
		for n, w := range r.Value.Spec.Workloads {
			group, _ := object.GroupVersion(w.APIVersion)
			i, found := find(in.Templates, object.Ref{Group: group, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name})
			if found {
				marks[i] = append(marks[i], mark)
				continue
			}
			diags = append(diags, diag.Diagnostic{
				Code: diag.RebalancesNothing, Severity: diag.Warning, Pos: r.Object.FieldPos([]any{"spec", "workloads", n}),
				Message: fmt.Sprintf("%s names %s %s/%s, which is no template of the source", policies.Name(r.Object), w.Kind, w.Namespace, w.Name),
				Hint:    "check its apiVersion, kind, namespace and name",
			})
		}
	}
	return marks, diags
}

// rebalanceOf is what marks ask of an item. A rebalancer acts once: the binding records it, with its
// content (Karmada section E.8).
func rebalanceOf(marks []string, it *item) rebalance {
	r := rebalance{by: strings.Join(marks, ",")}
	if it.before == nil || it.isRecovered {
		return r
	}
	acted := strings.Split(it.before.Annotations[state.RebalancedAnnotation], ",")
	r.fresh = slices.ContainsFunc(marks, func(mark string) bool { return !slices.Contains(acted, mark) })
	return r
}

// triggered returns when an item was last divided afresh on request: at a commit, or
// as its binding says.
func (r rebalance) triggered(before *karmada.ResourceBinding, commit time.Time) *metav1.Time {
	if r.fresh {
		at := metav1.NewTime(commit.UTC().Truncate(time.Second))
		return &at
	}
	if before != nil && before.Spec.RescheduleTriggeredAt != nil {
		at := metav1.NewTime(before.Spec.RescheduleTriggeredAt.UTC())
		return &at
	}
	return nil
}
