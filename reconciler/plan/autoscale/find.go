// Package autoscale says what FederatedHPAs come to in a plan: which template each scales, between which bounds by the rules
// of CronFederatedHPAs that are in force, and what each cluster of the template has of that.
package autoscale

import (
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Scaler is a FederatedHPA that is in force.
type Scaler struct {
	policies.Located[karmada.FederatedHPA]

	Target object.Ref // the template that it scales
	Bounds scale.Bounds
}

// Ref is that of the HorizontalPodAutoscalers that are made of it.
func (s *Scaler) Ref() object.Ref { return madeOf(s.Object.Ref()) }

// madeOf is the ref of what is made of a FederatedHPA.
func madeOf(r object.Ref) object.Ref {
	return object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: r.Namespace, Name: r.Name}
}

// Input is what there is to look through.
type Input struct {
	Set         *policies.Set
	Templates   []*template.Template // in the order of refs
	Interpreter *interpret.Interpreter
	// IsClaimed reports a template that a policy selects, and Was an object of the last plan.
	IsClaimed func(*template.Template) bool
	Was       func(object.Ref) bool
	Now       time.Time
}

// Result is what was found.
type Result struct {
	Scalers []*Scaler // in the order of names
	Of      map[object.Ref]*Scaler
	Recheck recheck.Recheck
	Diags   []diag.Diagnostic
}

// Find finds what FederatedHPAs scale. Of several that scale one template the one that did so by the last plan counts, or else the first by
// name; the others are mistakes, and nothing comes of them.
func Find(in Input) Result {
	f := finder{in: &in, result: Result{Of: map[object.Ref]*Scaler{}}, taken: map[object.Ref]string{}}
	if len(in.Set.Autoscalers)+len(in.Set.Scalers) == 0 {
		return f.result
	}
	f.others()
	var others []policies.Located[karmada.FederatedHPA]
	for _, l := range in.Set.Autoscalers {
		if in.Was(madeOf(l.Object.Ref())) {
			f.add(l)
		} else {
			others = append(others, l)
		}
	}
	for _, l := range others {
		f.add(l)
	}
	slices.SortFunc(f.result.Scalers, func(a, b *Scaler) int { return a.Ref().Compare(b.Ref()) })
	f.unknown()
	return f.result
}

type finder struct {
	in     *Input
	result Result
	taken  map[object.Ref]string // templates, by what scales them
}

func (f *finder) report(d diag.Diagnostic) { f.result.Diags = append(f.result.Diags, d) }

// others notes what scales templates and is no FederatedHPA.
func (f *finder) others() {
	for _, s := range f.in.Set.Scalers {
		if !Federated(s.Value) {
			f.taken[TargetOf(&s.Value.Spec.ScaleTargetRef, s.Object)] = policies.Name(s.Object)
		}
	}
	for _, t := range f.in.Templates {
		if r := t.Ref(); r != madeOf(r) || !f.in.IsClaimed(t) {
			continue
		}
		f.taken[object.ScaleTarget(t.Ref().Namespace, t.Content)] = policies.Name(t.Object)
	}
}

// add adds a FederatedHPA, if something comes of it.
func (f *finder) add(l policies.Located[karmada.FederatedHPA]) {
	acted := f.in.Was(madeOf(l.Object.Ref()))
	s := &Scaler{Located: l, Target: TargetOf(&l.Value.Spec.ScaleTargetRef, l.Object), Bounds: f.inForce(l)}
	pos, name := l.Object.FieldPos([]any{"spec", "scaleTargetRef"}), policies.Name(l.Object)
	t, found := f.template(s.Target)
	if !found {
		f.report(diag.Diagnostic{
			Code: diag.ScalesNothing, Severity: diag.Warning, Pos: pos,
			Message: fmt.Sprintf("%s scales %s, which is no template of the source", name, s.Target),
			Hint:    "check its apiVersion, kind and name, and that both are in one namespace",
		})
		return
	}
	if _, is := f.template(s.Ref()); is {
		f.report(diag.Diagnostic{
			Code: diag.DuplicateObject, Severity: diag.Error, Pos: l.Object.Origin(),
			Message: fmt.Sprintf("%s becomes %s, which is in the source, too; nothing comes of it", name, s.Ref()),
			Hint:    "give one of them another name",
		})
		return
	}
	if why := f.unscalable(t); why != "" {
		f.report(diag.Diagnostic{
			Code: diag.NotScalable, Severity: diag.Error, Pos: pos,
			Message: fmt.Sprintf("%s scales %s, %s", name, s.Target, why),
			Hint:    "scale what has spec.replicas, such as a Deployment or a StatefulSet",
		})
		return
	}
	if other := f.taken[s.Target]; other != "" {
		comesOfIt := "nothing comes of this one"
		if acted {
			comesOfIt = "both act, and each undoes what the other does"
		}
		f.report(diag.Diagnostic{
			Code: diag.ScalesTwice, Severity: diag.Error, Pos: pos,
			Message: fmt.Sprintf("%s scales %s, which %s scales, too; %s", name, s.Target, other, comesOfIt),
			Hint:    "remove one of them; a CronFederatedHPA can scale the FederatedHPA instead",
		})
		if !acted || f.result.Of[s.Target] != nil {
			return
		}
	}
	f.taken[s.Target], f.result.Of[s.Target] = name, s
	f.result.Scalers = append(f.result.Scalers, s)
}

func (f *finder) template(r object.Ref) (*template.Template, bool) {
	i, found := slices.BinarySearchFunc(f.in.Templates, r, func(t *template.Template, r object.Ref) int { return t.Ref().Compare(r) })
	if !found {
		return nil, false
	}
	return f.in.Templates[i], true
}

// unscalable says why nobody can scale a template; empty if somebody can.
func (f *finder) unscalable(t *template.Template) string {
	if _, sealed := t.Object.Sealed(); sealed {
		return "which is encrypted by SOPS, so that its replicas cannot be left out"
	}
	interpreter := f.in.Interpreter.About(t.Object)
	const probe = 7919 // that no template has
	revised, err := map[string]any(nil), error(nil)
	if interpreter.Revisable(t.Content) {
		revised, err = interpreter.Revise(t.Content, probe)
	}
	spec, _ := revised["spec"].(map[string]any)
	if n, _ := spec["replicas"].(int64); err != nil || n != probe {
		return "of which spec.replicas does not say how many there are"
	}
	return ""
}

// TargetOf is what an object scales, which is in its namespace.
func TargetOf(r *autoscalingv2.CrossVersionObjectReference, by *object.Object) object.Ref {
	return object.TargetOf(by.Ref().Namespace, r.APIVersion, r.Kind, r.Name)
}
