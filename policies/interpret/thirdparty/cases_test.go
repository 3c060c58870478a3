package thirdparty_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// A testCase asks an interpreter what one function says of one object, which is
// shop in the namespace apps where it does not say otherwise.
type testCase struct {
	Name     string
	Op       string // the name of the function
	Object   map[string]any
	Replicas int32          // the second argument of ReviseReplica
	Observed map[string]any // the second argument of Retain
	Items    []struct {     // the second argument of AggregateStatus
		Cluster string
		Status  json.RawMessage
	}

	// Want is the answer: replicas, components and what they request; the spec of
	// ReviseReplica and the status of AggregateStatus; dependencies as "apiVersion
	// Kind namespace/name"; else what the interpreter returns.
	Want any
}

// TestKinds asks the cases of testdata/group/version/Kind.yaml.
func TestKinds(t *testing.T) {
	t.Parallel()
	in := interpret.New()
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			asked := map[string]bool{}
			for _, c := range readCases(t, kind) {
				asked[c.Op] = true
				t.Run(c.Op+"/"+c.Name, func(t *testing.T) { c.check(t, in, kind) })
			}
			if diff := cmp.Diff(wanted(kind), slices.Sorted(maps.Keys(asked))); diff != "" {
				t.Errorf("the cases are of other functions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheFilesAnswer asks who answers, for it could be a layer in front of the files.
func TestTheFilesAnswer(t *testing.T) {
	t.Parallel()
	in := interpret.New()
	for kind := range table {
		for letter, operation := range map[string]karmada.InterpreterOperation{
			"C": karmada.InterpreterOperationInterpretComponent, "R": karmada.InterpreterOperationInterpretReplica,
			"V": karmada.InterpreterOperationReviseReplica, "H": karmada.InterpreterOperationInterpretHealth,
			"A": karmada.InterpreterOperationAggregateStatus, "F": karmada.InterpreterOperationInterpretStatus,
			"D": karmada.InterpreterOperationInterpretDependency, "T": karmada.InterpreterOperationRetain,
		} {
			want := ""
			if slices.Contains(wanted(kind), operations[letter]) {
				group, _, _ := strings.Cut(kind, "/")
				want = "waybill " + group + "/" + path.Base(kind)
			}
			if got := in.Answered(object(t, kind, map[string]any{}), operation); got != want {
				t.Errorf("%s of a %s is answered by %q, want %q", operation, kind, got, want)
			}
		}
	}
}

func readCases(t *testing.T, kind string) []testCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(kind)+".yaml"))
	if err != nil {
		t.Fatalf("reading the cases of %s: %v", kind, err)
	}
	var cases []testCase
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		t.Fatalf("reading the cases of %s: %v", kind, err)
	}
	return cases
}

func (c *testCase) check(t *testing.T, in *interpret.Interpreter, kind string) {
	t.Helper()
	want := decoded(t, c.Want)
	if c.Op == "Retain" {
		want = object(t, kind, c.Want)
	}
	given := object(t, kind, c.Object)
	if c.Op == "GetReplicas" && slices.Contains(wanted(kind), "GetComponents") {
		in, given["apiVersion"] = replicasOnly(t, kind), "example.com/v1"
	}
	got, err := c.ask(t, in, given)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, decoded(t, got)); diff != "" {
		t.Errorf("the answer is another (-want +got):\n%s", diff)
	}
}

// replicasOnly is an interpreter that a file has taught its replicas, as those of a
// kind of another group: of a kind that has components nobody asks the replicas.
func replicasOnly(t *testing.T, kind string) *interpret.Interpreter {
	t.Helper()
	source := sources(t)[kind]
	return interpret.New(&karmada.ResourceInterpreterCustomization{Spec: karmada.ResourceInterpreterCustomizationSpec{
		Target:         karmada.CustomizationTarget{APIVersion: "example.com/v1", Kind: path.Base(kind)},
		Customizations: karmada.CustomizationRules{ReplicaResource: &karmada.LuaScript{LuaScript: source}},
	}})
}

// ask returns the answer in the form of Want.
func (c *testCase) ask(t *testing.T, in *interpret.Interpreter, obj map[string]any) (any, error) {
	t.Helper()
	switch c.Op {
	case "GetReplicas":
		n, needs, _, err := in.Replicas(obj)
		if needs == nil {
			needs = &karmada.ReplicaRequirements{}
		}
		return asks("", n, needs.ResourceRequest, needs.NodeClaim), err
	case "GetComponents":
		components, _, err := in.Components(obj)
		all := []any{}
		for _, component := range components {
			needs := component.ReplicaRequirements
			all = append(all, asks(component.Name, component.Replicas, needs.ResourceRequest, needs.NodeClaim))
		}
		return all, err
	case "ReviseReplica":
		revised, err := in.Revise(obj, c.Replicas)
		return revised["spec"], err
	case "GetDependencies":
		found, err := in.Dependencies(obj)
		all := []string{}
		for _, d := range found {
			all = append(all, fmt.Sprintf("%s %s %s/%s", d.APIVersion, d.Kind, d.Namespace, d.Name))
		}
		slices.Sort(all)
		return all, err
	case "InterpretHealth":
		return in.Health(obj), nil
	case "ReflectStatus":
		return in.Reflect(obj)
	case "AggregateStatus":
		aggregated, err := in.Aggregate(obj, c.reports())
		return aggregated["status"], err
	case "Retain":
		return in.Retain(obj, object(t, path.Join(obj["apiVersion"].(string), obj["kind"].(string)), c.Observed))
	default:
		return nil, fmt.Errorf("there is no function %q", c.Op)
	}
}

func (c *testCase) reports() []karmada.AggregatedStatusItem {
	items := make([]karmada.AggregatedStatusItem, len(c.Items))
	for i, item := range c.Items {
		items[i].ClusterName = item.Cluster
		if item.Status != nil {
			items[i].Status = &runtime.RawExtension{Raw: item.Status}
		}
	}
	return items
}

// asks is the short form of a number of replicas and what each of them needs.
func asks(name string, n int32, requests corev1.ResourceList, claim *karmada.NodeClaim) map[string]any {
	short := map[string]any{"replicas": n}
	if name != "" {
		short["name"] = name
	}
	if len(requests) > 0 {
		short["requests"] = requests
	}
	if claim != nil && len(claim.NodeSelector) > 0 {
		short["nodeSelector"] = claim.NodeSelector
	}
	return short
}

// object is an object of a kind, a decoded manifest.
func object(t *testing.T, kind string, fields any) map[string]any {
	t.Helper()
	obj, ok := decoded(t, fields).(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", fields)
	}
	metadata := map[string]any{"name": "shop", "namespace": "apps"}
	if own, ok := obj["metadata"].(map[string]any); ok {
		maps.Copy(metadata, own)
	}
	obj["apiVersion"], obj["kind"], obj["metadata"] = path.Dir(kind), path.Base(kind), metadata
	return obj
}

// decoded is what a value is when it has been read from a manifest.
func decoded(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
