package fields_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
)

// content decodes a manifest.
func content(t *testing.T, text string) map[string]any {
	t.Helper()
	o, diags := object.Single("x.yaml", []byte(text))
	if o == nil {
		t.Fatal(diags)
	}
	return o.Content()
}

// summary prints fields, one a line.
func summary(all []fields.Field) string {
	var lines []string
	for _, f := range all {
		line := string(f.Op) + " " + f.Path
		switch {
		case f.Hidden:
			line += " hidden"
		case f.Lines != "":
			line += fmt.Sprintf(" %q", f.Lines)
		default:
			line += fmt.Sprintf(" %v %v", f.From, f.To)
		}
		if f.Routine {
			line += " routine"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestDiff(t *testing.T) {
	deployment := func(spec string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\nspec: {template: {spec: {" + spec + "}}}\n"
	}
	service := func(ports string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b}\nspec: {ports: [" + ports + "]}\n"
	}
	custom := func(list string) string {
		return "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: a, namespace: b}\nspec: {list: [" + list + "]}\n"
	}
	config := func(rest string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b" + rest + "}\n"
	}
	secret := func(rest string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n" + rest + "\n"
	}
	for _, tt := range []struct{ name, from, to, want string }{
		{"a field", deployment("hostname: x"), deployment("hostname: y"), "replace spec.template.spec.hostname x y"},
		{"a field that comes", deployment(""), deployment("hostname: y"), "add spec.template.spec.hostname <nil> y"},
		{"a field that goes", deployment("hostname: y"), deployment(""), "remove spec.template.spec.hostname y <nil>"},
		{"a key with dots", config(`, labels: {example.com/x: "1"}`), config(`, labels: {example.com/x: "2"}`), `replace metadata.labels["example.com/x"] 1 2`},
		{
			"a container behind a new one", deployment("containers: [{name: web, image: w:1}]"), deployment("containers: [{name: proxy, image: p}, {name: web, image: w:2}]"),
			"replace spec.template.spec.containers[name=web].image w:1 w:2\nadd spec.template.spec.containers[name=proxy] <nil> map[image:p name:proxy]",
		},
		{"containers in another order", deployment("initContainers: [{name: x}, {name: y}]"), deployment("initContainers: [{name: y}, {name: x}]"), "reorder spec.template.spec.initContainers x, y y, x"},
		{
			"a variable", deployment("containers: [{name: web, env: [{name: A, value: '1'}, {name: B, value: '2'}]}]"), deployment("containers: [{name: web, env: [{name: B, value: '3'}]}]"),
			"remove spec.template.spec.containers[name=web].env[name=A] map[name:A value:1] <nil>\nreplace spec.template.spec.containers[name=web].env[name=B].value 2 3",
		},
		{
			"a mount by its path", deployment("containers: [{name: web, volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /b}]}]"),
			deployment("containers: [{name: web, volumeMounts: [{name: v, mountPath: /b, readOnly: true}, {name: v, mountPath: /a}]}]"),
			"add spec.template.spec.containers[name=web].volumeMounts[mountPath=/b].readOnly <nil> true\nreorder spec.template.spec.containers[name=web].volumeMounts /a, /b /b, /a",
		},
		{
			"a port that is open twice", service("{port: 53, protocol: TCP}, {port: 53, protocol: UDP}"), service("{port: 53, protocol: TCP}, {port: 53, protocol: UDP, targetPort: 5353}"),
			"add spec.ports[port=53/UDP].targetPort <nil> 5353",
		},
		{"an argument", deployment("containers: [{name: w, args: [a, b, c]}]"), deployment("containers: [{name: w, args: [a, c, d]}]"), "remove spec.template.spec.containers[name=w].args[1] b <nil>\nadd spec.template.spec.containers[name=w].args[2] <nil> d"},
		{"an argument with another value", deployment("containers: [{name: w, args: [a, '--v=2']}]"), deployment("containers: [{name: w, args: [a, '--v=4']}]"), "replace spec.template.spec.containers[name=w].args[1] --v=2 --v=4"},
		{"an unknown kind, by names", custom("{name: x, v: 1}, {name: y, v: 1}"), custom("{name: y, v: 2}, {name: x, v: 1}"), "replace spec.list[name=y].v 1 2\nreorder spec.list x, y y, x"},
		{"items without names", custom("{v: 1}, {v: 2}"), custom("{v: 1}, {v: 3}"), "replace spec.list[1].v 2 3"},
		{"another type", custom("{v: 1}"), custom("{v: {w: 1}}"), "replace spec.list[0].v 1 map[w:1]"},
		{"lines", config("") + "data: {f: \"a\\nb\\nc\\n\"}\n", config("") + "data: {f: \"a\\nx\\nc\\n\"}\n", `replace data.f "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"`},
		{"a line that becomes lines", config("") + "data: {f: a}\n", config("") + "data: {f: \"a\\nb\\n\"}\n", `replace data.f "@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"`},
		{"lines that become a line", config("") + "data: {f: \"a\\nb\\n\"}\n", config("") + "data: {f: a}\n", `replace data.f "@@ -1,2 +1,1 @@\n-a\n-b\n+a\n\\ No newline at end of file\n"`},
		{"lines that come", config("") + "data: {}\n", config("") + "data: {f: \"a\\nb\\n\"}\n", "add data.f <nil> a\nb\n"},
		{"what is null comes", custom("{}"), custom("{v: null}"), "add spec.list[0].v <nil> <nil>"},
		{"a checksum", config(`, annotations: {checksum/config: a, chart: web-1, own: x}`), config(`, annotations: {checksum/config: b, chart: web-2, own: y}`), "replace metadata.annotations.chart web-1 web-2 routine\nreplace metadata.annotations[\"checksum/config\"] a b routine\nreplace metadata.annotations.own x y"},
		{"a key of data that is called as such a label", config("") + "data: {chart: a}\n", config("") + "data: {chart: b}\n", "replace data.chart a b"},
		{"items that are the same twice", custom("{name: x, v: 1}, {name: x, v: 2}"), custom("{name: x, v: 1}, {name: x, v: 3}"), "replace spec.list[1].v 2 3"},
		{"a list of a Secret", secret("list: [{name: x, v: a}]"), secret("list: [{name: x, v: b}, {name: y}]"), "replace list hidden"},
		{"the labels of a chart", config(`, labels: {helm.sh/chart: web-1, own: a}`), config(`, labels: {helm.sh/chart: web-2, own: b}`), "replace metadata.labels[\"helm.sh/chart\"] web-1 web-2 routine\nreplace metadata.labels.own a b"},
		{"a Secret", secret("stringData: {a: x, b: y}"), secret("stringData: {a: z, c: y}"), "replace stringData.a hidden\nremove stringData.b hidden\nadd stringData.c hidden"},
		{"an encrypted Secret", secret("data: {a: 'ENC[1]'}\nsops: {mac: 'ENC[2]', lastmodified: x}"), secret("data: {a: 'ENC[3]'}\nsops: {mac: 'ENC[4]', lastmodified: y}"), "replace data.a hidden"},
		{"another encryption", secret("sops: {mac: 'ENC[2]'}"), secret("sops: {mac: 'ENC[4]'}"), "replace sops.mac hidden"},
		{"a Secret within", custom("{m: {kind: Secret, data: {a: x}}}"), custom("{m: {kind: Secret, data: {a: y}}}"), "replace spec.list[0].m.data.a hidden"},
		{"a Secret within that becomes another kind", custom("{m: {kind: Secret, data: {a: x}}}"), custom("{m: {kind: ConfigMap, data: {a: y}}}"), "replace spec.list[0].m.data.a hidden\nreplace spec.list[0].m.kind hidden"},
		{"another kind within that becomes a Secret", custom("{m: {kind: ConfigMap, data: {a: x}}}"), custom("{m: {kind: Secret, data: {a: y}}}"), "replace spec.list[0].m.data.a hidden\nreplace spec.list[0].m.kind hidden"},
		{"a Secret within that comes", custom(""), custom("{m: {kind: Secret, data: {a: x}}}"), "add spec.list[0] <nil> map[m:(not shown)]"},
		{"a Secret in a text", config("") + "data: {f: \"kind: Secret\\na: b\"}\n", config("") + "data: {f: \"kind: Secret\\na: c\"}\n", "replace data.f hidden"},
		{"what kubectl applied", config(`, annotations: {kubectl.kubernetes.io/last-applied-configuration: a}`), config(`, annotations: {kubectl.kubernetes.io/last-applied-configuration: b}`), `replace metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] hidden`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, summary(fields.Diff(content(t, tt.from), content(t, tt.to), nil))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSecretsAreInNoField puts a value of a Secret where a chart may put one, and looks for it in
// all that is said, as it is and encoded.
func TestSecretsAreInNoField(t *testing.T) {
	const canary = "Hunter2Canary"
	encoded := base64.StdEncoding.EncodeToString([]byte(canary))
	from := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	places := []map[string]any{
		{"data": map[string]any{"k": canary}},
		{"data": map[string]any{"k": "first\npassword=" + canary + "\nlast"}},
		{"data": map[string]any{canary: "v"}},
		{"binaryData": map[string]any{"k": encoded}},
		{"metadata": map[string]any{"name": "a", "annotations": map[string]any{object.LastApplied: `{"data":{"k":"` + canary + `"}}`}}},
		{"metadata": map[string]any{"name": "a", "labels": map[string]any{"k": strings.ToLower(canary)}}},
		{"list": []any{canary}},
		{"list": []any{map[string]any{"name": canary, "value": canary}}},
		{"list": []any{map[string]any{"kind": "Secret", "stringData": map[string]any{"k": canary}}}},
		{"deep": map[string]any{"deeper": []any{[]any{canary}}}},
	}
	for i, place := range places {
		to := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
		maps.Copy(to, place)
		for _, pair := range [][2]map[string]any{{from, to}, {to, from}} {
			all := fields.Diff(pair[0], pair[1], []string{canary})
			said, err := json.Marshal(all)
			if err != nil || len(all) == 0 {
				t.Fatalf("%d: %v %v", i, all, err)
			}
			if low := strings.ToLower(string(said)); strings.Contains(low, strings.ToLower(canary)) || strings.Contains(string(said), encoded) {
				t.Errorf("%d: it is said: %s", i, said)
			}
		}
	}
}

func TestShown(t *testing.T) {
	label, image := fields.Field{Path: "label", Routine: true}, fields.Field{Path: "image"}
	for _, tt := range []struct {
		all, shown []fields.Field
		routine    int
	}{
		{nil, nil, 0},
		{[]fields.Field{label, label}, []fields.Field{label, label}, 0},
		{[]fields.Field{label, image, label}, []fields.Field{image}, 2},
	} {
		if shown, n := fields.Shown(tt.all); n != tt.routine || !reflect.DeepEqual(shown, tt.shown) {
			t.Errorf("of %v are shown %v, and %d not", tt.all, shown, n)
		}
	}
}

// TestWhatIsNewInALongList is told alone: what is before and behind it is the same.
func TestWhatIsNewInALongList(t *testing.T) {
	const items, at = 1_400, 700
	with := func(more ...any) map[string]any {
		var list []any
		for i := range items {
			if i == at {
				list = append(list, more...)
			}
			list = append(list, fmt.Sprint("item ", i))
		}
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Farm", "list": list}
	}
	for want, pair := range map[string][2]map[string]any{
		"add list[700] <nil> new": {with(), with("new")}, "remove list[700] old <nil>": {with("old"), with()},
		"replace list[700] old new": {with("old"), with("new")}, "replace list[700] old new\nadd list[701] <nil> newer": {with("old"), with("new", "newer")},
	} {
		if got := summary(fields.Diff(pair[0], pair[1], nil)); got != want {
			t.Errorf("it is %.300s; want %s", got, want)
		}
	}
}

// TestASecretThatIsReplaced by another one is told without both, and so is what differs only in what is hidden; beside it is shown what may be.
func TestASecretThatIsReplaced(t *testing.T) {
	const before, after = "Hunter2Canary", "Hunter3Canary"
	of := func(v any) map[string]any { return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "k": v} }
	for _, tt := range []struct {
		from, to any
		want     string
	}{
		{before, after, "replace k hidden"},
		{"user a, " + before, "user a, " + after, "replace k hidden"},
		{"user a, " + before, "user b, " + after, "replace k user a, (hidden) user b, (hidden)"},
		{before, "open", "replace k (hidden) open"},
		{[]any{"a", before}, []any{"a", after}, "replace k[1] hidden"},
		{map[string]any{"x": before}, "open", "replace k map[x:(hidden)] open"},
	} {
		got := summary(fields.Diff(of(tt.from), of(tt.to), []string{before, after}))
		want := strings.ReplaceAll(tt.want, "(hidden)", object.Redactor([]string{before}).Replace(before))
		if got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

// TestVeiledValues: what differs from the twin is not shown, and that it changes is told; of what is made otherwise nothing is shown. All
// else is as it was.
func TestVeiledValues(t *testing.T) {
	of := func(m map[string]any) map[string]any {
		all := map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}
		maps.Copy(all, m)
		return all
	}
	type manifest = map[string]any
	for _, tt := range []struct {
		name       string
		from, twin manifest // as it was, with values of Secrets and with others
		to, other  manifest // as it is
		want       string
	}{
		{"a value that is no secret", manifest{"a": "x"}, manifest{"a": "x"}, manifest{"a": "y"}, manifest{"a": "y"}, "replace a x y"},
		{"a value that is one", manifest{"a": "s1"}, manifest{"a": "t1"}, manifest{"a": "s2"}, manifest{"a": "t2"}, "replace a hidden"},
		{"the same secret", manifest{"a": "s1"}, manifest{"a": "t1"}, manifest{"a": "s1"}, manifest{"a": "t9"}, ""},
		{"a value becomes one", manifest{"a": "x"}, manifest{"a": "x"}, manifest{"a": "s2"}, manifest{"a": "t2"}, "replace a x (not shown)"},
		{"beside one", manifest{"m": manifest{"a": "s", "b": "x"}}, manifest{"m": manifest{"a": "t", "b": "x"}}, manifest{"m": manifest{"a": "s", "b": "y"}}, manifest{"m": manifest{"a": "t", "b": "y"}}, "replace m.b x y"},
		{"keys that are made of one", manifest{"m": manifest{"s": "x"}}, manifest{"m": manifest{"t": "x"}}, manifest{"m": manifest{"s": "y"}}, manifest{"m": manifest{"t": "y"}}, "replace m hidden"},
		{"an item of a list", manifest{"l": []any{"x", "s"}}, manifest{"l": []any{"x", "t"}}, manifest{"l": []any{"y", "s"}}, manifest{"l": []any{"y", "t"}}, "replace l[0] x y"},
		{"as many items as one says", manifest{"l": []any{"x"}}, manifest{"l": []any{"x", "x"}}, manifest{"l": []any{"y"}}, manifest{"l": []any{"y", "y"}}, "replace l hidden"},
		{"another type", manifest{"a": manifest{"x": "1"}}, manifest{"a": "1"}, manifest{"a": manifest{"x": "2"}}, manifest{"a": "2"}, "replace a hidden"},
		{"fields that are made of one", manifest{"s": "x"}, manifest{"t": "x"}, manifest{"s": "y"}, manifest{"t": "y"}, "replace s hidden"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := fields.Veil(of(tt.from), of(tt.twin)), fields.Veil(of(tt.to), of(tt.other))
			if got := summary(fields.Diff(from, to, nil)); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
			if to["kind"] != "ConfigMap" || to["apiVersion"] != "v1" {
				t.Errorf("it is a %v of %v", to["kind"], to["apiVersion"])
			}
		})
	}
	all := fields.VeilAll(of(manifest{"a": "x", "m": manifest{"b": "y"}}))
	if got := summary(fields.Diff(all, of(manifest{"a": "x", "m": manifest{"b": "y"}}), nil)); got != "replace a (not shown) x\nreplace m (not shown) map[b:y]" {
		t.Errorf("of all that is veiled is shown %q", got)
	}
}

// FuzzDiff holds it to its laws: equal manifests have no field that differs, others have one, and
// what goes one way goes the other way as well.
func FuzzDiff(f *testing.F) {
	f.Add("a: 1", "a: 2")
	f.Add("a: [1, 2, 3]", "a: [2, 3, 1, 1]")
	f.Add("a: [{name: x}, {name: y}]", "a: [{name: y, b: 1}]")
	f.Fuzz(func(t *testing.T, a, b string) {
		read := func(text string) map[string]any {
			d := object.Decode("x.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  "+text))
			if len(d.Objects) != 1 {
				t.Skip()
			}
			return d.Objects[0].Content()
		}
		x, y := read(a), read(b)
		if all := fields.Diff(x, x, nil); len(all) > 0 {
			t.Errorf("%v differs from itself in %s", x, summary(all))
		}
		there, back := fields.Diff(x, y, nil), fields.Diff(y, x, nil)
		if reflect.DeepEqual(x, y) != (len(there) == 0) || (len(there) == 0) != (len(back) == 0) {
			t.Errorf("%v and %v differ in %q, and back in %q", x, y, summary(there), summary(back))
		}
	})
}
