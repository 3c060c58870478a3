package health_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// TestTwoAnswers asks for objects what Karmada's aggregatedStatus says, and whether they are done.
func TestTwoAnswers(t *testing.T) {
	t.Parallel()
	const (
		healthy, unhealthy, unknown = karmada.ResourceHealthy, karmada.ResourceUnhealthy, karmada.ResourceUnknown
		deleted                     = `deletionTimestamp: "2026-01-01T00:00:00Z"`
	)
	for _, tt := range []struct {
		name, kind, obj string
		karmada, done   karmada.ResourceHealth
		why             string // reason and message begin so
	}{
		{
			"the one pod of a roll-out is pending, and the old one serves", "apps/v1 Deployment",
			`{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1,
			  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: ReplicaSetUpdated}]}}`,
			healthy, unhealthy, "InProgress: Pending termination: 1",
		},
		{
			"maxUnavailable 0, and the new pods do not come up in time", "apps/v1 Deployment",
			`{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 2, replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1,
			  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`,
			healthy, unhealthy, "Failed: Progress deadline exceeded",
		},
		{
			"a roll-out is over", "apps/v1 Deployment",
			`{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1,
			  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}`,
			healthy, healthy, "",
		},
		{
			"an old pod of a StatefulSet is left", "apps/v1 StatefulSet",
			`{metadata: {generation: 2}, spec: {replicas: 2, updateStrategy: {type: RollingUpdate}}, status: {observedGeneration: 2, replicas: 3, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 2}}`,
			healthy, unhealthy, "InProgress: Pending termination: 1",
		},
		{"a kind that nobody has a rule for says that it is not ready", "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "False", message: no disk}]}}`, healthy, unhealthy, "InProgress: no disk"},
		{"its status cannot be read", "example.com/v1 Thing", `{metadata: {generation: 1}, status: {observedGeneration: often}}`, healthy, unknown, "Unknown: its status cannot be read"},
		{"Karmada's rule is not satisfied", "v1 Service", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}}`, unhealthy, unhealthy, "InProgress: it is not healthy by the rule for its kind"},
		{"it is being deleted", "v1 Service", `{metadata: {` + deleted + `}, spec: {type: ClusterIP}}`, healthy, unhealthy, "Terminating: "},
		{"a status that Karmada's rule cannot read", "apps/v1 Deployment", `{status: {updatedReplicas: many}}`, unknown, unknown, "Unknown: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			judge := health.Judge{Kinds: interpret.New()}
			h := judge.Of(live(t, tt.kind, tt.obj), health.Moment{})
			byKarmada := h.State
			if h.Karmada != "" {
				byKarmada = h.Karmada
			}
			if byKarmada != tt.karmada || h.State != tt.done {
				t.Errorf("by Karmada it is %s and done %s, want %s and %s", byKarmada, h.State, tt.karmada, tt.done)
			}
			if why := strings.TrimPrefix(h.Reason+": "+h.Message, ": "); !strings.HasPrefix(why, tt.why) || tt.why == "" && why != "" {
				t.Errorf("the reason is %q, want %q", why, tt.why)
			}
		})
	}
}

// TestCustomizationsAreAskedAlone holds that who writes a rule says what is healthy.
func TestCustomizationsAreAskedAlone(t *testing.T) {
	t.Parallel()
	mine := &karmada.ResourceInterpreterCustomization{Spec: karmada.ResourceInterpreterCustomizationSpec{
		Target:         karmada.CustomizationTarget{APIVersion: "example.com/v1", Kind: "Thing"},
		Customizations: karmada.CustomizationRules{HealthInterpretation: &karmada.LuaScript{LuaScript: "function InterpretHealth(o) return true end"}},
	}}
	thing := live(t, "example.com/v1 Thing", `{status: {conditions: [{type: Ready, status: "False"}]}}`)
	judge := health.Judge{Kinds: interpret.New(mine)}
	if h := judge.Of(thing, health.Moment{}); h.State != karmada.ResourceHealthy || h.Karmada != "" {
		t.Errorf("it is %s (Karmada: %q), want Healthy", h.State, h.Karmada)
	}
}

// live is an object of an apiVersion and a kind.
func live(t *testing.T, kind, obj string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(obj, "\t", " ")), &o); err != nil {
		t.Fatal(err)
	}
	whole(o)
	apiVersion, name, _ := strings.Cut(kind, " ")
	o["apiVersion"], o["kind"] = apiVersion, name
	return o
}

// whole makes int64 of the numbers of an object, as clients read them.
func whole(o map[string]any) {
	for k, v := range o {
		switch v := v.(type) {
		case float64:
			o[k] = int64(v)
		case map[string]any:
			whole(v)
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					whole(m)
				}
			}
		}
	}
}
