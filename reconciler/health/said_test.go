package health_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhichKindsHaveAHealth: of others it is enough that the object is there.
func TestWhichKindsHaveAHealth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		group, kind string
		want        bool
	}{
		{"apps", "Deployment", true},
		{"", "Service", true},
		{"", "Pod", true},
		{"", "ConfigMap", false},
		{"", "Secret", false},
		{"example.com", "ConfigMap", true},
		{"", "ServiceAccount", false},
		{"rbac.authorization.k8s.io", "Role", false},
		{"example.com", "Role", true},
		{"storage.k8s.io", "StorageClass", false},
		{"networking.k8s.io", "IngressClass", false},
		{"networking.k8s.io", "Ingress", true},
	} {
		if got := health.Has(object.Ref{Group: tt.group, Kind: tt.kind, Name: "x"}); got != tt.want {
			t.Errorf("%s %s has one: %t", tt.group, tt.kind, got)
		}
	}
	if h := health.There(); h.State != karmada.ResourceHealthy || h.Reason != "" {
		t.Errorf("what is there is %+v", h)
	}
	if h := health.Missing(); h.State != karmada.ResourceUnhealthy || h.Reason != health.NotFound {
		t.Errorf("what is not there is %+v", h)
	}
}

// TestWhatIsReported: the status of a kind whose reports somebody aggregates, unless it is over 16 KiB, and of no other kind.
func TestWhatIsReported(t *testing.T) {
	t.Parallel()
	judge := health.Judge{Kinds: interpret.New()}
	service := func(hostname int) json.RawMessage {
		obj := fmt.Sprintf(`{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: %s}]}}}`, strings.Repeat("a", hostname))
		return judge.Of(live(t, "v1 Service", obj), health.Moment{}).Status
	}
	const most = 16 << 10
	short := service(1)
	if !strings.Contains(string(short), `"hostname":"a"`) {
		t.Fatalf("of a Service it is %s", short)
	}
	if got := service(1 + most - len(short)); len(got) != most {
		t.Errorf("of the most that is reported it has %d bytes", len(got))
	}
	if got := service(2 + most - len(short)); got != nil {
		t.Errorf("of one byte more it has %d bytes", len(got))
	}
	for _, kind := range []string{"example.com/v1 Thing", "v1 ConfigMap"} {
		if got := judge.Of(live(t, kind, `{status: {token: CANARY}}`), health.Moment{}).Status; got != nil {
			t.Errorf("of a %s it is %s", kind, got)
		}
	}
	teaches := func(reflects string) *karmada.ResourceInterpreterCustomization {
		c := teach("example.com/v1 Thing", "function InterpretHealth(o) return true end")
		c.Spec.Customizations.StatusReflection = &karmada.LuaScript{LuaScript: "function ReflectStatus(o) " + reflects + " end"}
		return c
	}
	for reflects, want := range map[string]string{"return {seen = o.status.a}": `{"seen":1}`, "return o.no.where": "", "return nil": ""} {
		judge := health.Judge{Kinds: interpret.New(teaches(reflects))}
		if got := judge.Of(live(t, "example.com/v1 Thing", `{status: {a: 1}}`), health.Moment{}); string(got.Status) != want || got.State != karmada.ResourceHealthy {
			t.Errorf("of a kind whose status %q it is %s, and %s", reflects, got.Status, got.State)
		}
	}
	sums := teach("example.com/v1 Thing", "function InterpretHealth(o) return true end")
	sums.Spec.Customizations.StatusAggregation = &karmada.LuaScript{LuaScript: "function AggregateStatus(o, items) return o end"}
	judge = health.Judge{Kinds: interpret.New(sums)}
	if got := judge.Of(live(t, "example.com/v1 Thing", `{status: {a: 1}}`), health.Moment{}).Status; string(got) != `{"a":1}` {
		t.Errorf("of a kind whose status is summed up it is %s", got)
	}
}

// TestWhatAVerdictIsFoundedOn: the generation of the object, and the one that its status is about.
func TestWhatAVerdictIsFoundedOn(t *testing.T) {
	t.Parallel()
	judge := health.Judge{Kinds: interpret.New()}
	h := judge.Of(live(t, "example.com/v1 Thing", `{metadata: {generation: 3}, status: {observedGeneration: 2}}`), health.Moment{})
	if h.Generation != 3 || h.Observed != 2 || h.State != karmada.ResourceUnhealthy || h.Reason != health.InProgress {
		t.Errorf("it is %+v", h)
	}
}
