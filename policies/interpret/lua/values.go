package lua

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	glua "github.com/yuin/gopher-lua"
)

// values converts between decoded manifests and the tables of one state.
type values struct {
	l      *glua.LState
	meter  *meter
	weight int // what in has taken in, in steps
	read   int // values that out has read last
}

// How deep a value may nest that comes back, and how many bytes its texts may have that did
// not stand there before: whoever reads them makes several copies.
const (
	maxNesting = 500
	maxText    = 4 << 20
)

// newSteps is what a value takes that did not stand there before, and a fourth of a byte of
// its text: somebody will keep them.
const newSteps = 20

// in makes a Lua value of a decoded one. The fields of a map get the order of their
// names.
func (v *values) in(value any) (glua.LValue, error) {
	v.weight++
	switch value := value.(type) {
	case nil:
		return glua.LNil, nil
	case string:
		v.weight += len(value) / 64
		return glua.LString(value), nil
	case bool:
		return glua.LBool(value), nil
	case int64:
		return glua.LNumber(value), nil
	case float64:
		return glua.LNumber(value), nil
	case []any:
		t := v.l.CreateTable(len(value), 0)
		v.meter.origin[t] = value
		for _, item := range value {
			child, err := v.in(item)
			if err != nil {
				return nil, err
			}
			t.Append(child)
		}
		return t, nil
	case map[string]any:
		t := v.l.CreateTable(0, len(value))
		v.meter.origin[t] = value
		for _, key := range names(value) {
			child, err := v.in(value[key])
			if err != nil {
				return nil, err
			}
			if child != glua.LNil {
				t.RawSetString(key, child)
			}
		}
		return t, nil
	default:
		return nil, fmt.Errorf("a %T is no decoded value", value)
	}
}

// names are the keys of a map, in order.
func names(m map[string]any) []string {
	all := make([]string, 0, len(m))
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// results takes all that the last call has left on the stack.
func (v *values) results(function string, args []any) ([]any, error) {
	out := make([]any, v.l.GetTop())
	for i := range out {
		var like any
		if len(args) > 0 {
			like = args[min(i, len(args)-1)]
		}
		var err error
		if out[i], err = v.out(v.l.Get(i+1), like); err != nil {
			return nil, fmt.Errorf("reading what %s returned: %w", function, err)
		}
	}
	return out, nil
}

// out makes a decoded value of a Lua value, like which something stood before. An
// empty table that nothing says more of is an empty map.
func (v *values) out(value glua.LValue, like any) (any, error) {
	r := returning{values: v}
	out, err := r.value(value, like)
	v.read = r.count
	if err != nil && r.path != "" {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	if _, table := value.(*glua.LTable); table && out == nil && err == nil {
		return map[string]any{}, nil
	}
	return out, err
}

// returning is the way of one value out of Lua.
type returning struct {
	*values
	path  string // set by the first error
	depth int
	text  int // bytes of texts that are new
	count int // values
}

// value returns nil for what is to be dropped.
func (r *returning) value(value glua.LValue, like any) (any, error) {
	r.count++
	if err := r.meter.take(1, 0); err != nil {
		return nil, err
	}
	if like == nil {
		if err := r.meter.take(newSteps, 0); err != nil {
			return nil, err
		}
	}
	switch value := value.(type) {
	case *glua.LNilType:
		return nil, nil
	case glua.LBool:
		return bool(value), nil
	case glua.LNumber:
		return numeric(float64(value), like)
	case glua.LString:
		return r.string(string(value), like)
	case *glua.LTable:
		return r.table(value, like)
	default:
		return nil, fmt.Errorf("a %s is no value of a manifest", value.Type())
	}
}

// string pays for a text, unless it is the one that stood there.
func (r *returning) string(s string, like any) (any, error) {
	if was, ok := like.(string); ok && was == s {
		return s, nil
	}
	if err := r.meter.take(len(s)/4, len(s)); err != nil {
		return nil, err
	}
	if r.text += len(s); r.text > maxText {
		return nil, fmt.Errorf("it has over %d MiB of texts that were not there", maxText>>20)
	}
	if !utf8.ValidString(s) {
		return nil, errors.New("a string is not UTF-8")
	}
	return s, nil
}

// numeric chooses the Go type of a number.
func numeric(n float64, like any) (any, error) {
	switch like := like.(type) {
	case int64:
		if float64(like) == n {
			return like, nil
		}
	case float64:
		if like == n {
			return like, nil
		}
	}
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return nil, fmt.Errorf("%v is no value of a manifest", n)
	case n == math.Trunc(n) && n >= math.MinInt64 && n < math.MaxInt64:
		return int64(n), nil
	default:
		return n, nil
	}
}

func (r *returning) table(t *glua.LTable, like any) (any, error) {
	if r.depth++; r.depth > maxNesting {
		return nil, fmt.Errorf("it nests more than %d deep, or contains itself", maxNesting)
	}
	defer func() { r.depth-- }()
	if made, ok := r.meter.origin[t]; ok {
		like = made
	}
	unfold(t)
	numbers, names := 0, 0
	var odd glua.LValue
	for key := range inOrder(t) {
		switch key.(type) {
		case glua.LNumber:
			numbers++
		case glua.LString:
			names++
		default:
			odd = key
		}
	}
	switch {
	case odd != nil:
		return nil, fmt.Errorf("a %s is no name of a field", odd.Type())
	case numbers > 0 && names > 0:
		return nil, errors.New("a table has items and fields, and so is neither list nor map")
	case numbers > 0:
		return r.list(t, numbers, like)
	case names > 0:
		return r.fields(t, names, like)
	default:
		return empty(like), nil
	}
}

// empty returns what an empty table stands for.
func empty(like any) any {
	switch like.(type) {
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	default:
		return nil
	}
}

func (r *returning) list(t *glua.LTable, n int, like any) (any, error) {
	before, _ := like.([]any)
	list := make([]any, 0, n)
	for i := range n {
		item := t.RawGetInt(i + 1)
		if item == glua.LNil {
			return nil, fmt.Errorf("a list of %d items has none at %d", n, i+1)
		}
		var was any
		if i < len(before) {
			was = before[i]
		}
		v, err := r.value(item, was)
		if err != nil {
			return nil, r.at("["+strconv.Itoa(i)+"]", err)
		}
		if v != nil {
			list = append(list, v)
		}
	}
	return list, nil
}

func (r *returning) fields(t *glua.LTable, n int, like any) (any, error) {
	before, _ := like.(map[string]any)
	m := make(map[string]any, n)
	for key, value := range inOrder(t) {
		name := key.String() // table has seen that all are strings
		var was any
		if _, stood := before[name]; stood {
			was = name
		}
		if _, err := r.string(name, was); err != nil {
			return nil, fmt.Errorf("the name of a field: %w", err)
		}
		v, err := r.value(value, before[name])
		if err != nil {
			return nil, r.at("."+name, err)
		}
		if v != nil {
			m[name] = v
		}
	}
	return m, nil
}

// inOrder yields the items of a table, and then its fields in the order in which they came
// to be: the same one every time.
func inOrder(t *glua.LTable) iter.Seq2[glua.LValue, glua.LValue] {
	return func(yield func(key, value glua.LValue) bool) {
		key, value := t.Next(glua.LNil)
		for key != glua.LNil && yield(key, value) {
			key, value = t.Next(key)
		}
	}
}

// at puts a step before the path of an error.
func (r *returning) at(step string, err error) error {
	r.path = step + r.path
	return err
}
