package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

const (
	cloneSet = "apps.kruise.io/v1alpha1 CloneSet"
	ready    = `{metadata: {generation: 1}, spec: {replicas: 1, updateStrategy: {}}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, updatedReadyReplicas: 1, updatedAvailableReplicas: 1}}`
	pausing  = `{metadata: {generation: 1}, spec: {replicas: 1, updateStrategy: {paused: true}}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, updatedReadyReplicas: 1, updatedAvailableReplicas: 1}}`
)

// teach is a customization with a script for the health of a kind.
func teach(kind, script string) *karmada.ResourceInterpreterCustomization {
	apiVersion, name, _ := strings.Cut(kind, " ")
	c := &karmada.ResourceInterpreterCustomization{Spec: karmada.ResourceInterpreterCustomizationSpec{
		Target:         karmada.CustomizationTarget{APIVersion: apiVersion, Kind: name},
		Customizations: karmada.CustomizationRules{HealthInterpretation: &karmada.LuaScript{LuaScript: script}},
	}}
	c.Name = "mine"
	return c
}

// TestOrder asks which rule says what.
func TestOrder(t *testing.T) {
	t.Parallel()
	const healthy, unhealthy = karmada.ResourceHealthy, karmada.ResourceUnhealthy
	for _, tt := range []struct {
		name, kind, obj string
		prefer          health.Prefer
		script          string // of a customization; one that begins with return is Argo CD's
		state           karmada.ResourceHealth
		why, by         string
	}{
		{"both have a rule", cloneSet, ready, "", "", healthy, ": All Cloneset workloads", "argo-cd v3.5.0 apps.kruise.io/CloneSet, karmada v1.16.0 apps.kruise.io/CloneSet"},
		{"Karmada's is preferred", cloneSet, pausing, health.PreferKarmada, "", healthy, "", "kstatus, karmada v1.16.0 apps.kruise.io/CloneSet"},
		{"Argo CD's is preferred", cloneSet, ready, health.PreferArgoCD, "", healthy, ": All Cloneset workloads", "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"Argo CD suspends", cloneSet, pausing, "", "", unhealthy, "Suspended: Cloneset is paused", "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"only Karmada has a rule", "kubeflow.org/v1 Notebook", `{status: {containerState: {running: {startedAt: x}}}}`, "", "", healthy, "", "kstatus, karmada v1.16.0 kubeflow.org/Notebook"},
		{"only Argo CD has a rule", "cert-manager.io/v1 Certificate", `{status: {conditions: [{type: Ready, status: "False", reason: Failed, message: no issuer}]}}`, health.PreferKarmada, "", unhealthy, "Failed: no issuer", "argo-cd v3.5.0 cert-manager.io/Certificate"},
		{"a wildcard", "nop.crossplane.io/v1 NopResource", `{status: {conditions: [{type: Synced, status: "False", message: no account}]}}`, "", "", unhealthy, "Failed: no account", "argo-cd v3.5.0 _.crossplane.io/_"},
		{"nobody has a rule", "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "True"}]}}`, "", "", healthy, "", "kstatus"},
		{"a condition of Kubernetes' conventions", "example.com/v1 Thing", `{status: {conditions: [{type: Synced, status: "False", message: no route}]}}`, "", "", unhealthy, "InProgress: no route", "kstatus"},
		{"one that is not available", "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "True"}, {type: Available, status: "False", message: no pod}]}}`, "", "", unhealthy, "InProgress: no pod", "kstatus"},
		{"one that is not healthy", "example.com/v1 Thing", `{status: {conditions: [{type: Healthy, status: "False", message: no disk}]}}`, "", "", unhealthy, "InProgress: no disk", "kstatus"},
		{"one that failed", "example.com/v1 Thing", `{status: {conditions: [{type: Failed, status: "True", message: no more}]}}`, "", "", unhealthy, "Failed: no more", "kstatus"},
		{"one that did not fail", "example.com/v1 Thing", `{status: {conditions: [{type: Failed, status: "False"}, {type: Degraded, status: "False"}, {type: Available, status: "True"}, {type: Synced, status: Unknown}]}}`, "", "", healthy, "", "kstatus"},
		{"one of Kubernetes' own kind means what that kind says", "networking.k8s.io/v1 Ingress", `{status: {conditions: [{type: Degraded, status: "True"}], loadBalancer: {ingress: [{ip: 10.0.0.1}]}}}`, "", "", healthy, "", "kstatus, built-in"},
		{"one that says that it failed", "example.com/v1 Thing", `{status: {conditions: [{type: Degraded, status: "True", message: no quorum}]}}`, "", "", unhealthy, "Failed: no quorum", "kstatus"},
		{"Kubernetes' own kind", "apps/v1 Deployment", `{}`, "", "", unhealthy, "InProgress: ", "kstatus"},
		{"a CronJob that failed", "batch/v1 CronJob", `{spec: {}, status: {lastScheduleTime: "2026-01-02T00:00:00Z", lastSuccessfulTime: "2026-01-01T00:00:00Z"}}`, "", "", unhealthy, "Failed: CronJob has not completed", "argo-cd v3.5.0 batch/CronJob"},
		{"a CustomResourceDefinition", "apiextensions.k8s.io/v1 CustomResourceDefinition", `{status: {conditions: [{type: Established, status: "True"}]}}`, "", "", healthy, "", "kstatus"},
		{"a customization, alone", cloneSet, pausing, "", "function InterpretHealth(o) return true end", healthy, "", "customization mine"},
		{"a customization that says no", cloneSet, ready, "", "function InterpretHealth(o) return false end", unhealthy, "InProgress: it is not healthy by the rule", "customization mine"},
		{"a customization that fails", cloneSet, pausing, "", "function InterpretHealth(o) return o.spec.no.where end", unhealthy, "Suspended: customization mine: InterpretHealth: line 1: ", "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"a customization that fails, of a kind that nobody else knows", "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "True"}]}}`, "", "function InterpretHealth(o) return o.no.where end", karmada.ResourceUnknown, "Unknown: customization mine: ", "kstatus"},
		{"a script for Argo CD, alone", "v1 Service", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}}`, "", "return {status = 'Healthy', message = obj.spec.type}", healthy, ": LoadBalancer", "ConfigMap a/b Service"},
		{"one that says nothing", cloneSet, pausing, "", "return nil", unhealthy, "Suspended: Cloneset is paused", "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"one that fails", cloneSet, pausing, "", "return obj.no.where", unhealthy, "Suspended: ConfigMap a/b apps.kruise.io/CloneSet: line 1: ", "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"one whose status is none", cloneSet, pausing, "", "return {status = 'Fine'}", unhealthy, `Suspended: ConfigMap a/b apps.kruise.io/CloneSet: it returned the status "Fine"`, "argo-cd v3.5.0 apps.kruise.io/CloneSet"},
		{"one that wants memory, of a kind that nobody else knows", "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "True"}]}}`, "", "return ('x'):rep(1e9)", karmada.ResourceUnknown, "Unknown: ConfigMap a/b example.com/Thing: line 1: the script takes over 64 MiB", "kstatus"},
		{"one that loops", cloneSet, ready, "", "function InterpretHealth(o) while true do end", healthy, ": customization mine: InterpretHealth: ", "argo-cd v3.5.0 apps.kruise.io/CloneSet, karmada v1.16.0 apps.kruise.io/CloneSet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var custom []*karmada.ResourceInterpreterCustomization
			var own *argocd.Rules
			switch {
			case strings.HasPrefix(tt.script, "return "):
				apiVersion, kind, _ := strings.Cut(tt.kind, " ")
				if group, _, ok := strings.Cut(apiVersion, "/"); ok {
					kind = group + "_" + kind
				}
				scripts, _ := argocd.Read("a/b", map[string]string{"resource.customizations.health." + kind: tt.script})
				own = scripts.Rules()
			case tt.script != "":
				custom = append(custom, teach(tt.kind, tt.script))
			}
			judge := health.Judge{Kinds: interpret.New(custom...), Prefer: tt.prefer, Own: own}
			h := judge.Of(live(t, tt.kind, tt.obj), health.Moment{})
			if h.State != tt.state || h.By != tt.by {
				t.Errorf("it is %s by %q, want %s by %q (%s: %s)", h.State, h.By, tt.state, tt.by, h.Reason, h.Message)
			}
			why := h.Reason + ": " + h.Message
			if tt.why == "" && why != ": " || !strings.HasPrefix(why, tt.why) {
				t.Errorf("the reason is %q, want %q", why, tt.why)
			}
		})
	}
}

// TestNoStatusYet gives a controller time to write a status, where one may come.
func TestNoStatusYet(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	thing := live(t, "example.com/v1 Thing", `{metadata: {creationTimestamp: "2026-01-01T00:00:00Z"}}`)
	judge := health.Judge{Kinds: interpret.New()}
	for _, tt := range []struct {
		name  string
		at    health.Moment
		want  karmada.ResourceHealth
		again time.Duration
	}{
		{"new", health.Moment{Now: created.Add(9 * time.Second)}, karmada.ResourceUnhealthy, time.Second},
		{"newer than the cluster's last answer", health.Moment{Now: created.Add(-time.Hour)}, karmada.ResourceUnhealthy, 10 * time.Second},
		{"ten seconds old", health.Moment{Now: created.Add(10 * time.Second)}, karmada.ResourceHealthy, 0},
		{"others have a status", health.Moment{Now: created.Add(59 * time.Second), HasPeers: true}, karmada.ResourceUnhealthy, time.Second},
		{"a minute old", health.Moment{Now: created.Add(time.Minute), HasPeers: true}, karmada.ResourceHealthy, 0},
		{"nobody knows the time", health.Moment{HasPeers: true}, karmada.ResourceHealthy, 0},
	} {
		if h := judge.Of(thing, tt.at); h.State != tt.want || h.Again != tt.again {
			t.Errorf("%s: it is %s, and another after %s; want %s, and %s", tt.name, h.State, h.Again, tt.want, tt.again)
		}
	}
}

// TestEachRoundHasAllOfItsSteps: scripts that have taken all the steps that there are say something again in the next round, customizations
// and those of a ConfigMap.
func TestEachRoundHasAllOfItsSteps(t *testing.T) {
	t.Parallel()
	const long = "local s = ('x'):rep(1e6) for i = 1, 11 do s = s:upper() end "
	scripts, wrong := argocd.Read("a/b", map[string]string{
		"resource.customizations.health.example.com_Theirs": long + "return {status = 'Healthy'}",
	})
	mine := teach("example.com/v1 Mine", "function InterpretHealth(o) "+long+"return true end")
	judge := health.Judge{Kinds: interpret.New(mine), Own: scripts.Rules()}
	for _, kind := range []string{"example.com/v1 Mine", "example.com/v1 Theirs"} {
		thing := live(t, kind, "{}")
		first := judge.Of(thing, health.Moment{})
		last := first
		for n := 0; last.Failed == "" && n < 100; n++ {
			last = judge.Of(thing, health.Moment{})
		}
		judge.Renew()
		if again := judge.Of(thing, health.Moment{}); first.Failed != "" || last.Failed == "" || again.Failed != "" {
			t.Errorf("%s: first %q, at the end %q, in the next round %q (%v)", kind, first.Failed, last.Failed, again.Failed, wrong)
		}
	}
}
