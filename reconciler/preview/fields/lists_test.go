package fields_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
)

// TestHowItemsOfListsAreMatched: by keys that tell all of both lists apart, or else by their longest common sequence, of which what is told
// does not depend on chance.
func TestHowItemsOfListsAreMatched(t *testing.T) {
	custom := func(list string) map[string]any {
		return content(t, "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: a, namespace: b}\nl: ["+list+"]\n")
	}
	for _, tt := range []struct{ name, from, to, want string }{
		{"what moves up stays", "p, a, b, c, q", "a, b, c, r", "remove l[0] p <nil>\nreplace l[3] q r"},
		{"what moves down stays", "a, b, c, q", "p, a, b, c, r", "add l[0] <nil> p\nreplace l[4] q r"},
		{
			"the longer sequence counts", "x, a, b, c, z", "y, b, c, x, w",
			"replace l[0] x y\nremove l[1] a <nil>\nreplace l[3] z x\nadd l[4] <nil> w",
		},
		{"of two that are as long the later one", "a, b, z", "b, a, w", "remove l[0] a <nil>\nreplace l[1] z a\nadd l[2] <nil> w"},
		{"nothing is common", "a, b", "c, d, e", "replace l[0] a c\nreplace l[1] b d\nadd l[2] <nil> e"},
		{"an item twice", "a, b, a", "a, a", "remove l[1] b <nil>"},
		{"nothing becomes something", "", "a, b", "add l[0] <nil> a\nadd l[1] <nil> b"},
		{
			"names that tell those of one list apart alone", "{name: x, v: 1}, {name: x, v: 2}", "{name: x, v: 1}",
			"remove l[1] map[name:x v:2] <nil>",
		},
		{
			"names that tell those of the other list apart alone", "{name: x, v: 1}", "{name: x, v: 1}, {name: x, v: 2}",
			"add l[1] <nil> map[name:x v:2]",
		},
		{"a name that one lacks", "{name: x, v: 1}, {v: 2}", "{name: x, v: 3}, {v: 2}", "replace l[0].v 1 3"},
		{"a name that is none", "{name: [x], v: 1}", "{name: [x], v: 2}", "replace l[0].v 1 2"},
		{"an item that is no map", "{name: x, v: 1}, y", "{name: x, v: 2}, y", "replace l[0].v 1 2"},
		{
			"by a key", "{key: x, v: 1}, {key: y}", "{key: z}, {key: x, v: 2}",
			"replace l[key=x].v 1 2\nremove l[key=y] map[key:y] <nil>\nadd l[key=z] <nil> map[key:z]",
		},
		{"by an id that is a number", "{id: 1, v: 1}, {id: 2}", "{id: 2}, {id: 1, v: 2}", "replace l[id=1].v 1 2\nreorder l 1, 2 2, 1"},
		{"lists of lists", "[a, b], [c]", "[a], [c]", "remove l[0][1] b <nil>"},
		{"a list becomes a text", "[a]", "a", "replace l[0] [a] a"},
		{"lines become a number", `"a\nb"`, "5", "replace l[0] a\nb 5"},
	} {
		if got := summary(fields.Diff(custom(tt.from), custom(tt.to), nil)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	service := func(ports string) map[string]any {
		return content(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b}\nspec: {ports: ["+ports+"]}\n")
	}
	from := service("{port: 53}, {port: 53, protocol: UDP}")
	to := service("{port: 80}, {port: 53, protocol: UDP, targetPort: 5353}, {port: 53}")
	const want = "add spec.ports[port=53/UDP].targetPort <nil> 5353\n" +
		"add spec.ports[port=80] <nil> map[port:80]\nreorder spec.ports 53, 53/UDP 53/UDP, 53"
	if got := summary(fields.Diff(from, to, nil)); got != want {
		t.Errorf("by a port, one of which says no protocol:\n%s\nwant\n%s", got, want)
	}
}

// TestStepsLeadToAField in the manifest that has it, the newer one if both have: by keys, and by indexes into lists however they are
// matched.
func TestStepsLeadToAField(t *testing.T) {
	of := func(list string) map[string]any {
		return content(t, "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: a, namespace: b}\nl: ["+list+"]\n")
	}
	all := fields.Diff(of("{name: x, v: 1}, {name: y}"), of("{name: new}, {name: z}, {name: x, v: 2}"), nil)
	steps := map[string][]any{}
	for _, f := range all {
		steps[f.Path] = f.Steps
	}
	want := map[string][]any{"l[name=x].v": {"l", 2, "v"}, "l[name=y]": {"l", 1}, "l[name=new]": {"l", 0}, "l[name=z]": {"l", 1}}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("they are %v, want %v", steps, want)
	}
}

// TestWhatIsHiddenHasNoValues, whatever may be shown of each of them.
func TestWhatIsHiddenHasNoValues(t *testing.T) {
	of := func(v any) map[string]any { return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "k": v} }
	for from, to := range map[string]string{"user a, Hunter2Canary": "user a, Hunter3Canary", "kind: Secret\na: b": "kind: Secret\na: c"} {
		all := fields.Diff(of(from), of(to), []string{"Hunter2Canary", "Hunter3Canary"})
		if len(all) != 1 || !all[0].Hidden || all[0].From != nil || all[0].To != nil || all[0].Lines != "" {
			t.Errorf("of %q is told %+v", from, all)
		}
	}
	long := strings.Repeat("line\n", 20)
	for _, f := range fields.Diff(of(long+"a\n"), of(long+"b\n"), nil) {
		if f.From != nil || f.To != nil || !strings.HasPrefix(f.Lines, "@@ -18,4 +18,4 @@\n"+strings.Repeat(" line\n", 3)+"-a\n+b\n") {
			t.Errorf("of lines is told %+v", f)
		}
	}
}

// TestHowManyFollow is said in the singular of one.
func TestHowManyFollow(t *testing.T) {
	for n, want := range map[int]string{
		1: "1 label or checksum that follows", 2: "2 labels or checksums that follow",
		11: "11 labels or checksums that follow",
	} {
		if got := fields.Follow(n); got != want {
			t.Errorf("of %d it says %q", n, got)
		}
	}
}

// TestALongListIsComparedItemByItem where to find what is common would take too long.
func TestALongListIsComparedItemByItem(t *testing.T) {
	list := func(n, from int) map[string]any {
		all := make([]any, n)
		for i := range all {
			all[i] = fmt.Sprint("item ", i+from)
		}
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Farm", "l": all}
	}
	for n, want := range map[int]int{512: 2, 513: 513} { // 512 times 512 are as many as may be compared
		if got := len(fields.Diff(list(n, 0), list(n, 1), nil)); got != want {
			t.Errorf("of %d items %d differ, want %d", n, got, want)
		}
	}
}
