package lua_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestValuesComeBack(t *testing.T) {
	obj := map[string]any{
		"list": []any{}, "map": map[string]any{}, "lists": []any{[]any{}, map[string]any{}, []any{int64(1)}},
		"big": int64(math.MaxInt64), "small": int64(math.MinInt64), "odd": int64(1<<53 + 1), "float": 1.0, "bigs": []any{int64(1<<60 + 1)},
		"text": "a\x00b", "true": true, "null": nil, "nulls": []any{nil, "a", nil},
	}
	for _, tt := range []struct {
		name, body string
		want       any
	}{
		{"all as it was, but nulls", "return o", map[string]any{
			"list": []any{}, "map": map[string]any{}, "lists": []any{[]any{}, map[string]any{}, []any{int64(1)}},
			"big": int64(math.MaxInt64), "small": int64(math.MinInt64), "odd": int64(1<<53 + 1), "float": 1.0, "bigs": []any{int64(1<<60 + 1)},
			"text": "a\x00b", "true": true, "nulls": []any{"a"},
		}},
		{"what has moved keeps what it was", "return {x = o.list, y = {o.map, o.list}, z = o.lists[2]}", map[string]any{
			"x": []any{}, "y": []any{map[string]any{}, []any{}}, "z": map[string]any{},
		}},
		{"an empty table is what stood in its place", "o.list = {} o.map = {} return {list = o.list, lists = {{}, {}}, map = {}}", map[string]any{
			"list": []any{}, "map": map[string]any{}, "lists": []any{[]any{}, map[string]any{}},
		}},
		{"an empty table where nothing was is dropped", "return {a = 1, b = {}, c = {{}}}", map[string]any{"a": int64(1), "c": []any{}}},
		{"a list that is emptied is a list", "table.remove(o.bigs) return {bigs = o.bigs}", map[string]any{"bigs": []any{}}},
		{"a map that gets items is a list", "o.map[1] = 'x' return {map = o.map}", map[string]any{"map": []any{"x"}}},
		{"nil removes a field", "for k in pairs(o) do o[k] = k == 'text' and o[k] or nil end return o", map[string]any{"text": "a\x00b"}},
		{"new numbers", "return {1, 1.5, -0, 2 ^ 62, 1e300, 0.1 + 0.2}", []any{int64(1), 1.5, int64(0), int64(1 << 62), 1e300, 0.30000000000000004}},
		{"a float that changed is a number like any other", "o.float = o.float + 1 return {float = o.float}", map[string]any{"float": int64(2)}},
		{"an empty table by itself", "return {}", map[string]any{}},
		{"nothing", "return nil", nil},
		{"a value", "return true", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := run(t, "function F(o) "+tt.body+" end", obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.want}, out); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestFieldsHaveTheOrderOfTheirNames: a map of Go has another order each time.
func TestFieldsHaveTheOrderOfTheirNames(t *testing.T) {
	obj, want := map[string]any{}, ""
	for i := range 50 {
		name := fmt.Sprintf("k%02d", i)
		obj[name], want = "x", want+name
	}
	out, err := run(t, "function F(o) local all = '' for name in pairs(o) do all = all .. name end return all end", obj)
	if err != nil || out[0] != want {
		t.Errorf("%v, %v; want %s", out, err, want)
	}
}

func TestWhatCannotComeBack(t *testing.T) {
	for _, tt := range []struct{ name, expression, want string }{
		{"a function", "{a = {tostring}}", "reading what F returned: .a[0]: a function is no value of a manifest"},
		{"not a number", "{a = 0 / 0}", ".a: NaN is no value of a manifest"},
		{"infinity", "{1, 1 / 0}", "[1]: +Inf is no value of a manifest"},
		{"a string of bytes", `"\255"`, "a string is not UTF-8"},
		{"a name of bytes", `{["\255"] = 1}`, "the name of a field: a string is not UTF-8"},
		{"items and fields", "{a = {1, b = 2}}", ".a: a table has items and fields"},
		{"a gap", "{1, nil, 3}", "a list of 2 items has none at 2"},
		{"an item 0", "{[0] = 1}", "a list of 1 items has none at 1"},
		{"an item that is not whole", "{1, [1.5] = 1}", "a list of 2 items has none at 2"},
		{"a name that is none", "{[true] = 1}", "a boolean is no name of a field"},
		{"the libraries", "_G", ".F: a function is no value of a manifest"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, "function F() return "+tt.expression+" end")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if _, err := run(t, "function F() end", map[string]any{"a": 1}); err == nil || err.Error() != "giving argument 1 to F: a int is no decoded value" {
		t.Errorf("an int: %v", err)
	}
}

// withoutNulls is v as it comes back from Lua.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, child := range v {
			if child != nil {
				m[key] = withoutNulls(child)
			}
		}
		return m
	case []any:
		list := []any{}
		for _, child := range v {
			if child != nil {
				list = append(list, withoutNulls(child))
			}
		}
		return list
	default:
		return v
	}
}

// FuzzValuesComeBack: whatever is JSON comes back from Lua, but nulls.
func FuzzValuesComeBack(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `{"a":[],"b":{},"c":null,"d":[null,{},[]],"e":9007199254740993,"f":1.0,"g":-0.0,"h":1e400}`,
		`[[[[1,2.5,"x",true,false]]]]`, `{"1":1,"":2}`, `9223372036854775807`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var obj map[string]any
		if utiljson.Unmarshal(append(append([]byte(`{"o":`), data...), '}'), &obj) != nil {
			t.Skip()
		}
		before := withoutNulls(obj)
		out, err := run(t, "function F(o) return o end", obj)
		if err != nil {
			if strings.Contains(err.Error(), "nests more than") {
				t.Skip()
			}
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, out[0]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(before, withoutNulls(obj)); diff != "" {
			t.Errorf("the argument was modified:\n%s", diff)
		}
	})
}
