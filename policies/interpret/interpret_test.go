package interpret_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// manifest decodes YAML as a source does.
func manifest(tb testing.TB, text string) map[string]any {
	tb.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	var obj map[string]any
	if err := utiljson.Unmarshal(data, &obj); err != nil {
		tb.Fatalf("%v in\n%s", err, text)
	}
	return obj
}

// of is a manifest of a kind, "v1 Pod" for example, with some more YAML.
func of(tb testing.TB, kind, text string) map[string]any {
	tb.Helper()
	apiVersion, name, _ := strings.Cut(kind, " ")
	obj := manifest(tb, text)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = apiVersion, name
	return obj
}

// shop returns the manifests of testdata.
func shop(tb testing.TB) []map[string]any {
	tb.Helper()
	data, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var objs []map[string]any
	for text := range strings.SplitSeq(string(data), "\n---\n") {
		objs = append(objs, manifest(tb, text))
	}
	return objs
}

// frozen returns a check that obj is as it was.
func frozen(tb testing.TB, obj map[string]any) func() {
	tb.Helper()
	before := asJSON(tb, obj)
	return func() {
		tb.Helper()
		if after := asJSON(tb, obj); after != before {
			tb.Errorf("the argument was modified:\n%s", cmp.Diff(before, after))
		}
	}
}

func asJSON(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// wantError fails unless err says want; an empty want is no error.
func wantError(tb testing.TB, err error, want string) {
	tb.Helper()
	switch {
	case want == "" && err != nil:
		tb.Fatalf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		tb.Fatalf("error is %v, want %q", err, want)
	}
}

func TestNoQuestionModifiesItsArgument(t *testing.T) {
	in := interpret.New()
	for _, obj := range shop(t) {
		obj["status"] = map[string]any{"replicas": int64(1), "loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "1.1.1.1"}}}}
		check := frozen(t, obj)
		ask(t, in, obj, obj)
		check()
	}
}

// ask puts every question to an object. Errors are answers, too.
func ask(tb testing.TB, in *interpret.Interpreter, obj, other map[string]any) {
	tb.Helper()
	defaulted, added := interpret.Default(obj)
	checkDefaulted := frozen(tb, defaulted)
	interpret.Undefault(interpret.Prune(defaulted), added)
	interpret.Undefault(other, added)
	_, _, _, _ = in.Replicas(obj)
	_, _ = in.Revise(defaulted, 7)
	interpret.ReviseCompletions(defaulted, 7)
	_, _ = in.Dependencies(obj)
	in.Health(obj)
	status, _ := in.Reflect(obj)
	_, _ = in.Aggregate(obj, items(tb, status, other["status"]))
	_, _ = in.Retain(obj, other)
	_, _ = in.Retain(other, obj)
	interpret.Prune(obj)
	checkDefaulted()
}
