package override_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

const (
	sha = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c"

	deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns, labels: {app: x}}, spec: {
  replicas: 1, template: {metadata: {labels: {app: x}}, spec: {
    containers: [{name: c, image: "nginx:1.0", command: [run], args: [a, b, a]}, {name: c2, image: "registry.io:5000/team/app@` + sha + `"}],
    initContainers: [{name: i, image: "init:1"}]}}}}`
	cronJob = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: {spec: {
    containers: [{name: c, image: "a:1"}]}}}}}}`
	configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {
  j.json: '{"b":1,"a":{"x":[1,2]}}', y.yaml: "zeta: 1\n# why\nalpha:\n  port: 80\n  list: [1, 2]\n", bad: "a: [", words: "some words", empty: ""}}`
)

// object decodes a manifest written as YAML.
func object(tb testing.TB, manifest string) map[string]any {
	tb.Helper()
	data, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		tb.Fatal(err)
	}
	var obj map[string]any
	if err := utiljson.Unmarshal(data, &obj); err != nil {
		tb.Fatal(err)
	}
	return obj
}

// overriders decodes overriders written as YAML.
func overriders(tb testing.TB, text string) *karmada.Overriders {
	tb.Helper()
	var o karmada.Overriders
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		tb.Fatal(err)
	}
	return &o
}

// at prints what a JSON pointer leads to as JSON; "none" if it leads nowhere.
func at(v any, pointer string) string {
	for _, key := range strings.Split(pointer, "/")[1:] {
		switch node := v.(type) {
		case map[string]any:
			child, ok := node[key]
			if !ok {
				return "none"
			}
			v = child
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(node) {
				return "none"
			}
			v = node[i]
		default:
			return "none"
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// test is what Karmada's own functions answer to an override of an object.
type test struct {
	name       string
	object     string
	overriders string
	want       map[string]string // JSON by pointer
	err        string            // part of the error
}

func (tt *test) run(t *testing.T) {
	obj := object(t, tt.object)
	got, changes, err := override.Apply(obj, overriders(t, tt.overriders))
	if diff := cmp.Diff(object(t, tt.object), obj); diff != "" {
		t.Errorf("the object was modified (-before +after):\n%s", diff)
	}
	if tt.err != "" {
		if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("error %v, want one with %q", err, tt.err)
		}
		if got != nil || changes != nil {
			t.Errorf("with the error came %v and %v", got, changes)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range tt.want {
		if v := at(got, pointer); v != want {
			t.Errorf("%s is %s, want %s", pointer, v, want)
		}
	}
	if same, none := cmp.Equal(obj, got), len(changes) == 0; same != none {
		t.Errorf("the object is the same: %v; changes: %v", same, changes)
	}
}

func run(t *testing.T, tests []test) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestImages(t *testing.T) {
	const (
		c0 = "/spec/template/spec/containers/0/image"
		c1 = "/spec/template/spec/containers/1/image"
		i0 = "/spec/template/spec/initContainers/0/image"
		j0 = "/spec/jobTemplate/spec/template/spec/containers/0/image"
	)
	tag := func(path string) string {
		return `imageOverrider: [{component: Tag, operator: replace, value: "9", predicate: {path: ` + path + `}}]`
	}
	const tag9 = `imageOverrider: [{component: Tag, operator: replace, value: "9"}]`
	run(t, []test{
		{
			name: "all containers change, init containers do not", object: deployment, overriders: tag9,
			want: map[string]string{c0: `"nginx:9"`, c1: `"registry.io:5000/team/app:9"`, i0: `"init:1"`},
		},
		{
			name: "a predicate names one container", object: deployment,
			overriders: `imageOverrider: [{component: Registry, operator: replace, value: r.x, predicate: {path: ` + c1 + `}}]`,
			want:       map[string]string{c0: `"nginx:1.0"`, c1: `"r.x/team/app@` + sha + `"`},
		},
		{
			name: "a predicate reaches an init container", object: deployment, overriders: tag(i0),
			want: map[string]string{c0: `"nginx:1.0"`, i0: `"init:9"`},
		},
		{
			name: "an index outside the list is an error", object: deployment, overriders: tag("/spec/template/spec/containers/7/image"),
			err: "applying imageOverrider[0]: /spec/template/spec/containers/7/image: index 7 is outside a list of 2",
		},
		{
			name: "a negative index is an error", object: deployment, overriders: tag("/spec/template/spec/containers/-1/image"),
			err: "index -1 is outside a list of 2",
		},
		{
			name: "a name is no index", object: deployment, overriders: tag("/spec/template/spec/containers/c/image"),
			err: `"c" is no index into a list`,
		},
		{
			name: "a missing path is an error", object: deployment, overriders: tag("/spec/foo/image"),
			err: `applying imageOverrider[0]: /spec/foo/image: there is no key "foo"`,
		},
		{
			name: "a path begins with a slash", object: deployment, overriders: tag("spec/foo"),
			err: `"spec/foo" does not begin with a slash`,
		},
		{name: "a number is no image", object: deployment, overriders: tag("/spec/replicas"), err: "/spec/replicas: want a string, got a number"},
		{name: "a number has no keys", object: deployment, overriders: tag("/spec/replicas/image"), err: `a number has no key "image"`},
		{name: "the image that is there already", object: cronJob, overriders: `imageOverrider: [{component: Tag, operator: replace, value: "1", predicate: {path: ` + j0 + `}}]`},
		{
			name: "the images that are there already", object: deployment,
			overriders: `imageOverrider: [{component: Tag, operator: add, value: ":"}]`,
		},
		{name: "the object is no image", object: deployment, overriders: tag(`""`), err: "applying imageOverrider[0]: the whole object: want a string, got an object"},
		{
			name: "a rule sees what the one before made", object: deployment,
			overriders: `imageOverrider: [{component: Registry, operator: add, value: r.io}, {component: Tag, operator: add, value: "-a"}]`,
			err:        `applying imageOverrider[1]: ` + c1 + `: parsing image "registry.io:5000r.io/team/app@` + sha + `": invalid reference format`,
		},
		{name: "a CronJob has no default path", object: cronJob, overriders: tag9, want: map[string]string{j0: `"a:1"`}},
		{name: "a predicate reaches into a CronJob", object: cronJob, overriders: tag(j0), want: map[string]string{j0: `"a:9"`}},
		{
			name:       "only the kind counts, not its group",
			object:     `{apiVersion: other.io/v1, kind: Deployment, spec: {template: {spec: {containers: [{image: "a:1"}]}}}}`,
			overriders: tag9, want: map[string]string{c0: `"a:9"`},
		},
		{
			name:       "a Pod has its containers elsewhere",
			object:     `{apiVersion: v1, kind: Pod, spec: {containers: [{image: "a:1"}]}}`,
			overriders: tag9, want: map[string]string{"/spec/containers/0/image": `"a:9"`},
		},
		{
			name:       "an empty image is an error",
			object:     `{kind: Pod, spec: {containers: [{image: ""}]}}`,
			overriders: tag9, err: `/spec/containers/0/image: parsing image "": repository name must have at least one component`,
		},
		{
			name:       "no image is an empty image",
			object:     `{kind: Pod, spec: {containers: [{name: c}]}}`,
			overriders: tag9, err: "repository name must have at least one component",
		},
		{
			name:       "no containers are none to change",
			object:     `{kind: Pod, spec: {containers: null}}`,
			overriders: tag9,
		},
		{
			name:       "a foreign Job of another shape is an error",
			object:     `{kind: Job, spec: {template: hello}}`,
			overriders: tag9, err: "/spec/template: want an object, got a string",
		},
		{
			name:       "containers are a list",
			object:     `{kind: Pod, spec: {containers: {c: {}}}}`,
			overriders: tag9, err: "/spec/containers: want a list, got an object",
		},
		{
			name:       "a container is an object",
			object:     `{kind: Pod, spec: {containers: [c]}}`,
			overriders: tag9, err: "/spec/containers/0: want a container, got a string",
		},
		{
			name:       "a container is no list",
			object:     `{kind: Pod, spec: {containers: [[]]}}`,
			overriders: tag9, err: "/spec/containers/0: want a container, got a list",
		},
		{
			name:       "an image is a string",
			object:     `{kind: Pod, spec: {containers: [{image: 3}]}}`,
			overriders: tag9, err: "/spec/containers/0/image: want a string, got a number",
		},
		{name: "a ConfigMap has no images", object: configMap, overriders: tag9},
		{
			name: "an unknown component is an error", object: deployment,
			overriders: `imageOverrider: [{component: Digest, operator: replace}]`, err: `image component "Digest"`,
		},
	})
}

func TestCommandAndArgs(t *testing.T) {
	const (
		c0 = "/spec/template/spec/containers/0/"
		c1 = "/spec/template/spec/containers/1/"
	)
	args := func(container, operator, value string) string {
		return fmt.Sprintf("argsOverrider: [{containerName: %s, operator: %s, value: %s}]", container, operator, value)
	}
	pod := func(args string) string { return `{kind: Pod, spec: {containers: [{name: c, args: ` + args + `}]}}` }
	const p0 = "/spec/containers/0/args"
	run(t, []test{
		{name: "add appends", object: deployment, overriders: args("c", "add", "[z, --x=1]"), want: map[string]string{c0 + "args": `["a","b","a","z","--x=1"]`}},
		{name: "remove takes every occurrence", object: deployment, overriders: args("c", "remove", "[a]"), want: map[string]string{c0 + "args": `["b"]`}},
		{name: "remove may leave the empty list", object: deployment, overriders: args("c", "remove", "[a, b]"), want: map[string]string{c0 + "args": `[]`}},
		{name: "remove of what is not there does nothing", object: deployment, overriders: args("c", "remove", "[q]"), want: map[string]string{c0 + "args": `["a","b","a"]`}},
		{name: "add makes the field", object: deployment, overriders: args("c2", "add", "[q]"), want: map[string]string{c1 + "args": `["q"]`}},
		{name: "remove makes an empty field", object: deployment, overriders: args("c2", "remove", "[q]"), want: map[string]string{c1 + "args": `[]`}},
		{name: "add of nothing does nothing", object: deployment, overriders: args("c", "add", "[]"), want: map[string]string{c0 + "args": `["a","b","a"]`}},
		{name: "add of nothing makes an empty field", object: deployment, overriders: args("c2", "add", "[]"), want: map[string]string{c1 + "args": `[]`}},
		{name: "an unknown container does nothing", object: deployment, overriders: args("cc", "add", "[q]"), want: map[string]string{c0 + "args": `["a","b","a"]`, c1 + "args": "none"}},
		{name: "init containers are left alone", object: deployment, overriders: args("i", "add", "[q]"), want: map[string]string{"/spec/template/spec/initContainers/0/args": "none"}},
		{
			name: "another operator keeps the command", object: deployment,
			overriders: "commandOverrider: [{containerName: c, operator: replace, value: [q]}]", want: map[string]string{c0 + "command": `["run"]`},
		},
		{
			name: "another operator makes an empty command", object: deployment,
			overriders: "commandOverrider: [{containerName: c2, operator: replace, value: [q]}]", want: map[string]string{c1 + "command": `[]`},
		},
		{
			name: "command is not args", object: deployment,
			overriders: "commandOverrider: [{containerName: c, operator: add, value: [fast]}]", want: map[string]string{c0 + "command": `["run","fast"]`, c0 + "args": `["a","b","a"]`},
		},
		{name: "a CronJob is left alone", object: cronJob, overriders: args("c", "add", "[q]")},
		{
			name: "a Job is not", object: `{kind: Job, spec: {template: {spec: {containers: [{name: c}]}}}}`,
			overriders: args("c", "add", "[q]"), want: map[string]string{c0 + "args": `["q"]`},
		},
		{
			name: "all containers of the name change", object: `{kind: Pod, spec: {containers: [{name: c}, {name: c}]}}`,
			overriders: args("c", "add", "[q]"), want: map[string]string{p0: `["q"]`, "/spec/containers/1/args": `["q"]`},
		},
		{name: "null is no list yet", object: pod("null"), overriders: args("c", "add", "[q]"), want: map[string]string{p0: `["q"]`}},
		{name: "the empty list is a list", object: pod("[]"), overriders: args("c", "add", "[q]"), want: map[string]string{p0: `["q"]`}},
		{name: "numbers become strings", object: pod("[1, true]"), overriders: args("c", "add", "[q]"), want: map[string]string{p0: `["1","true","q"]`}},
		{name: "a string is no list", object: pod("go"), overriders: args("c", "add", "[q]"), err: "applying argsOverrider[0]: " + p0 + ": want a list, got a string"},
		{name: "a command that is a string is an error", object: `{kind: Pod, spec: {containers: [{name: c, command: go}]}}`, overriders: "commandOverrider: [{containerName: c, operator: add, value: [q]}]", err: "applying commandOverrider[0]: /spec/containers/0/command: want a list, got a string"},
		{name: "numbers become strings, whatever else happens", object: pod("[1, true]"), overriders: args("c", "remove", "[q]"), want: map[string]string{p0: `["1","true"]`}},
		{name: "an item that is null is an error", object: pod("[a, null]"), overriders: args("c", "add", "[q]"), err: p0 + ": want a list of strings, got null at 1"},
		{
			name: "an item that an overrider before looked into is an error", object: pod("[{image: 'a:1'}]"),
			overriders: `{imageOverrider: [{component: Tag, operator: replace, value: "2", predicate: {path: ` + p0 + `/0/image}}], ` + args("c", "add", "[q]") + `}`,
			err:        p0 + ": want a list of strings, got an object at 0",
		},
		{name: "a container without a name is not the one whose name is empty", object: `{kind: Pod, spec: {containers: [{image: "a:1"}]}}`, overriders: args(`""`, "add", "[q]"), want: map[string]string{p0: "none"}},
		{name: "a list of lists is an error", object: pod("[[]]"), overriders: args("c", "add", "[q]"), err: "want a list of strings, got a list at 0"},
	})
}

func TestLabelsAndAnnotations(t *testing.T) {
	const labels, annotations = "/metadata/labels", "/metadata/annotations"
	run(t, []test{
		{name: "add sets", object: deployment, overriders: "labelsOverrider: [{operator: add, value: {k: v}}]", want: map[string]string{labels: `{"app":"x","k":"v"}`}},
		{name: "add overwrites", object: deployment, overriders: "labelsOverrider: [{operator: add, value: {app: yy}}]", want: map[string]string{labels: `{"app":"yy"}`}},
		{name: "replace overwrites", object: deployment, overriders: "labelsOverrider: [{operator: replace, value: {app: yy}}]", want: map[string]string{labels: `{"app":"yy"}`}},
		{name: "replace sets nothing new", object: deployment, overriders: "labelsOverrider: [{operator: replace, value: {k: v}}]", want: map[string]string{labels: `{"app":"x"}`}},
		{name: "remove does not look at the value", object: deployment, overriders: "labelsOverrider: [{operator: remove, value: {app: other}}]", want: map[string]string{labels: `{}`}},
		{name: "remove of what is not there does nothing", object: deployment, overriders: "labelsOverrider: [{operator: remove, value: {k: v}}]", want: map[string]string{labels: `{"app":"x"}`}},
		{name: "add makes the map", object: deployment, overriders: "annotationsOverrider: [{operator: add, value: {a.b/c: v}}]", want: map[string]string{annotations: `{"a.b/c":"v"}`}},
		{name: "remove does not make the map", object: deployment, overriders: "annotationsOverrider: [{operator: remove, value: {k: v}}]", want: map[string]string{annotations: "none"}},
		{name: "a tilde is a character", object: deployment, overriders: "annotationsOverrider: [{operator: add, value: {a~b: v}}]", want: map[string]string{annotations: `{"a~b":"v"}`}},
		{name: "add of nothing does nothing", object: deployment, overriders: "labelsOverrider: [{operator: add, value: {}}]", want: map[string]string{labels: `{"app":"x"}`}},
		{name: "the pod template keeps its labels", object: deployment, overriders: "labelsOverrider: [{operator: add, value: {k: v}}]", want: map[string]string{"/spec/template/metadata/labels": `{"app":"x"}`}},
		{name: "add makes the metadata", object: "{kind: Foo}", overriders: "labelsOverrider: [{operator: add, value: {k: v}}]", want: map[string]string{labels: `{"k":"v"}`}},
		{name: "labels are an object", object: "{kind: Foo, metadata: {labels: x}}", overriders: "labelsOverrider: [{operator: add, value: {k: v}}]", err: "applying labelsOverrider[0]: /metadata/labels: want an object, got a string"},
		{name: "metadata is an object", object: "{kind: Foo, metadata: x}", overriders: "annotationsOverrider: [{operator: add, value: {k: v}}]", err: "applying annotationsOverrider[0]: /metadata: want an object"},
		{name: "an unknown operator is an error for what is there, too", object: deployment, overriders: "labelsOverrider: [{operator: move, value: {app: v}}]", err: `/metadata/labels/app: operator "move"`},
		{name: "an unknown operator is an error", object: deployment, overriders: "labelsOverrider: [{operator: move, value: {a/b: v}}]", err: `/metadata/labels/a~1b: operator "move"`},
	})
}
