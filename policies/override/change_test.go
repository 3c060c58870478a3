package override_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/override"
)

const everything = `
plaintext:
- {operator: replace, path: /spec/replicas, value: 3}
- {operator: remove, path: /spec/template/spec/initContainers}
- {operator: add, path: /spec/template/spec/containers/0/args/0, value: "80"}
- {operator: add, path: /spec/paused, value: true}
- {operator: replace, path: /spec/template/spec/containers/0/command/0, value: go}
- {operator: replace, path: /spec/template/spec/containers/1/command/-1, value: stop}
- {operator: remove, path: /status}
- {operator: add, path: /metadata/name, value: d}
imageOverrider:
- {component: Registry, operator: add, value: my.reg, predicate: {path: /spec/template/spec/initContainers/0/image}}
- {component: Tag, operator: replace, value: "2"}
commandOverrider:
- {containerName: c2, operator: add, value: [run]}
argsOverrider:
- {containerName: c, operator: remove, value: [a]}
- {containerName: c, operator: remove, value: [a]}
labelsOverrider:
- {operator: add, value: {b: "", a: "1", app: x}}
annotationsOverrider:
- {operator: remove, value: {none: none}}
`

func TestChanges(t *testing.T) {
	obj := object(t, deployment)
	got, changes, err := override.Apply(obj, overriders(t, everything))
	if err != nil {
		t.Fatal(err)
	}
	want := []override.Change{
		{"imageOverrider[0]", "/spec/template/spec/initContainers/0/image", "init:1", "my.reg/init:1"},
		{"imageOverrider[1]", "/spec/template/spec/containers/0/image", "nginx:1.0", "nginx:2"},
		{"imageOverrider[1]", "/spec/template/spec/containers/1/image", "registry.io:5000/team/app@" + sha, "registry.io:5000/team/app:2"},
		{"commandOverrider[0]", "/spec/template/spec/containers/1/command", "", `["run"]`},
		{"argsOverrider[0]", "/spec/template/spec/containers/0/args", `["a","b","a"]`, `["b"]`},
		{"labelsOverrider[0]", "/metadata/labels/a", "", `"1"`},
		{"labelsOverrider[0]", "/metadata/labels/b", "", `""`},
		{"plaintext[0]", "/spec/replicas", "1", "3"},
		{"plaintext[1]", "/spec/template/spec/initContainers", `[{"image":"my.reg/init:1","name":"i"}]`, ""},
		{"plaintext[2]", "/spec/template/spec/containers/0/args/0", "", `"80"`},
		{"plaintext[3]", "/spec/paused", "", "true"},
		{"plaintext[4]", "/spec/template/spec/containers/0/command/0", "run", "go"},
		{"plaintext[5]", "/spec/template/spec/containers/1/command/-1", "run", "stop"},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(object(t, deployment), obj); diff != "" {
		t.Errorf("the object was modified (-before +after):\n%s", diff)
	}
	if args := at(got, "/spec/template/spec/containers/0/args"); args != `["80","b"]` {
		t.Errorf("args are %s", args)
	}
}

func TestChangesShowWhereLongTextsDiffer(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, tt := range []struct {
		name       string
		manifest   string
		overriders string
		want       override.Change
	}{
		{
			name:       "the middle of a text",
			manifest:   `{kind: Foo, text: '{"a":"` + long + `","port":80,"z":"` + long + `"}'}`,
			overriders: "fieldOverrider: [{fieldPath: /text, json: [{subPath: /port, operator: replace, value: 8080}]}]",
			want: override.Change{
				Overrider: "fieldOverrider[0]", Path: "/text",
				Old: "…" + long[:2*14] + `","port":80,"z":"` + long[:2*37] + "…",
				New: "…" + long[:2*14] + `","port":8080,"z":"` + long[:2*36] + "…",
			},
		},
		{
			name:       "the end of a list, which was short",
			manifest:   `{kind: Pod, spec: {containers: [{name: c, args: [<a>]}]}}`,
			overriders: "argsOverrider: [{containerName: c, operator: add, value: [" + strings.Repeat("x", 200) + "]}]",
			want: override.Change{
				Overrider: "argsOverrider[0]", Path: "/spec/containers/0/args",
				Old: `["<a>"]`,
				New: `["<a>","` + strings.Repeat("x", 112) + "…",
			},
		},
		{
			name:       "the last character",
			manifest:   `{kind: Foo, text: ` + strings.Repeat("x", 200) + `a}`,
			overriders: "plaintext: [{operator: replace, path: /text, value: " + strings.Repeat("x", 200) + "b}]",
			want: override.Change{
				Overrider: "plaintext[0]", Path: "/text",
				Old: "…" + strings.Repeat("x", 119) + "a",
				New: "…" + strings.Repeat("x", 119) + "b",
			},
		},
		{
			name:       "a text of lines stays on one",
			manifest:   `{kind: Foo, text: "a: 1\nb: 2\n"}`,
			overriders: "fieldOverrider: [{fieldPath: /text, yaml: [{subPath: /b, operator: remove}]}]",
			want:       override.Change{Overrider: "fieldOverrider[0]", Path: "/text", Old: `"a: 1\nb: 2\n"`, New: `"a: 1\n"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, changes, err := override.Apply(object(t, tt.manifest), overriders(t, tt.overriders))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]override.Change{tt.want}, changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const secret = `{kind: Secret, metadata: {labels: {app: hunter2}}, stringData: {p: hunter2, q: '*hunter2', j: '{"p":"hunter2"}'}}`
	for _, text := range []string{
		"plaintext: [{operator: replace, path: /stringData/p, value: hunter3}, {operator: add, path: /stringData/n, value: hunter3}, {operator: remove, path: /stringData/q}]",
		"plaintext: [{operator: replace, path: /kind, value: ConfigMap}, {operator: remove, path: /stringData/p}]",
		"labelsOverrider: [{operator: replace, value: {app: hunter3}}]",
		"fieldOverrider: [{fieldPath: /stringData/j, json: [{subPath: /p, operator: replace, value: hunter3}]}]",
		"fieldOverrider: [{fieldPath: /stringData/q, yaml: [{subPath: /p, operator: replace, value: hunter3}]}]",
		"imageOverrider: [{component: Tag, operator: replace, value: hunter3, predicate: {path: /stringData/p}}]",
		"imageOverrider: [{component: Tag, operator: replace, value: hunter3, predicate: {path: /stringData/q}}]",
	} {
		_, changes, err := override.Apply(object(t, secret), overriders(t, text))
		if err != nil {
			if strings.Contains(err.Error(), "hunter") {
				t.Errorf("%s: the error shows a value: %v", text, err)
			}
			continue
		}
		if len(changes) == 0 {
			t.Errorf("%s: no changes", text)
		}
		for _, c := range changes {
			if strings.Contains(c.Old+c.New, "hunter") {
				t.Errorf("%s: the change shows a value: %+v", text, c)
			}
		}
	}
	_, changes, err := override.Apply(object(t, "{kind: Foo, data: {p: hunter2}}"), overriders(t,
		"plaintext: [{operator: replace, path: /kind, value: Secret}, {operator: remove, path: /data/p}]"))
	want := []override.Change{{"plaintext[0]", "/kind", "(withheld)", "(withheld)"}, {"plaintext[1]", "/data/p", "(withheld)", ""}}
	if diff := cmp.Diff(want, changes); diff != "" || err != nil {
		t.Errorf("an object that becomes a Secret (-want +got): %v\n%s", err, diff)
	}
}

func TestNothingToApply(t *testing.T) {
	obj := object(t, deployment)
	for _, text := range []string{
		"{}", "{labelsOverrider: [{operator: remove, value: {none: ''}}]}",
		"{imageOverrider: [{component: Tag, operator: replace, value: '1', predicate: {path: /spec/template/spec/initContainers/0/image}}]}",
	} {
		got, changes, err := override.Apply(obj, overriders(t, text))
		if err != nil || changes != nil {
			t.Errorf("%s: %v, %v", text, changes, err)
		}
		if got["spec"] = nil; obj["spec"] != nil {
			t.Errorf("%s: got a copy, want the object itself", text)
		}
		rules := override.Rules{Claimed: true, List: []*override.Rule{{Overriders: overriders(t, text)}, {Overriders: overriders(t, text)}}}
		obj = object(t, deployment)
		if got, steps, err := rules.Apply(obj, "\x01\x01"); err != nil || len(steps) != 2 {
			t.Errorf("%s, twice: %v, %v", text, steps, err)
		} else if got["spec"] = nil; obj["spec"] != nil {
			t.Errorf("%s, twice: got a copy, want the object itself", text)
		}
		obj = object(t, deployment)
	}
	if got, changes, err := override.Apply(obj, nil); err != nil || changes != nil || !cmp.Equal(got, obj) {
		t.Errorf("without overriders: %v, %v, %v", got, changes, err)
	}
}

// What an override does not touch is not copied: thousands of clusters share it.
func TestWhatDoesNotChangeIsShared(t *testing.T) {
	obj := object(t, deployment)
	got, _, err := override.Apply(obj, overriders(t, "{imageOverrider: [{component: Tag, operator: replace, value: '2'}], labelsOverrider: [{operator: add, value: {a: b}}]}"))
	if err != nil {
		t.Fatal(err)
	}
	podSpec := func(o map[string]any) map[string]any {
		return o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	}
	init := podSpec(obj)["initContainers"].([]any)
	if shared := podSpec(got)["initContainers"].([]any); &shared[0] != &init[0] {
		t.Error("initContainers were copied")
	}
	if podSpec(got)["containers"].([]any)[0].(map[string]any)["image"] != "nginx:2" {
		t.Error("the image did not change")
	}
}
