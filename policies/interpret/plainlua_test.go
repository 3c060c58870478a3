package interpret_test

import (
	glua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// stubs are the host of the kube module for scripts that are compared with what plain Lua makes
// of them: both are told the same.
var stubs = lua.Kube{
	Requirements: func(template map[string]any) (map[string]any, error) {
		return map[string]any{"resourceRequest": map[string]any{"cpu": "1"}, "of": template["spec"]}, nil
	},
	Dependencies: func(template map[string]any, namespace string) ([]any, error) {
		return []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "namespace": namespace, "name": "s", "of": template["spec"]}}, nil
	},
}

// plainLua calls a function of a script in gopher-lua as it is.
func plainLua(script, function string, args []any) ([]any, error) {
	l := glua.NewState()
	defer l.Close()
	l.PreloadModule("kube", func(l *glua.LState) int {
		l.Push(l.SetFuncs(l.NewTable(), map[string]glua.LGFunction{
			"accuratePodRequirements": func(l *glua.LState) int {
				template, _ := fromLua(l.Get(1)).(map[string]any)
				needs, _ := stubs.Requirements(template)
				l.Push(toLua(l, needs))
				return 1
			},
			"getPodDependencies": func(l *glua.LState) int {
				template, _ := fromLua(l.Get(1)).(map[string]any)
				all, _ := stubs.Dependencies(template, l.OptString(2, "default"))
				l.Push(toLua(l, all))
				return 1
			},
			"getResourceQuantity": func(l *glua.LState) int {
				q := resource.MustParse(l.ToString(1))
				l.Push(glua.LNumber(q.AsApproximateFloat64()))
				return 1
			},
			"resourceAdd": func(l *glua.LState) int {
				var sum resource.Quantity
				for i := range l.GetTop() {
					if text := l.ToString(i + 1); text != "" {
						sum.Add(resource.MustParse(text))
					}
				}
				l.Push(glua.LString(sum.String()))
				return 1
			},
		}))
		return 1
	})
	if err := l.DoString(script); err != nil {
		return nil, err
	}
	if os, ok := l.GetGlobal("os").(*glua.LTable); ok {
		os.RawSetString("date", l.NewFunction(func(*glua.LState) int { return 0 })) // the time is no answer
	}
	l.SetTop(0)
	given := make([]glua.LValue, len(args))
	for i, arg := range args {
		given[i] = toLua(l, arg)
	}
	if err := l.CallByParam(glua.P{Fn: l.GetGlobal(function), NRet: glua.MultRet, Protect: true}, given...); err != nil {
		return nil, err
	}
	var results []any
	for i := range l.GetTop() {
		results = append(results, fromLua(l.Get(i+1)))
	}
	return results, nil
}

// toLua gives a decoded value to plain Lua, as Karmada and Argo CD do.
func toLua(l *glua.LState, v any) glua.LValue {
	switch v := v.(type) {
	case bool:
		return glua.LBool(v)
	case string:
		return glua.LString(v)
	case int64:
		return glua.LNumber(v)
	case float64:
		return glua.LNumber(v)
	case []any:
		t := l.NewTable()
		for _, item := range v {
			t.Append(toLua(l, item))
		}
		return t
	case map[string]any:
		t := l.NewTable()
		for key, item := range v {
			t.RawSetString(key, toLua(l, item))
		}
		return t
	}
	return glua.LNil
}

// fromLua is a value of plain Lua, decoded.
func fromLua(v glua.LValue) any {
	switch v := v.(type) {
	case glua.LBool:
		return bool(v)
	case glua.LString:
		return string(v)
	case glua.LNumber:
		return float64(v)
	case *glua.LTable:
		if n := v.Len(); n > 0 {
			list := make([]any, n)
			for i := range n {
				list[i] = fromLua(v.RawGetInt(i + 1))
			}
			return list
		}
		m := map[string]any{}
		v.ForEach(func(key, item glua.LValue) { m[key.String()] = fromLua(item) })
		return m
	}
	return nil
}

// lean is a value without what Lua cannot tell apart: whole numbers, empty tables and nothing.
func lean(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			if item = lean(item); item != nil {
				list = append(list, item)
			}
		}
		if len(list) == 0 {
			return nil
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for key, item := range v {
			if item = lean(item); item != nil {
				m[key] = item
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	}
	return v
}

// whole is a decoded value with int64 for the numbers that are whole, as clients read them.
func whole(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for key, item := range v {
			v[key] = whole(item)
		}
	}
	return v
}
