package autoscale_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

const scaled = fleet + `---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: other, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 5}
`

// A FederatedHPA acts unless a HorizontalPodAutoscaler that goes to clusters scales the same.
func TestWhatElseScalesATemplate(t *testing.T) {
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(scaled)).Objects, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	templates := make([]*template.Template, len(objects))
	for i, o := range objects {
		templates[i] = template.New(o, &template.Memo{})
	}
	slices.SortFunc(templates, func(a, b *template.Template) int { return a.Ref().Compare(b.Ref()) })
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	for _, tt := range []struct {
		name           string
		claimed, acted bool
		acts           bool
		says           diag.Code
	}{
		{"no policy selects it", false, false, true, ""},
		{"a policy selects it", true, false, false, diag.ScalesTwice},
		{"a policy selects it, and both acted by the last plan", true, true, true, diag.ScalesTwice},
	} {
		found := autoscale.Find(autoscale.Input{
			Set: &set, Templates: templates, Interpreter: interpret.New(),
			IsClaimed: func(t *template.Template) bool { return t.Ref() == web || tt.claimed },
			Was:       func(object.Ref) bool { return tt.acted },
		})
		if acts := found.Of[web] != nil; acts != tt.acts {
			t.Errorf("%s: the FederatedHPA acts: %t", tt.name, acts)
		}
		var says diag.Code
		if len(found.Diags) > 0 {
			says = found.Diags[0].Code
		}
		if says != tt.says || len(found.Diags) > 1 {
			t.Errorf("%s: it says %v", tt.name, found.Diags)
		}
	}
}
