package interpret_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// FuzzUndefault damages a manifest, defaults it, changes it as overrides might, and
// holds the result against the laws of Default and Undefault.
func FuzzUndefault(f *testing.F) {
	var texts []string
	for i, obj := range shop(f) {
		texts = append(texts, asJSON(f, obj))
		f.Add(byte(i), []byte{}, []byte{})
		for n := range byte(12) {
			f.Add(byte(i), []byte{n * 3, n}, []byte{n * 5, n, n * 7, n + 1, n * 11, n + 2})
		}
	}
	f.Fuzz(func(t *testing.T, which byte, damage, changes []byte) {
		obj := decoded(t, texts[int(which)%len(texts)])
		change(obj, damage)
		checkLaws(t, obj, changes)
	})
}

// What shares most of itself with its template is undefaulted in a shorter way, to the
// same.
func TestUndefaultOfIsUndefault(t *testing.T) {
	in := interpret.New()
	for i, obj := range shop(t) {
		defaulted, added := interpret.Default(obj)
		labelled := maps.Clone(defaulted)
		labelled["metadata"] = map[string]any{"name": "other", "labels": map[string]any{"a": "b"}}
		changed := []map[string]any{defaulted, labelled}
		for _, from := range []map[string]any{defaulted, labelled} {
			for _, n := range []int32{0, 1, 2, 7} {
				if scaled, err := in.Revise(from, n); err == nil {
					changed = append(changed, scaled)
				}
			}
		}
		for n := range byte(20) {
			c := decoded(t, asJSON(t, defaulted))
			change(c, []byte{n * 5, n, n * 7, n + 1})
			changed = append(changed, c)
		}
		for _, c := range changed {
			check := frozen(t, c)
			if d := cmp.Diff(interpret.Undefault(c, added), interpret.UndefaultOf(obj, defaulted, c, added)); d != "" {
				t.Errorf("object %d: %s", i, d)
			}
			check()
		}
	}
}

// FuzzAnyObject puts every question to whatever is JSON.
func FuzzAnyObject(f *testing.F) {
	for _, obj := range shop(f) {
		f.Add([]byte(asJSON(f, obj)), []byte(asJSON(f, obj)), []byte{1, 2, 3, 4})
	}
	f.Add([]byte(`{"apiVersion":"v1","kind":"Service","spec":{"ports":[[],{"port":{}},{"port":[1]}]}}`), []byte(`{}`), []byte{})
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":[],"spec":{"volumes":{},"containers":[{"ports":[{}]},null]}}`), []byte(`{"status":3}`), []byte{9})
	f.Fuzz(func(t *testing.T, first, second, changes []byte) {
		var obj, other map[string]any
		if utiljson.Unmarshal(first, &obj) != nil || utiljson.Unmarshal(second, &other) != nil || obj == nil {
			t.Skip()
		}
		check, checkOther := frozen(t, obj), frozen(t, other)
		ask(t, interpret.New(), obj, other)
		check()
		checkOther()
		checkLaws(t, obj, changes)
	})
}

// checkLaws holds obj, and what some changes make of it, against the laws.
func checkLaws(t *testing.T, obj map[string]any, changes []byte) {
	t.Helper()
	check := frozen(t, obj)
	defaulted, added := interpret.Default(obj)
	if again, _ := interpret.Default(defaulted); !cmp.Equal(defaulted, again) {
		t.Errorf("a defaulted object got other defaults:\n%s", cmp.Diff(defaulted, again))
	}
	if got := interpret.Undefault(defaulted, added); !cmp.Equal(obj, got) {
		t.Errorf("the defaults were not taken away:\n%s", cmp.Diff(obj, got))
	}
	check()
	changed := decoded(t, asJSON(t, defaulted))
	change(changed, changes)
	check = frozen(t, changed)
	short := interpret.Undefault(changed, added)
	check()
	want, _ := interpret.Default(changed)
	if got, _ := interpret.Default(short); !cmp.Equal(want, got) {
		t.Errorf("the short manifest means something else:\n%s", cmp.Diff(want, got))
	}
	defaults, lost := map[string]int{}, map[string]int{}
	before := leaves(t, obj)
	for path, l := range leaves(t, defaulted) {
		if before[path] != l {
			defaults[l]++
		}
	}
	for _, l := range leaves(t, changed) {
		lost[l]++
	}
	for _, l := range leaves(t, short) {
		lost[l]--
	}
	for l, n := range lost {
		if n > defaults[l] {
			t.Errorf("%d of %s were lost, though only %d are defaults", n, l, defaults[l])
		}
	}
}

// leaves lists what is below v and no map or list, as "key: value" by path.
func leaves(t *testing.T, v any) map[string]string {
	t.Helper()
	found := map[string]string{}
	var walk func(path, key string, v any)
	walk = func(path, key string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				walk(path+"/"+key, key, child)
			}
		case []any:
			for i, item := range v {
				walk(fmt.Sprintf("%s/%d", path, i), key, item)
			}
		default:
			found[path] = key + ": " + asJSON(t, v)
		}
	}
	walk("", "", v)
	return found
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	if err := utiljson.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// place is where a value of an object stands.
type place struct {
	m    map[string]any // the map, or nil
	list []any
	key  string
	i    int
}

// change makes one change for every two bytes: where, and what.
func change(obj map[string]any, script []byte) {
	for ; len(script) >= 2; script = script[2:] {
		places := placesIn(obj, nil)
		if len(places) == 0 {
			return
		}
		p := places[int(script[0])*7%len(places)]
		p.change(script[1])
	}
}

// placesIn lists every value below v but the apiVersion and kind of an object, in
// a fixed order.
func placesIn(v any, places []place) []place {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "apiVersion" || key == "kind" {
				continue
			}
			places = append(places, place{m: v, key: key})
			places = placesIn(v[key], places)
		}
	case []any:
		for i := range v {
			places = append(places, place{list: v, i: i})
			places = placesIn(v[i], places)
		}
	}
	return places
}

func (p place) change(how byte) {
	values := []any{
		nil, "", int64(0), int64(7), "x", "x:1", "latest", "RollingUpdate", "LoadBalancer", "ClientIP", false,
		map[string]any{},
		[]any{},
		map[string]any{"name": "x"},
		[]any{map[string]any{"name": "a"}, map[string]any{"name": "a"}},
	}
	n := int(how) % (len(values) + 4)
	if n < len(values) {
		p.set(values[n])
		return
	}
	switch list, _ := p.value().([]any); n - len(values) {
	case 0:
		if p.m != nil {
			delete(p.m, p.key)
		}
	case 1: // another item in front
		p.set(append([]any{map[string]any{"name": "new", "image": "new"}}, list...))
	case 2: // the other way round
		slices.Reverse(list)
	case 3: // the first item goes
		if len(list) > 0 {
			p.set(list[1:])
		}
	}
}

func (p place) value() any {
	if p.m != nil {
		return p.m[p.key]
	}
	return p.list[p.i]
}

func (p place) set(v any) {
	if p.m != nil {
		p.m[p.key] = v
	} else {
		p.list[p.i] = v
	}
}
