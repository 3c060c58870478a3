package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/object"
)

// TestIgnored leaves out what the config says that others decide, unless it is ours.
func TestIgnored(t *testing.T) {
	const ours = `{"f:spec":{"f:replicas":{},"f:paused":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:image":{},"f:name":{}},"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:tolerations":{}}}}}`
	const lists = `{"f:spec":{"f:gates":{"v:\"b\"":{},"v:\"7\"":{},"v:7":{}},"f:a":{},"f:c":{},"f:d":{},"f:e":{},"f:g":{}}}`
	const deep = `{"f:spec":{"f:b":{"f:c":{"f:d":{"f:e":{"f:one":{},"f:two":{},"f:three":{}}}}}}}`
	const controller = `{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{},"f:none":{}}}}}}}`
	container := func(name string) map[string]any { return map[string]any{"name": name, "image": "nginx"} }
	web := manifest("apps/v1 Deployment shop/web", map[string]any{
		"replicas": int64(3), "paused": true, "strategy": map[string]any{"type": "Recreate"}, "gates": []any{"a", "b", int64(7)},
		"b": map[string]any{"c": map[string]any{"d": map[string]any{"e": map[string]any{"one": "1", "two": "1", "three": "1"}}}}, "a": "1", "c": "1", "d": "1", "e": "1", "g": "1",
		"template": map[string]any{"spec": map[string]any{"containers": []any{container("a"), container("b")}, "tolerations": []any{map[string]any{"key": "x"}}}},
	})
	there := live("u1", func(o *metav1.PartialObjectMetadata) {
		o.ManagedFields = []metav1.ManagedFieldsEntry{
			fields(Manager, metav1.ManagedFieldsOperationApply, ours), fields("scaler", metav1.ManagedFieldsOperationUpdate, controller),
			fields("gatekeeper", metav1.ManagedFieldsOperationUpdate, lists), fields("digger", metav1.ManagedFieldsOperationUpdate, deep),
		}
	})
	pointers := func(p ...string) applying.IgnoreDifference {
		return applying.IgnoreDifference{Group: "apps", Kind: "Deployment", JSONPointers: p}
	}
	for _, c := range []struct {
		name   string
		ignore applying.IgnoreDifference
		want   string
	}{
		{"what the server decided", pointers("/spec/strategy"), "[[spec strategy]]"},
		{"what is ours", pointers("/spec/paused", "/spec/replicas"), "[]"},
		{"what is not on the branch", pointers("/spec/none/deeper", "/spec/template/spec/containers/7/image", "/spec/template/spec/containers/0/none"), "[]"},
		{"a field of an element", pointers("/spec/template/spec/containers/0/image"), "[[spec template spec containers 0 image]]"},
		{"a field of an element that is ours", pointers("/spec/template/spec/containers/1/image"), "[]"},
		{"a field in a list that is one field, and ours", pointers("/spec/template/spec/tolerations/0/key"), "[]"},
		{"another kind", applying.IgnoreDifference{Group: "apps", Kind: "StatefulSet", JSONPointers: []string{"/spec/strategy"}}, "[]"},
		{"another name", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "db", JSONPointers: []string{"/spec/strategy"}}, "[]"},
		{"another namespace", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Namespace: "b", JSONPointers: []string{"/spec/strategy"}}, "[]"},
		{"patterns", applying.IgnoreDifference{Group: "*", Kind: "Dep*", Name: "web", Namespace: "shop", JSONPointers: []string{"/spec/strategy"}}, "[[spec strategy]]"},
		{"what a manager owns, but for what we do, too", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"scaler"}}, "[[spec template spec containers 0 image]]"},
		{
			"what a manager owns, elements of lists by their values among it",
			applying.IgnoreDifference{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"gatekeeper"}},
			"[[spec a] [spec c] [spec d] [spec e] [spec g] [spec gates 1] [spec gates 2]]",
		},
		{
			"what a manager owns deep in one mapping",
			applying.IgnoreDifference{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"digger"}},
			"[[spec b c d e one] [spec b c d e three] [spec b c d e two]]",
		},
		{"what nobody owns", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"nobody"}}, "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{
				Objects: []Object{web}, Options: Options{Ignore: []applying.IgnoreDifference{c.ignore}},
				Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}},
				Facts:     Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{web.Ref: there}},
			}
			p := Make(in)
			if got := fmt.Sprint(p.Actions()[0].Left); got != c.want {
				t.Errorf("%s is left out, want %s", got, c.want)
			}
			in.Facts.Live = nil
			p = Make(in)
			if left := p.Actions()[0].Left; left != nil {
				t.Errorf("%v is left out of what is created", left)
			}
		})
	}
}

// TestFill sends fields that left the manifest as they are live, where lists have more elements.
func TestFill(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply,
		`{"f:spec":{"f:replicas":{},"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{"f:hostPort":{}}}}}}}`)}
	port := map[string]any{"containerPort": int64(80), "protocol": "TCP", "hostPort": int64(8080)}
	live := map[string]any{"spec": map[string]any{"replicas": int64(7), "containers": []any{
		map[string]any{"name": "sidecar", "image": "proxy"}, map[string]any{"name": "a", "image": "theirs", "ports": []any{port}},
	}}}
	content := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "ports": []any{map[string]any{"containerPort": int64(80)}}}}}}
	for _, c := range []struct{ path, want string }{
		{"spec replicas", "map[spec:map[containers:[map[name:a ports:[map[containerPort:80]]]] replicas:7]]"},
		{"spec containers 0 image", "map[spec:map[containers:[map[image:theirs name:a ports:[map[containerPort:80]]]]]]"},
		{"spec containers 0 ports 0 hostPort", "map[spec:map[containers:[map[name:a ports:[map[containerPort:80 hostPort:8080]]]]]]"},
		{"spec containers 1 image", "map[]"},
		{"spec none", "map[]"},
	} {
		got, ok := Fill(content, live, managed, strings.Fields(c.path))
		if fmt.Sprint(got) != c.want || ok != (c.want != "map[]") {
			t.Errorf("%s: %t, %v", c.path, ok, got)
		}
	}
	if got, ok := Fill(map[string]any{"kind": "Deployment"}, live, managed, []string{"spec", "replicas"}); !ok || fmt.Sprint(got) != "map[kind:Deployment spec:map[replicas:7]]" {
		t.Errorf("of a manifest that lacks what it is in: %t, %v", ok, got)
	}
	if got := fmt.Sprint(content); got != "map[spec:map[containers:[map[name:a ports:[map[containerPort:80]]]]]]" {
		t.Errorf("what it was made from is %s", got)
	}
}

func TestWithout(t *testing.T) {
	content := map[string]any{"a": map[string]any{"b": int64(1), "c": int64(2)}, "l": []any{"x", map[string]any{"n": "y", "m": "z"}, "w"}}
	before := fmt.Sprint(content)
	got := Without(content, [][]string{{"a", "b"}, {"l", "0"}, {"l", "1", "m"}, {"l", "2"}, {"l", "3"}, {"l", "-1"}, {"l", "x"}, {"none", "deeper"}, {"a", "c", "deeper"}})
	want := map[string]any{"a": map[string]any{"c": int64(2)}, "l": []any{map[string]any{"n": "y"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if after := fmt.Sprint(content); after != before {
		t.Errorf("what it was made from was %s, and is %s", before, after)
	}
	long := map[string]any{"l": []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}
	if got := fmt.Sprint(Without(long, [][]string{{"l", "9"}, {"l", "10"}, {"l", "2"}})); got != "map[l:[0 1 3 4 5 6 7 8 11]]" {
		t.Errorf("of a long list %s is left", got)
	}
}
