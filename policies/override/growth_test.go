package override_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

// crowds are many overriders for one object, in one rule or each in its own.
var crowds = []struct {
	name string
	manifest,
	each string // the n-th rule; %[1]d is n
}{
	{"labels", deployment, "{labelsOverrider: [{operator: add, value: {l%[1]d: v}}]}"},
	{"annotations that go again", deployment, "{annotationsOverrider: [{operator: add, value: {a%[1]d: v, b%[1]d: v}}, {operator: remove, value: {b%[1]d: v}}]}"},
	{"args", deployment, "{argsOverrider: [{containerName: c, operator: add, value: [a%[1]d, b%[1]d, c%[1]d, d%[1]d]}]}"},
	{"a command", deployment, "{commandOverrider: [{containerName: c, operator: add, value: [a%[1]d]}]}"},
	{"images", deployment, "{imageOverrider: [{component: Tag, operator: replace, value: v%[1]d}]}"},
	{"patches of a map", configMap, "{plaintext: [{path: /data/a%[1]d, operator: add, value: v}]}"},
	{"patches of a list", deployment, "{plaintext: [{path: /spec/template/spec/containers/0/args/-, operator: add, value: a%[1]d}]}"},
	{"patches of what only a server sets", deployment, "{plaintext: [{path: /status, operator: remove}, {path: /spec/replicas, operator: replace, value: %[1]d}]}"},
	{"patches of a large object", "{kind: Foo, spec: {a: " + strings.Repeat("x", 10_000) + "}}", "{plaintext: [{path: /spec/n, operator: add, value: %[1]d}]}"},
}

// What overriders cost grows with their number, and not with its square: four times as
// many, in as many rules, take about four times the memory.
func TestManyOverridersTakeTimeInProportion(t *testing.T) {
	const few, times, most = 60, 4, 6
	for _, c := range crowds {
		for _, how := range []string{"in one rule", "in a rule each"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				small, large := allocated(t, c.manifest, crowd(t, c.each, how, few)), allocated(t, c.manifest, crowd(t, c.each, how, times*few))
				if large > most*small {
					t.Errorf("%d take %d bytes, and %d take %d", few, small, times*few, large)
				}
			})
		}
	}
}

// crowd makes the rules.
func crowd(tb testing.TB, each, how string, n int) []karmada.RuleWithCluster {
	tb.Helper()
	var rules []karmada.RuleWithCluster
	for i := range n {
		rules = append(rules, karmada.RuleWithCluster{Overriders: *overriders(tb, fmt.Sprintf(each, i))})
	}
	if how != "in one rule" {
		return rules
	}
	var all karmada.Overriders
	for i := range rules {
		o := &rules[i].Overriders
		all.LabelsOverrider = append(all.LabelsOverrider, o.LabelsOverrider...)
		all.AnnotationsOverrider = append(all.AnnotationsOverrider, o.AnnotationsOverrider...)
		all.ArgsOverrider = append(all.ArgsOverrider, o.ArgsOverrider...)
		all.CommandOverrider = append(all.CommandOverrider, o.CommandOverrider...)
		all.ImageOverrider = append(all.ImageOverrider, o.ImageOverrider...)
		all.Plaintext = append(all.Plaintext, o.Plaintext...)
	}
	return []karmada.RuleWithCluster{{Overriders: all}}
}

// allocated applies rules to an object, and returns how many bytes that allocated.
func allocated(t *testing.T, manifest string, rules []karmada.RuleWithCluster) uint64 {
	t.Helper()
	obj := object(t, manifest)
	var ruled override.Rules
	for i := range rules {
		ruled.List = append(ruled.List, &override.Rule{Index: i, Overriders: &rules[i].Overriders})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := ruled.Apply(obj, strings.Repeat("\x01", len(rules))); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What grows with the object and with the overriders all the same is bounded.
func TestWhatOverridersDoToOneObjectIsBounded(t *testing.T) {
	long := map[string]any{"kind": "ConfigMap", "data": map[string]any{"y": "a: " + strings.Repeat("x", 1<<20)}}
	edit := "fieldOverrider: [" + strings.Repeat("{fieldPath: /data/y, yaml: [{subPath: /b, operator: add, value: 1}]}, ", 4) + "]"
	if _, _, err := override.Apply(long, overriders(t, edit)); err == nil || !strings.Contains(err.Error(), "applying fieldOverrider[3]: /data/y: the overriders for this object do too much") {
		t.Errorf("error %v", err)
	}
	edit = "fieldOverrider: [{fieldPath: /data/y, yaml: [" + strings.Repeat("{subPath: /b, operator: add, value: 1}, ", 4) + "]}]"
	if _, _, err := override.Apply(long, overriders(t, edit)); err != nil {
		t.Errorf("many operations in one: %v", err)
	}
	whole := "{operator: add, path: /data/, value: v}"
	for patch, refused := range map[string]bool{
		strings.Repeat(whole+", ", 40):                                    false, // which are one patch
		strings.Repeat(whole+", {operator: remove, path: /status}, ", 20): true,
	} {
		if _, _, err := override.Apply(long, overriders(t, "plaintext: ["+patch+"]")); (err != nil) != refused || refused && !strings.Contains(err.Error(), "do too much") {
			t.Errorf("%s: error %v", patch, err)
		}
	}
	json := map[string]any{"kind": "ConfigMap", "data": map[string]any{"j": `{"a":"` + strings.Repeat("x", 4<<20) + `"}`}}
	edit = "fieldOverrider: [" + strings.Repeat("{fieldPath: /data/j, json: [{subPath: /b, operator: add, value: 1}]}, ", 8) + "]"
	if _, _, err := override.Apply(json, overriders(t, edit)); err == nil || !strings.Contains(err.Error(), "applying fieldOverrider[7]: /data/j: the overriders for this object do too much") {
		t.Errorf("error %v", err)
	}
}

// The values that changes show are bounded, too.
func TestWhatChangesShowIsBounded(t *testing.T) {
	crowded := overriders(t, "argsOverrider: ["+strings.Repeat("{containerName: c, operator: add, value: ["+strings.Repeat("x", 5000)+"]}, ", 200)+"]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, changes, err := override.Apply(object(t, deployment), crowded)
	if runtime.ReadMemStats(&after); err != nil {
		t.Fatal(err)
	}
	if last := changes[len(changes)-1]; len(changes) != 200 || last.New != "…" || last.Path == "" {
		t.Errorf("%d changes, of which the last is %+v", len(changes), last)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 300<<20 {
		t.Errorf("it took %d bytes", n)
	}
}
