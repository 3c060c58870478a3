package schedule

import (
	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// item is a scheduling item: a template, and what is known of it before it is placed.
type item struct {
	template *template.Template
	size     interpret.Size
	before   *karmada.ResourceBinding // of the last plan; nil for none
	// isRecovered reports that why it is where it is, or what it is a part of, is not known.
	isRecovered bool
	rebalance   rebalance
	claim       claim
	policy      *policies.Propagation // nil if none claims it
	scaler      *autoscale.Scaler     // the FederatedHPA that scales it; nil for none
}

func (it *item) ref() object.Ref { return it.template.Ref() }

// placed are the clusters of the last decision that a policy made about it.
func (it *item) placed() []Target {
	if it.before == nil {
		return nil
	}
	return it.before.Spec.Clusters
}

// group is the affinity group that it is in by the last decision.
func (it *item) group() string {
	if it.before == nil {
		return ""
	}
	return it.before.Status.SchedulerObservedAffinityName
}

// isLazy reports whether changes of the policy wait for a change of the template.
func (it *item) isLazy() bool {
	return it.policy != nil && it.policy.Spec.ActivationPreference == karmada.LazyActivation
}

func (it *item) isDivided() bool { return it.policy != nil && it.policy.Divides() }

// open makes the items of templates, as schedules scale them.
func open(in *Input, s *scaled) ([]item, []diag.Diagnostic) {
	items := make([]item, len(s.templates))
	marks, diags := rebalances(in)
	for i, t := range s.templates {
		it := item{template: t, before: in.State.Bindings[t.Ref()], isRecovered: in.isRecovered(t), scaler: s.federated.Of[t.Ref()]}
		if it.size.Err = s.errs[i]; it.size.Err == nil {
			it.size = in.size(t.Variant)
		}
		it.rebalance = rebalanceOf(marks[i], &it)
		var said diag.Diagnostic
		if it.policy, it.claim, said = claimOf(in, &it); said.Code != "" {
			diags = append(diags, said)
		}
		items[i] = it
	}
	return items, diags
}

// isRecovered reports that why a template is where it is, or what it is a part of, is not known.
func (in *Input) isRecovered(t *template.Template) bool {
	return in.Recovered[t.Ref()] || t.Part != nil && in.Recovered[t.Part.Release.Ref()]
}

// size returns what a variant of a template asks for. Nobody may modify it.
func (in *Input) size(v template.Variant) interpret.Size {
	return in.Memo.sizes.Or(sizing{v.Object, in.Policies.InterpreterDigest, v.Scaled}, func() interpret.Size {
		return in.Policies.Interpreter.Size(v.Object, v.Content)
	})
}

// Replicas is how many replicas a template asks for.
func (in *Input) Replicas(t *template.Template) int32 { return in.size(t.Variant).Replicas }

// most is how many replicas a FederatedHPA allows an item; 0 where none scales it.
func (it *item) most() int32 {
	if it.scaler == nil {
		return 0
	}
	return it.scaler.Bounds.Max
}
