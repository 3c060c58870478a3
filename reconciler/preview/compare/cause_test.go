package compare

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
)

// one decodes a manifest of a file.
func one(t *testing.T, file, text string) *object.Object {
	t.Helper()
	o, ds := object.Single(file, []byte(text))
	if o == nil {
		t.Fatal(ds)
	}
	return o
}

func TestWhyNamesEveryCause(t *testing.T) {
	const policyHead = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: "
	web := func(data string) *object.Object {
		return one(t, "web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: a}\ndata: {k: "+data+"}\n")
	}
	policy := func(name, spec string) *policies.Propagation {
		return &policies.Propagation{Object: one(t, "p.yaml", policyHead+name+", namespace: a}\nspec: {schedulerName: "+spec+"}\n")}
	}
	eu, us := karmada.TargetCluster{Name: "eu", Replicas: 2}, karmada.TargetCluster{Name: "us", Replicas: 2}
	more := karmada.TargetCluster{Name: "eu", Replicas: 5}
	decision := func(o *object.Object, p *policies.Propagation, targets ...karmada.TargetCluster) *plan.Decision {
		return &plan.Decision{Template: &template.Template{Variant: template.Variant{Object: o}}, Policy: p, Targets: targets}
	}
	told := func(d *plan.Decision, message string) *plan.Decision {
		d.Message = message
		return d
	}
	done := func(d *plan.Decision, message string) *plan.Decision {
		d.Reason = string(place.Success)
		return told(d, message)
	}
	lacks := func(d *plan.Decision, is bool) *plan.Decision {
		d.Backends = map[string]ingress.Found{"eu": {Lacks: is}}
		return d
	}
	rendered := func(d *plan.Decision) *plan.Decision {
		d.Template.Part = &template.Part{Release: web("1")}
		return d
	}
	changed := item{changed: []byGroup[*content]{{groups: []int{0}}}}
	moved, gone, come := item{added: []int{0}, removed: []int{0}}, item{removed: []int{0}}, item{added: []int{0}}
	for _, tt := range []struct {
		name       string
		object     item
		base, head *plan.Decision
		want       string
	}{
		{"what no policy places, as in a bound folder", come, nil, nil, ""},
		{"a new template", come, nil, decision(web("1"), policy("p", "x"), eu), "new (web.yaml:1)"},
		{"a template that is gone", gone, decision(web("1"), policy("p", "x"), eu), nil, "removed (web.yaml:1)"},
		{"another template", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("p", "x"), eu), "changed (web.yaml:1)"},
		{"another policy", moved, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("q", "x"), us), "claimed by PropagationPolicy a/q, before by PropagationPolicy a/p (p.yaml:1)"},
		{"other clusters by the same policy", moved, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("p", "z"), us), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"other clusters and another template", moved, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("p", "z"), us), "placed otherwise by PropagationPolicy a/p (p.yaml:1); changed (web.yaml:1)"},
		{"another policy and another template", moved, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("q", "x"), us), "claimed by PropagationPolicy a/q, before by PropagationPolicy a/p (p.yaml:1); changed (web.yaml:1)"},
		{"other replicas by the template", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("p", "x"), more), "changed (web.yaml:1)"},
		{"other replicas by the policy", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("p", "z"), more), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"other replicas by both", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("p", "z"), more), "placed otherwise by PropagationPolicy a/p (p.yaml:1); changed (web.yaml:1)"},
		{"other replicas by the fleet", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("p", "x"), more), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"a message", gone, decision(web("1"), policy("p", "x"), eu), told(decision(web("1"), policy("p", "x")), "0/2 clusters are available"), "placed otherwise by PropagationPolicy a/p (p.yaml:1); 0/2 clusters are available"},
		{"a message that is gone", come, told(decision(web("1"), policy("p", "x")), "0/2 clusters are available"), decision(web("1"), policy("p", "x"), eu), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"a message that was there before", gone, told(decision(web("1"), policy("p", "x"), eu), "0/2 clusters are available"), told(decision(web("1"), policy("p", "x")), "0/2 clusters are available"), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"the message of a success", moved, decision(web("1"), policy("p", "x"), eu), done(decision(web("1"), policy("p", "x"), us), "it was placed"), "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
		{"other clusters by the template", moved, decision(web("1"), policy("p", "x"), eu), decision(web("2"), policy("p", "x"), us), "placed otherwise by PropagationPolicy a/p (p.yaml:1); changed (web.yaml:1)"},
		{"other replicas of a dependency by the template", item{}, decision(web("1"), nil, eu), decision(web("2"), nil, more), "changed (web.yaml:1)"},
		{"claimed by none", gone, decision(web("1"), policy("p", "x"), eu), decision(web("1"), nil), "claimed by no policy, before by PropagationPolicy a/p (p.yaml:1)"},
		{"claimed by none before", come, decision(web("1"), nil), decision(web("1"), policy("p", "x"), eu), "claimed by PropagationPolicy a/p, before by no policy (p.yaml:1)"},
		{"a template that is rendered now", item{}, decision(web("1"), policy("p", "x"), eu), rendered(decision(web("2"), policy("p", "x"), eu)), "changed (web.yaml:1)"},
		{"a template that is not rendered any more", item{}, rendered(decision(web("1"), policy("p", "x"), eu)), decision(web("2"), policy("p", "x"), eu), "changed (web.yaml:1)"},
		{"a Service that is another one", changed, lacks(decision(web("1"), policy("p", "x"), eu), true), lacks(decision(web("1"), policy("p", "x"), eu), false), "a Service that it sends traffic to is another one, or is written otherwise"},
		{"a Service, and the template", changed, lacks(decision(web("1"), policy("p", "x"), eu), true), lacks(decision(web("2"), policy("p", "x"), eu), false), "changed (web.yaml:1)"},
		{"a Service, and nothing changes", come, lacks(decision(web("1"), policy("p", "x"), eu), true), lacks(decision(web("1"), policy("p", "x"), eu), false), "something in the cluster needs it now"},
		{"nothing changes", item{}, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("p", "x"), eu), ""},
		{"a dependency that follows", moved, decision(web("1"), nil, eu), decision(web("1"), nil, us), "what needs it is placed otherwise"},
		{"a Namespace that something needs", come, decision(web("1"), nil), decision(web("1"), nil), "something in the cluster needs it now"},
		{"a Namespace that nothing needs", gone, decision(web("1"), nil), decision(web("1"), nil), "nothing in the cluster needs it any more"},
		{"a Namespace that follows", moved, decision(web("1"), nil), decision(web("1"), nil), "it follows what needs it"},
		{"another override", item{changed: []byGroup[*content]{{}}}, decision(web("1"), policy("p", "x"), eu), decision(web("1"), policy("p", "x"), eu), "overridden otherwise"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := why{comparer: &comparer{groups: []group{{names: []string{"eu"}}}}, base: map[object.Ref]*plan.Decision{}, head: map[object.Ref]*plan.Decision{}, before: folders{plan: &plan.Plan{}}, after: folders{plan: &plan.Plan{}}}
			if tt.base != nil {
				w.base[tt.object.ref] = tt.base
			}
			if tt.head != nil {
				w.head[tt.object.ref] = tt.head
			}
			var all []string
			for _, cause := range w.causes(&tt.object) {
				all = append(all, cause.String())
			}
			if got := strings.Join(all, "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
