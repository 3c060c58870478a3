package backend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhereTrafficGoes in each cluster: to the Service that is there, by its name where that is another one, and what is missing.
func TestWhereTrafficGoes(t *testing.T) {
	mci, diags := object.Single("mci.yaml", []byte("apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterIngress\nmetadata: {name: web, namespace: shop}\n"))
	if mci == nil {
		t.Fatal(diags)
	}
	service := func(name string) object.Ref { return object.Ref{Kind: "Service", Namespace: "shop", Name: name} }
	found := map[string]ingress.Found{
		"us": {Names: ingress.NamesOf(map[object.Ref]string{service("web"): "web", service("api"): "derived-api"})},
		"eu": {Names: ingress.NamesOf(map[object.Ref]string{service("web"): "web"}), Lacks: true},
		"za": {},
	}
	for _, tt := range []struct {
		name     string
		decision schedule.Decision
		want     string
	}{
		{"it has none", schedule.Decision{Template: &template.Template{}}, ""},
		{"it has none in any cluster", schedule.Decision{Template: &template.Template{}, Backends: map[string]ingress.Found{}}, ""},
		{"it is made of something", schedule.Decision{Template: &template.Template{MadeOf: mci}, Backends: map[string]ingress.Found{}}, "\nmade of MultiClusterIngress shop/web\n"},
		{"it has some", schedule.Decision{Template: &template.Template{}, Backends: found}, `CLUSTER  SERVICES THAT TRAFFIC IS SENT TO
eu       shop/web, something is not there
us       shop/api as derived-api, shop/web
za       -
`},
	} {
		var b strings.Builder
		Write(&b, Of(&tt.decision))
		if d := cmp.Diff(tt.want, b.String()); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}
