package autoscale

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Placed is where the template of a FederatedHPA is.
type Placed struct {
	// Own are the clusters by its policy, with replicas, and All these and those that other templates bring it to.
	Own, All []karmada.TargetCluster
	// IsDivided reports that its replicas are divided, and Static the weights of Own if that is by static weights.
	IsDivided bool
	Static    []place.Weight
	// Seatless are the clusters for which its most has no replica.
	Seatless []string
}

// Shares returns what each cluster has of a FederatedHPA, and what there is to say of that. Replicas that are divided by room are
// divided as they are now.
func (s *Scaler) Shares(p Placed) (map[string]hpa.Share, []diag.Diagnostic) {
	shares := map[string]hpa.Share{}
	var diags []diag.Diagnostic
	if p.IsDivided {
		weights := p.Static
		if weights == nil {
			for _, c := range p.Own {
				weights = append(weights, place.Weight{Name: c.Name, Weight: int64(c.Replicas)})
			}
		}
		shares = hpa.Divide(s.Bounds, weights)
		diags = s.say(p, shares)
	} else {
		for _, c := range p.Own {
			shares[c.Name] = hpa.Whole(s.Bounds)
		}
	}
	own := map[string]bool{}
	for _, c := range p.Own {
		own[c.Name] = true
	}
	for _, c := range p.All {
		if !own[c.Name] {
			shares[c.Name] = hpa.Whole(s.Bounds) // what is pulled along is whole there
		}
	}
	return shares, diags
}

// say reports what division cannot give.
func (s *Scaler) say(p Placed, shares map[string]hpa.Share) (diags []diag.Diagnostic) {
	least := 0
	for _, share := range shares {
		least += int(share.Min)
	}
	name := policies.Name(s.Object)
	if least > int(s.Bounds.Min) {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HPAFloor, Severity: diag.Notice, Pos: s.Object.FieldPos([]any{"spec", "minReplicas"}),
			Message: fmt.Sprintf("%s asks for at least %d, and is divided over %s: there are at least %d, for a HorizontalPodAutoscaler cannot go below 1",
				name, s.Bounds.Min, words.Count(len(shares), "cluster"), least),
		})
	}
	if len(p.Seatless) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HPANoSeat, Severity: diag.Warning, Pos: s.Object.FieldPos([]any{"spec", "maxReplicas"}),
			Message: fmt.Sprintf("%s allows %d, which is less than one a cluster: %s gets neither %s nor a HorizontalPodAutoscaler",
				name, s.Bounds.Max, words.List(p.Seatless), s.Target),
			Hint: "raise maxReplicas, or have the policy choose fewer clusters",
		})
	}
	return diags
}

// Template is what a HorizontalPodAutoscaler that is made of the FederatedHPA is made from: one with the bounds that it is written with.
func (s *Scaler) Template() *template.Template {
	content := hpa.Make(s.Value, hpa.Whole(hpa.BoundsOf(s.Value)))
	o := object.Made(s.Object, content)
	return &template.Template{Variant: template.Variant{Object: o, Content: content}, Subject: policies.SubjectOf(o)}
}
