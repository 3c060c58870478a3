package lua_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// withKube calls F of a script that has the kube module as k.
func withKube(tb testing.TB, host lua.Kube, body string, args ...any) ([]any, error) {
	tb.Helper()
	s, err := lua.Compile("local k = require('kube') function F(...) " + body + " end")
	if err != nil {
		tb.Fatal(err)
	}
	return s.Call(host, "F", args...)
}

func TestQuantities(t *testing.T) {
	for expression, want := range map[string]any{
		`k.resourceAdd("100m", "1", nil, "0.5")`: "1600m",
		`k.resourceAdd("1Gi", "512Mi")`:          "1536Mi",
		`k.resourceAdd()`:                        "0",
		`k.resourceAdd(nil)`:                     "0",
		`k.resourceAdd(2, "1")`:                  "3",
		`k.getResourceQuantity("1500m")`:         1.5,
		`k.getResourceQuantity("1Ki")`:           int64(1024),
		`k.getResourceQuantity(nil)`:             int64(0),
	} {
		out, err := withKube(t, lua.Kube{}, "return "+expression)
		if err != nil || !cmp.Equal(out, []any{want}) {
			t.Errorf("%s is %v, %v, want %v", expression, out, err, want)
		}
	}
	for expression, want := range map[string]string{
		`k.resourceAdd("x")`:                                   `"x" is no quantity`,
		`k.resourceAdd("1", {})`:                               "bad argument #2 to",
		`k.resourceAdd(("1"):rep(100))`:                        "is too long",
		`k.getResourceQuantity("1e-99999")`:                    "is too long",
		`k.getResourceQuantity(true)`:                          "a quantity is a string, not a boolean",
		`k.accuratePodRequirements(nil)`:                       "bad argument #1",
		`k.accuratePodRequirements({1})`:                       "a pod template is a map",
		`k.accuratePodRequirements({a = k.x, b = {tostring}})`: "reading the pod template: .b[0]: a function",
		`k.getPodDependencies({}, {})`:                         "bad argument #2",
	} {
		_, err := withKube(t, lua.Kube{}, "return "+expression)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

func TestPodsAreAskedOfTheHost(t *testing.T) {
	template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}}
	host := lua.Kube{
		Requirements: func(got map[string]any) (map[string]any, error) {
			if len(got) == 0 {
				return nil, nil
			}
			if diff := cmp.Diff(template, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			return map[string]any{"resourceRequest": map[string]any{"cpu": "1"}}, nil
		},
		Dependencies: func(got map[string]any, namespace string) ([]any, error) {
			if namespace == "none" {
				return nil, errors.New("no such namespace")
			}
			return []any{map[string]any{"name": namespace}}, nil
		},
	}
	out, err := withKube(t, host, `
		local o = ...
		local needs = k.accuratePodRequirements(o)
		needs.resourceRequest.cpu = k.resourceAdd(needs.resourceRequest.cpu, "1")
		return needs, k.getPodDependencies(o, "shop"), k.getPodDependencies(o)[1].name, k.accuratePodRequirements({}) == nil`, template)
	want := []any{
		map[string]any{"resourceRequest": map[string]any{"cpu": "2"}}, []any{map[string]any{"name": "shop"}}, "default", true,
	}
	if diff := cmp.Diff(want, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, err := withKube(t, host, "\nreturn k.getPodDependencies({}, 'none')"); err == nil || err.Error() != "line 2: no such namespace" {
		t.Errorf("an error of the host: %v", err)
	}
}
