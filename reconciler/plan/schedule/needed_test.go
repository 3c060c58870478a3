package schedule_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// What is needed goes where those are that need it, beside where its own policy has it, and is found by name or by labels.
func TestWhatIsNeededGoesAlong(t *testing.T) {
	const (
		inEU    = "propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [eu]}}"
		both    = "propagateDeps: true\n  placement: {}"
		nowhere = "propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [ap]}}"
		own     = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: own, namespace: a}\nspec:\n" +
			"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {clusterAffinity: {clusterNames: [NAMES]}}\n"
		more   = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: a, labels: {k: v}}\n"
		secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: more, namespace: a, labels: {k: v}}\n"
		other  = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: b, labels: {k: v}}\n"
		script = "---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: needs}\n" +
			"spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {dependencyInterpretation: {luaScript: 'function GetDependencies(o) BODY end'}}}\n"
	)
	asks := func(body string) string { return strings.Replace(script, "BODY", body, 1) }
	byLabels := asks("return {{apiVersion = \"v1\", kind = \"ConfigMap\", namespace = \"a\", labelSelector = {matchLabels = {k = \"v\"}}}}")
	itself := asks("return {{apiVersion = \"apps/v1\", kind = \"Deployment\", namespace = \"a\", name = \"web\"}}")
	gone := asks("return {{apiVersion = \"v1\", kind = \"ConfigMap\", namespace = \"a\", name = \"gone\"}}")
	older := asks("return {{apiVersion = \"v1beta1\", kind = \"ConfigMap\", namespace = \"a\", name = \"settings\"}}")
	for _, tt := range []struct{ name, first, second, want, says string }{
		{"by name", "", policy(inEU), "settings placed eu:10; web placed eu:10", ""},
		{"it has a policy for another cluster", "", policy(inEU) + strings.Replace(own, "NAMES", "us", 1), "settings placed eu:10 us:0; web placed eu:10", ""},
		{"it has a policy for the same cluster", "", policy(inEU) + strings.Replace(own, "NAMES", "eu", 1), "settings placed eu:0; web placed eu:10", ""},
		{"it has a policy for all of them", "", policy(both) + strings.Replace(own, "NAMES", "'eu,us'", 1), "settings placed eu:10 us:10; web placed eu:10 us:10", "unschedulable"},
		{"who needs it finds no cluster", "", policy(nowhere), "settings unclaimed; web placed", "unschedulable"},
		{"by labels", "", more + secret + other + policy(inEU) + byLabels, "more placed eu:10; settings unclaimed; more unclaimed; web placed eu:10; more unclaimed", ""},
		{"nothing has the labels", "", policy(inEU) + byLabels, "settings unclaimed; web placed eu:10", ""},
		{"it names itself", "", policy(inEU) + itself, "settings unclaimed; web placed eu:10", ""},
		{"it names what is not there", "", policy(inEU) + gone, "settings unclaimed; web placed eu:10", ""},
		{"it names another version", "", policy(inEU) + older, "settings unclaimed; web placed eu:10", ""},
		{"what it needs cannot be told, and nothing went along before", "", policy(inEU) + asks("error(\"no\")"), "settings unclaimed; web placed eu:10", "dependencies"},
		{
			"what it needs cannot be told, and what went along before does", policy(inEU), policy(both) + asks("error(\"no\")"),
			"settings placed eu:10 us:10; web placed eu:10 us:10", "dependencies",
		},
		{"it needs it no longer", policy(inEU), policy(inEU) + gone, "settings unclaimed; web placed eu:10", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			if tt.first != "" {
				r := decide(t, fleet+web+tt.first, st)
				st = after(&r)
			}
			r := decide(t, fleet+web+tt.second, st)
			if got := summary(&r); got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it decides %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
			if b := r.Find(webRef).Binding; b != nil && len(b.Spec.RequiredBy) > 0 {
				t.Errorf("web is needed by %v", b.Spec.RequiredBy)
			}
		})
	}
}

// Two that need one thing are both recorded, each once, and those of one name in two namespaces are two.
func TestWhoNeedsItIsRecorded(t *testing.T) {
	const (
		clusterWide = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p}\nspec:\n" +
			"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}, {apiVersion: apps/v1, kind: Deployment, namespace: b, name: web}]\n" +
			"  propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [eu]}}\n"
		script = "---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: needs}\n" +
			"spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {dependencyInterpretation: {luaScript: 'function GetDependencies(o) " +
			"return {{apiVersion = \"v1\", kind = \"ConfigMap\", namespace = \"a\", name = \"settings\"}, " +
			"{apiVersion = \"v1\", kind = \"ConfigMap\", namespace = \"a\", labelSelector = {matchExpressions = {{key = \"k\", operator = \"DoesNotExist\"}}}}} end'}}}\n"
	)
	deployment, _, _ := strings.Cut(web, "---")
	there := "---" + strings.Replace(deployment, "namespace: a", "namespace: b", 1)
	r := decide(t, fleet+web+there+clusterWide+script, &state.State{})
	settings := r.Find(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "settings"})
	if settings.Binding == nil {
		t.Fatalf("it decides %s, and says %v", summary(&r), r.Diags)
	}
	var by []string
	for _, s := range settings.Binding.Spec.RequiredBy {
		by = append(by, s.Namespace+"/"+s.Name)
	}
	if got := strings.Join(by, " "); got != "a/web-deployment b/web-deployment" || len(settings.Targets) != 1 {
		t.Errorf("it is needed by %s, and goes to %v", got, settings.Targets)
	}
	again := decide(t, fleet+web+there+clusterWide+script, after(&r))
	if again.Find(settings.Ref()).Binding != settings.Binding {
		t.Error("it is recorded otherwise, and nothing changed")
	}
	pulled := schedule.PulledBefore(again.Decisions, after(&r))
	for _, namespace := range []string{"a", "b"} {
		if refs := pulled.Of(object.Ref{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}); len(refs) != 1 || refs[0] != settings.Ref() {
			t.Errorf("web of %s pulled %v along", namespace, refs)
		}
	}
	if refs := pulled.Of(settings.Ref()); len(refs) > 0 {
		t.Errorf("the settings pulled %v along", refs)
	}
}

// What is sent along for a policy that preserves or overwrites says so in its binding, where it has no policy of its own.
func TestWhatGoesAlongIsTreatedAsWhatNeedsIt(t *testing.T) {
	for _, tt := range []struct {
		name, more        string
		preserves, writes bool
	}{
		{"plain", "", false, false},
		{"preserved", "preserveResourcesOnDeletion: true\n  ", true, false},
		{"overwritten", "conflictResolution: Overwrite\n  ", false, true},
	} {
		r := decide(t, fleet+web+policy(tt.more+"propagateDeps: true\n  placement: {}"), &state.State{})
		for _, ref := range []object.Ref{webRef, {Kind: "ConfigMap", Namespace: "a", Name: "settings"}} {
			d := r.Find(ref)
			spec := &d.Binding.Spec
			says := spec.PreserveResourcesOnDeletion != nil && *spec.PreserveResourcesOnDeletion
			if d.Preserved() != tt.preserves || d.Overwrites() != tt.writes || says != tt.preserves || spec.PreserveResourcesOnDeletion != nil && !says || (spec.ConflictResolution == karmada.ConflictOverwrite) != tt.writes {
				t.Errorf("%s: %s is preserved: %t, overwrites: %t, and its binding says %+v", tt.name, ref, d.Preserved(), d.Overwrites(), spec)
			}
		}
	}
}
