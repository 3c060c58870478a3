package interpret_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// teach is a customization of a kind, "v1 Pod" for example, with one script.
func teach(tb testing.TB, name, kind, field, script string) *karmada.ResourceInterpreterCustomization {
	tb.Helper()
	apiVersion, kind, _ := strings.Cut(kind, " ")
	var c karmada.ResourceInterpreterCustomization
	c.Name = name
	c.Spec.Target = karmada.CustomizationTarget{APIVersion: apiVersion, Kind: kind}
	rules, err := yaml.Marshal(map[string]any{field: map[string]any{"luaScript": script}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(rules, &c.Spec.Customizations); err != nil {
		tb.Fatal(err)
	}
	return &c
}

const things = "example.com/v1 Thing"

func TestScriptsAnswerEveryOperation(t *testing.T) {
	thing := of(t, things, `
metadata: {name: t, namespace: shop, generation: 3}
spec: {size: 2, empty: [], none: {}, template: {spec: {
  containers: [{name: c, resources: {requests: {cpu: 100m}}, envFrom: [{configMapRef: {name: settings}}]}]}}}
status: {ready: 2, old: true}`)
	check := frozen(t, thing)
	defer check()
	t.Run("replicas, with requirements", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "replicaResource", `
			local kube = require("kube")
			function GetReplicas(obj) return obj.spec.size, kube.accuratePodRequirements(obj.spec.template) end`))
		n, needs, ok, err := in.Replicas(thing)
		if n != 2 || !ok || err != nil {
			t.Fatal(n, ok, err)
		}
		if got := needs.ResourceRequest.Cpu().String(); got != "100m" {
			t.Errorf("CPU %s, want 100m", got)
		}
	})
	t.Run("components, which leave no replicas", func(t *testing.T) {
		in := interpret.New(
			teach(t, "c", things, "componentResource", `function GetComponents(obj) return {
				{name = "head", replicas = 1, replicaRequirements = {resourceRequest = {cpu = "1"}}},
				{name = "workers", replicas = obj.spec.size}} end`),
			teach(t, "r", things, "replicaResource", `function GetReplicas(obj) return obj.spec.size end`))
		components, ok, err := in.Components(thing)
		if !ok || err != nil || len(components) != 2 || components[1].Name != "workers" || components[1].Replicas != 2 ||
			components[0].ReplicaRequirements.ResourceRequest.Cpu().String() != "1" {
			t.Errorf("%+v, %t, %v", components, ok, err)
		}
		if _, _, ok, err := in.Replicas(thing); ok || err != nil {
			t.Errorf("a kind with components has replicas: %t, %v", ok, err)
		}
	})
	t.Run("revision, which keeps everything else", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "replicaRevision", `function ReviseReplica(obj, n) obj.spec.size = n return obj end`))
		revised, err := in.Revise(thing, 7)
		if err != nil || !in.Revisable(thing) {
			t.Fatal(err, in.Revisable(thing))
		}
		want := decoded(t, strings.Replace(asJSON(t, thing), `"size":2`, `"size":7`, 1))
		if diff := cmp.Diff(want, revised); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("health", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "healthInterpretation", `function InterpretHealth(obj) return obj.status.ready == obj.spec.size end`))
		if got := in.Health(thing); got != karmada.ResourceHealthy {
			t.Error(got)
		}
	})
	t.Run("reflection", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "statusReflection", `function ReflectStatus(obj) return {ready = obj.status.ready, generation = obj.metadata.generation} end`))
		got, err := in.Reflect(thing)
		if diff := cmp.Diff(map[string]any{"ready": int64(2), "generation": int64(3)}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("aggregation, of which only the status counts", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "statusAggregation", `
			function AggregateStatus(obj, items)
				local status = {ready = 0, clusters = {}}
				for i, item in ipairs(items) do
					status.ready = status.ready + item.status.ready
					status.clusters[i] = item.clusterName .. "/" .. item.health .. "/" .. tostring(item.applied)
				end
				obj.status = status
				obj.spec = {}
				return obj
			end`))
		out, err := in.Aggregate(thing, []karmada.AggregatedStatusItem{
			{ClusterName: "a", Status: &runtime.RawExtension{Raw: []byte(`{"ready":1}`)}, Health: karmada.ResourceHealthy, Applied: true},
			{ClusterName: "b", Status: &runtime.RawExtension{Raw: []byte(`{"ready":4}`)}, Health: karmada.ResourceUnknown},
		})
		want := decoded(t, asJSON(t, thing))
		want["status"] = map[string]any{"ready": int64(5), "clusters": []any{"a/Healthy/true", "b/Unknown/nil"}}
		if diff := cmp.Diff(want, out); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
	t.Run("aggregation, by what could not be applied", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "statusAggregation", `
			function AggregateStatus(obj, items)
				obj.status = {message = tostring(items[1].appliedMessage) .. " " .. tostring(items[1].status) .. " " .. tostring(items[2].appliedMessage)}
				return obj
			end`))
		out, err := in.Aggregate(thing, []karmada.AggregatedStatusItem{{ClusterName: "a", AppliedMessage: "no quota"}, {ClusterName: "b", Applied: true}})
		if got := out["status"]; err != nil || asJSON(t, map[string]any{"s": got}) != `{"s":{"message":"no quota nil nil"}}` {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("aggregation to no status", func(t *testing.T) {
		for script, want := range map[string]string{"obj.status = nil return obj": "", "return {status = {}}": "{}", "return 7": "error", "error('x')": "error"} {
			in := interpret.New(teach(t, "c", things, "statusAggregation", "function AggregateStatus(obj, items) "+script+" end"))
			out, err := in.Aggregate(thing, nil)
			got := "error"
			if err == nil {
				status, ok := out["status"].(map[string]any)
				if got = ""; ok {
					got = asJSON(t, status)
				}
				if _, there := out["status"]; there != ok {
					t.Errorf("%s: the status is %v", script, out["status"])
				}
			}
			if got != want {
				t.Errorf("%s: the status is %q, want %q: %v", script, got, want, err)
			}
		}
	})
	t.Run("retention", func(t *testing.T) {
		in := interpret.New(teach(t, "c", things, "retention", `function Retain(desired, observed) desired.spec.token = observed.spec.token return desired end`))
		out, err := in.Retain(thing, of(t, things, "metadata: {name: t, namespace: shop}\nspec: {token: abc}"))
		if err != nil || out["spec"].(map[string]any)["token"] != "abc" {
			t.Errorf("%v, %v", out, err)
		}
	})
}

func TestDependencyScriptsAreUnited(t *testing.T) {
	in := interpret.New(
		teach(t, "b", things, "dependencyInterpretation", `function GetDependencies(obj) return {
			{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "s"},
			{apiVersion = "v1", kind = "Service", namespace = "shop", labelSelector = {matchLabels = {app = "x"}}}} end`),
		teach(t, "a", things, "dependencyInterpretation", `
			local kube = require("kube")
			function GetDependencies(obj) return kube.getPodDependencies(obj.spec.template, obj.metadata.namespace) end`),
		teach(t, "c", things, "dependencyInterpretation", `function GetDependencies(obj) return {} end`),
	)
	thing := of(t, things, `
metadata: {name: t, namespace: shop}
spec: {template: {spec: {containers: [{name: c, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: s}}]}]}}}`)
	got, err := in.Dependencies(thing)
	want := []interpret.Dependency{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s"},
		{APIVersion: "v1", Kind: "Service", Namespace: "shop", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if by := in.Answered(thing, karmada.InterpreterOperationInterpretDependency); by != "customization a, customization b, customization c" {
		t.Errorf("answered by %q", by)
	}
}

// TestDependenciesOfAScript holds that they are in order, each once, and by name where they have one.
func TestDependenciesOfAScript(t *testing.T) {
	in := interpret.New(teach(t, "a", things, "dependencyInterpretation", `function GetDependencies(obj) return {
		{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "z"},
		{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "a", labelSelector = {matchLabels = {app = "x"}}},
		{apiVersion = "v1", kind = "ConfigMap", namespace = "shop", name = "z"},
		{apiVersion = "v1", kind = "Secret", namespace = "shop", name = "z"}} end`))
	got, err := in.Dependencies(of(t, things, "metadata: {name: t, namespace: shop}"))
	want := []interpret.Dependency{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "z"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "a"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "z"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestWithoutCustomizations holds that an interpreter without them spends nothing, and is what is left of one that has some.
func TestWithoutCustomizations(t *testing.T) {
	bare := interpret.New()
	bare.Renew()
	if bare.Spent() != 0 || !bare.Respend(0) || bare.Respend(1) {
		t.Errorf("it has spent %d, and may spend", bare.Spent())
	}
	taught := interpret.New(teach(t, "c", "apps/v1 Deployment", "replicaResource", "function GetReplicas() return 9 end"))
	d := of(t, "apps/v1 Deployment", "metadata: {name: d}\nspec: {replicas: 2}")
	for in, want := range map[*interpret.Interpreter]int32{bare: 2, taught: 9, taught.Uncustomized(): 2} {
		if n, _, _, err := in.Replicas(d); n != want || err != nil {
			t.Errorf("%d replicas, %v, want %d", n, err, want)
		}
	}
	want := []interpret.Answer{
		{Operation: karmada.InterpreterOperationInterpretReplica, By: "customization c"},
		{Operation: karmada.InterpreterOperationReviseReplica, By: "native"},
		{Operation: karmada.InterpreterOperationInterpretDependency, By: "native"},
	}
	if diff := cmp.Diff(want, taught.Answers(d)); diff != "" {
		t.Errorf("who answers (-want +got)\n%s", diff)
	}
	if got := taught.Answers(of(t, things, "metadata: {name: t}")); got != nil {
		t.Errorf("a kind that nobody knows is answered by %v", got)
	}
}

func TestTheFirstCustomizationByNameAnswers(t *testing.T) {
	returning := func(n string) string { return "function GetReplicas() return " + n + " end" }
	in := interpret.New(
		teach(t, "zebra", things, "replicaResource", returning("1")),
		teach(t, "aardvark", things, "healthInterpretation", "function InterpretHealth() return false end"),
		teach(t, "badger", things, "replicaResource", returning("2")),
		teach(t, "ant", things, "replicaResource", ""),
		teach(t, "another", "example.com/v2 Thing", "replicaResource", returning("3")),
	)
	thing := of(t, things, "metadata: {name: t}")
	if n, _, _, err := in.Replicas(thing); n != 2 || err != nil {
		t.Errorf("%d replicas, %v, want those of badger", n, err)
	}
	for operation, want := range map[karmada.InterpreterOperation]string{
		karmada.InterpreterOperationInterpretReplica: "customization badger",
		karmada.InterpreterOperationInterpretHealth:  "customization aardvark",
		karmada.InterpreterOperationReviseReplica:    "",
		karmada.InterpreterOperationAll:              "",
	} {
		if got := in.Answered(thing, operation); got != want {
			t.Errorf("%s is answered by %q, want %q", operation, got, want)
		}
	}
}

func TestACustomizationGoesBeforeTheBuiltInKinds(t *testing.T) {
	in := interpret.New(teach(t, "c", "apps/v1 Deployment", "replicaResource", "function GetReplicas() return 9 end"))
	d := of(t, "apps/v1 Deployment", "metadata: {name: d}\nspec: {replicas: 2}")
	if n, _, _, err := in.Replicas(d); n != 9 || err != nil {
		t.Errorf("%d replicas, %v, want 9", n, err)
	}
	if revised, err := in.Revise(d, 3); err != nil || revised["spec"].(map[string]any)["replicas"] != int64(3) {
		t.Errorf("%v, %v: what is not customized is not native any more", revised, err)
	}
	if got := in.Answered(d, karmada.InterpreterOperationReviseReplica); got != "native" {
		t.Errorf("revision is answered by %q", got)
	}
	clone := of(t, "apps.kruise.io/v1alpha1 CloneSet", "metadata: {name: d}\nspec: {replicas: 2}")
	if got := in.Answered(clone, karmada.InterpreterOperationInterpretReplica); got != thirdparty.Source+" apps.kruise.io/CloneSet" {
		t.Errorf("the replicas of a CloneSet are answered by %q", got)
	}
}

func TestAMistakeOfAScriptIsAnError(t *testing.T) {
	thing := of(t, things, "metadata: {name: t}\nspec: {size: 2}")
	for _, tt := range []struct{ name, field, script, want string }{
		{"an error at run time", "replicaResource", "function GetReplicas(o)\n return o.spec.a.b end", "line 2: attempt to index a non-table object(nil) with key 'b'"},
		{"no function", "replicaResource", "function GetReplica() end", "the script does not define the function GetReplicas"},
		{"no Lua", "replicaResource", "function GetReplicas(", "syntax error at the end of the script"},
		{"replicas that are text", "replicaResource", "function GetReplicas() return 'x' end", `it returned a string for the replicas, want a whole number between 0 and 2147483647`},
		{"half a replica", "replicaResource", "function GetReplicas() return 0.5 end", "it returned 0.5 for the replicas"},
		{"more replicas than there can be", "replicaResource", "function GetReplicas() return 2 ^ 32 end", "it returned 4294967296 for the replicas"},
		{"one replica more than there can be", "replicaResource", "function GetReplicas() return 2 ^ 31 end", "it returned 2147483648 for the replicas"},
		{"fewer replicas than none", "replicaResource", "function GetReplicas() return -1 end", "it returned -1 for the replicas"},
		{"requirements that are a list", "replicaResource", "function GetReplicas() return 1, {'x'} end", "it returned a list, want an object"},
		{"a dependency that is text", "dependencyInterpretation", "function GetDependencies() return {'x'} end", "reading dependency 1 that it returned: it is a string"},
		{"a dependency by labels that cannot be read", "dependencyInterpretation", "function GetDependencies() return {{apiVersion = 'v1', kind = 'Secret', labelSelector = {matchExpressions = {{key = 'a', operator = 'Near'}}}}} end", "is not a valid label selector operator"},
		{"a component that is text", "componentResource", "function GetComponents() return {'x'} end", "reading component 1 that it returned: it is a string"},
		{"a component with half a replica", "componentResource", "function GetComponents() return {{name = 'a', replicas = 0.5}} end", "reading component 1 that it returned: it returned 0.5 for the replicas"},
		{"a component that needs a quantity without end", "componentResource", "function GetComponents() return {{name = 'a', replicas = 1, replicaRequirements = {resourceRequest = {cpu = '1e99999'}}}} end", "exponent of over three digits"},
		{"no replicas", "replicaResource", "function GetReplicas() end", "it returned nil for the replicas"},
		{"requirements that are none", "replicaResource", "function GetReplicas() return 1, {resourceRequest = {cpu = 'x'}} end", "reading the requirements it returned"},
		{"a quantity without end", "replicaResource", "function GetReplicas() return 1, {resourceRequest = {cpu = '1e99999'}} end", "exponent of over three digits"},
		{"a revised object that is another", "replicaRevision", "function ReviseReplica(o) o.metadata.name = 'x' return o end", "it changed .metadata.name from t to x"},
		{"no revised object", "replicaRevision", "function ReviseReplica(o) end", "it returned nil, want an object"},
		{"a dependency without a name", "dependencyInterpretation", "function GetDependencies() return {{apiVersion = 'v1', kind = 'Secret'}} end", "reading dependency 1 that it returned: it has neither name nor labelSelector"},
		{"dependencies that are no list", "dependencyInterpretation", "function GetDependencies() return {a = 1} end", "it returned an object, want a list"},
		{"a component without a name", "componentResource", "function GetComponents() return {{replicas = 1}} end", "reading component 1 that it returned: it has no name"},
		{"an endless loop", "replicaRevision", "function ReviseReplica() while true do end; end", "line 1: the script takes over 3000000 steps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := interpret.New(teach(t, "mine", things, tt.field, tt.script))
			_, _, _, replicas := in.Replicas(thing)
			_, _, components := in.Components(thing)
			_, dependencies := in.Dependencies(thing)
			var revision error
			if in.Revisable(thing) {
				_, revision = in.Revise(thing, 1)
			}
			var got []string
			for _, err := range []error{replicas, components, dependencies, revision} {
				if err != nil {
					got = append(got, err.Error())
				}
			}
			if len(got) != 1 || !strings.Contains(got[0], "Thing t: customization mine: ") || !strings.Contains(got[0], tt.want) {
				t.Errorf("%q, want one with %q", got, tt.want)
			}
		})
	}
	in := interpret.New(teach(t, "mine", things, "healthInterpretation", "function InterpretHealth(o) return o.a.b end"))
	if got := in.Health(thing); got != karmada.ResourceUnknown {
		t.Errorf("health that cannot be told is %s", got)
	}
}

func TestWhatCannotRunIsWrong(t *testing.T) {
	c := teach(t, "mine", things, "retention", "function Retain(\n\n a b) end")
	c.Spec.Customizations.ReplicaResource = &karmada.LuaScript{LuaScript: "function GetReplica() end"}
	c.Spec.Customizations.HealthInterpretation = &karmada.LuaScript{LuaScript: "function InterpretHealth() return true end"}
	c.Spec.Customizations.StatusReflection = &karmada.LuaScript{}
	want := []interpret.ScriptError{
		{Customization: "mine", Field: "retention", Line: 3, Message: "syntax error near 'b'", Refused: true},
		{Customization: "mine", Field: "replicaResource", Message: "the script does not define the function GetReplicas"},
	}
	if diff := cmp.Diff(want, interpret.New(c).Wrong()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestScriptsHaveABoundTogether: compiling takes time and memory by the byte.
func TestScriptsHaveABoundTogether(t *testing.T) {
	long := "function GetReplicas() return 1 end --" + strings.Repeat("x", 60<<10)
	all := make([]*karmada.ResourceInterpreterCustomization, 0, 20)
	for i := range 20 {
		all = append(all, teach(t, fmt.Sprintf("c%02d", i), fmt.Sprintf("example.com/v%02d Thing", i), "replicaResource", long))
	}
	in := interpret.New(all...)
	var wrong []string
	for _, e := range in.Wrong() {
		wrong = append(wrong, e.Customization)
		if want := "the scripts up to this one have over 1048576 bytes together"; e.Message != want || e.Refused {
			t.Errorf("%+v, want %s", e, want)
		}
	}
	if want := []string{"c17", "c18", "c19"}; !cmp.Equal(want, wrong) {
		t.Errorf("wrong are %v, want %v", wrong, want)
	}
	for version, ok := range map[string]bool{"v16": true, "v17": false} {
		if _, _, _, err := in.Replicas(of(t, "example.com/"+version+" Thing", "metadata: {name: t}")); (err == nil) != ok {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// burns is a script that takes nearly all steps that a call may, in little time.
const burns = "local s = ('x'):rep(1e6) for i = 1, 11 do s:lower() end "

func TestAnswersHaveABudgetTogether(t *testing.T) {
	in := interpret.New(
		teach(t, "a", things, "replicaResource", "function GetReplicas() "+burns+"return 1 end"),
		teach(t, "b", things, "replicaRevision", "function ReviseReplica(o) return o end"),
		teach(t, "c", "example.com/v1 Other", "replicaResource", "function GetReplicas() for i = 1, 60000 do end return 1 end"),
	)
	thing, other := of(t, things, "metadata: {name: t}"), of(t, "example.com/v1 Other", "metadata: {name: o}")
	const want = "the scripts of all customizations have taken the 100000000 steps that they may take together"
	answered := 0
	var err error
	for ; err == nil && answered < 100; answered++ {
		_, _, _, err = in.Replicas(thing)
	}
	if err == nil || !strings.Contains(err.Error(), want) || answered < 30 {
		t.Fatalf("after %d answers: %v, want %s", answered, err, want)
	}
	if spent := in.Spent(); spent != 100_000_000 {
		t.Errorf("%d steps are spent", spent)
	}
	if _, _, _, err := in.Replicas(other); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an answer that takes many steps: %v, want %s", err, want)
	}
	if _, err := in.Revise(thing, 1); err != nil {
		t.Errorf("an answer that takes few: %v", err)
	}
	if in.Respend(1) || !in.Respend(0) {
		t.Error("what is spent can be spent again")
	}
	in.Renew() // for the next plan
	if _, _, _, err := in.Replicas(other); err != nil || in.Spent() > 1_000_000 {
		t.Errorf("after %d steps of the next plan: %v", in.Spent(), err)
	}
	bare := interpret.New()
	if bare.Renew(); bare.Spent() != 0 {
		t.Errorf("without customizations %d steps are spent", bare.Spent())
	}
}

// TestWhatAScriptSaysIsBrief, be it an error that it raises or a value that it returns.
func TestWhatAScriptSaysIsBrief(t *testing.T) {
	thing := of(t, things, "metadata: {name: t}")
	const long = "(('x'):rep(1e6))"
	for _, tt := range []struct{ name, field, script string }{
		{"an error", "replicaResource", "function GetReplicas() error(" + long + ") end"},
		{"an assertion", "replicaResource", "function GetReplicas() assert(false, " + long + ") end"},
		{"a quantity", "replicaResource", "function GetReplicas() return 1, {resourceRequest = {cpu = ('1'):rep(1e6) .. 'e1000'}} end"},
		{"a field that is none", "replicaResource", "function GetReplicas() return 1, {[" + long + "] = type} end"},
		{"a name", "replicaRevision", "function ReviseReplica(o) o.metadata.name = " + long + " return o end"},
		{"a selector", "dependencyInterpretation", "function GetDependencies() return {{apiVersion = 'v1', kind = 'Pod', labelSelector = {matchLabels = {a = " + long + "}}}} end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := interpret.New(teach(t, "mine", things, tt.field, tt.script))
			_, _, _, replicas := in.Replicas(thing)
			_, dependencies := in.Dependencies(thing)
			var revision error
			if in.Revisable(thing) {
				_, revision = in.Revise(thing, 1)
			}
			if err := errors.Join(replicas, dependencies, revision); err == nil || len(err.Error()) > 700 {
				t.Errorf("it says %.1000v", err)
			}
		})
	}
}

// TestTheScriptsForOneAnswerShareWhatIsFree: hundreds of scripts about one kind would
// otherwise have hundreds of times what one has.
func TestTheScriptsForOneAnswerShareWhatIsFree(t *testing.T) {
	spent := func(n int, object string) int {
		all := make([]*karmada.ResourceInterpreterCustomization, 0, n)
		for i := range n {
			all = append(all, teach(t, strconv.Itoa(i), things, "dependencyInterpretation", "function GetDependencies() return {} end"))
		}
		in := interpret.New(all...)
		if _, err := in.Dependencies(of(t, things, object)); err != nil {
			t.Fatal(err)
		}
		return in.Spent()
	}
	const small = "metadata: {name: t}"
	large := "metadata: {name: t}\nspec: {x: [" + strings.Repeat("1, ", 100000) + "1]}"
	for _, tt := range []struct {
		n      int
		object string
		most   int
		least  int
	}{{1, small, 0, 0}, {4, small, 0, 0}, {1, large, 0, 0}, {50, small, 60_000, 40_000}, {2, large, 60_000, 40_000}} {
		if got := spent(tt.n, tt.object); got < tt.least || got > tt.most {
			t.Errorf("%d scripts about an object of %d bytes draw %d steps, want %d to %d", tt.n, len(tt.object), got, tt.least, tt.most)
		}
	}
}

// TestNoScriptIsToldOfSecrets: what a script answers is seen by others.
func TestNoScriptIsToldOfSecrets(t *testing.T) {
	var all []*karmada.ResourceInterpreterCustomization
	for field, function := range map[string]string{
		"retention": "Retain", "replicaResource": "GetReplicas", "componentResource": "GetComponents", "replicaRevision": "ReviseReplica",
		"statusReflection": "ReflectStatus", "statusAggregation": "AggregateStatus", "healthInterpretation": "InterpretHealth", "dependencyInterpretation": "GetDependencies",
	} {
		for _, version := range []string{"v1", "v2"} {
			all = append(all, teach(t, strings.ToLower(field)+version, version+" Secret", field, "function "+function+"(o) error(o.stringData.password) end"))
		}
	}
	in := interpret.New(all...)
	for _, version := range []string{"v1", "v2"} {
		secret := of(t, version+" Secret", "metadata: {name: s}\nstringData: {password: hunter2}")
		_, _, _, replicas := in.Replicas(secret)
		_, _, components := in.Components(secret)
		_, dependencies := in.Dependencies(secret)
		_, reflection := in.Reflect(secret)
		_, aggregation := in.Aggregate(secret, nil)
		_, retention := in.Retain(secret, secret)
		for _, err := range []error{replicas, components, dependencies, reflection, aggregation, retention} {
			if err != nil {
				t.Error(err)
			}
		}
		if in.Revisable(secret) {
			t.Error("a Secret has replicas")
		}
	}
	other := of(t, "example.com/v1 Secret", "metadata: {name: s}")
	if n, _, _, err := interpret.New(teach(t, "c", "example.com/v1 Secret", "replicaResource", "function GetReplicas() return 3 end")).Replicas(other); n != 3 || err != nil {
		t.Errorf("a Secret of another group: %d, %v", n, err)
	}
}

func TestAnInterpreterIsSharedByMany(t *testing.T) {
	in := interpret.New(teach(t, "c", things, "replicaResource", "n = (n or 0) + 1 function GetReplicas() n = n + 1 return n end"))
	thing := of(t, things, "metadata: {name: t}")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 5 {
				if n, _, _, err := in.Replicas(thing); n != 2 || err != nil {
					t.Errorf("%d, %v: a call saw another call", n, err)
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		interpret.New()
	}
}

func BenchmarkScriptedReplicas(b *testing.B) {
	in := interpret.New(teach(b, "c", "apps/v1 Deployment", "replicaResource", "function GetReplicas(o) return o.spec.replicas end"))
	d := shop(b)[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := in.Replicas(d); err != nil {
			b.Fatal(err)
		}
	}
}
