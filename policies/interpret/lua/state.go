package lua

import (
	"fmt"
	"maps"

	glua "github.com/yuin/gopher-lua"
)

// The sizes of a state: gopher-lua's own, which are Karmada's. The registry holds
// the local variables and intermediate values of all running functions.
const (
	callDepth    = 256
	registrySize = 256 * 20
)

// disabled are the base functions that Karmada takes away, and print.
var disabled = []string{
	"collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring", "module",
	"newproxy", "print", "_printregs", "rawequal", "rawget", "rawset", "setfenv", "setmetatable",
}

// newState returns a state with the libraries and nothing else.
func newState(m *meter, kube Kube) *glua.LState {
	l := glua.NewState(glua.Options{
		SkipOpenLibs: true, CallStackSize: callDepth, MinimizeStackMemory: true,
		RegistrySize: 256, RegistryMaxSize: registrySize, RegistryGrowStep: 256,
	})
	for _, open := range []glua.LGFunction{glua.OpenBase, glua.OpenTable, glua.OpenString, glua.OpenMath} {
		open(l)
		l.SetTop(0)
	}
	l.SetContext(m)
	for _, name := range disabled {
		l.SetGlobal(name, l.NewFunction(refuse("the function "+name+" is not available to scripts")))
	}
	l.SetGlobal("tostring", l.NewFunction(toString))
	m.charge(l, "pcall", pcallSteps)
	m.charge(l, "xpcall", pcallSteps)
	extend(l, "string", m.stringFunctions())
	extend(l, "table", m.tableFunctions())
	extend(l, "math", map[string]glua.LGFunction{
		"random":     refuse("math.random would not give the same answer twice"),
		"randomseed": refuse("math.randomseed is not available to scripts"),
	})
	l.SetGlobal("os", l.SetFuncs(l.NewTable(), osFunctions(m)))
	k := &kubeModule{host: kube, meter: m}
	modules := map[string]*glua.LTable{"kube": k.table(l)}
	for _, name := range []string{"string", "table", "math", "os"} {
		modules[name], _ = l.GetGlobal(name).(*glua.LTable)
	}
	l.SetGlobal("require", l.NewFunction(require(modules)))
	return l
}

// pcallSteps is what it costs to catch an error, which takes microseconds.
const pcallSteps = 100

// charge makes a base function cost steps.
func (m *meter) charge(l *glua.LState, name string, steps int) {
	f, ok := l.GetGlobal(name).(*glua.LFunction)
	if !ok {
		panic("lua: gopher-lua has lost its function " + name)
	}
	l.SetGlobal(name, l.NewFunction(func(l *glua.LState) int {
		m.pay(l, steps, 0)
		return f.GFunction(l)
	}))
}

// extend puts functions into a library.
func extend(l *glua.LState, library string, functions map[string]glua.LGFunction) {
	if t, ok := l.GetGlobal(library).(*glua.LTable); ok {
		l.SetFuncs(t, functions)
	}
}

// refuse makes a function that says why it does nothing.
func refuse(why string) glua.LGFunction {
	return func(l *glua.LState) int {
		l.RaiseError("%s", why)
		return 0
	}
}

// require makes the function that finds a module by its name.
func require(modules map[string]*glua.LTable) glua.LGFunction {
	return func(l *glua.LState) int {
		name := l.CheckString(1)
		module, ok := modules[name]
		if !ok {
			l.RaiseError("there is no module %s: scripts may require kube, and the libraries string, table, math and os", clipped(name))
		}
		l.Push(module)
		return 1
	}
}

// clipped quotes a text of a script for a message.
func clipped(text string) string { return fmt.Sprintf("%.40q", text) }

// intrinsics are the arguments of a script's main function, in the order in which
// Compile binds them.
func intrinsics(l *glua.LState, m *meter) []glua.LValue {
	return []glua.LValue{
		l.NewFunction(m.concat), l.NewFunction(m.set), l.NewFunction(m.table), l.NewFunction(m.key),
	}
}

// concat joins its arguments, of which each is a string or a number.
func (m *meter) concat(l *glua.LState) int {
	n := l.GetTop()
	parts, size := make([]string, n), 0
	for i := n; i >= 1; i-- { // from the right, as Lua does
		v := l.Get(i)
		if !glua.LVCanConvToString(v) {
			other := l.Get(max(i-1, 1))
			if i == 1 {
				v, other = l.Get(2), v
			}
			l.RaiseError("cannot perform concat operation between %s and %s", other.Type(), v.Type())
		}
		parts[i-1] = v.String()
		size += len(parts[i-1])
	}
	m.text(l, size)
	l.Push(glua.LString(join(parts, "", size)))
	return 1
}

// The bytes that gopher-lua allocates for a table, for a field of it and for an
// item, nearly; and the steps that a table and a field take more than others.
const (
	tableSize  = 300
	fieldSize  = 100
	itemSize   = 16
	tableSteps = 10
	fieldSteps = 10
)

// table pays for a new table with a number of fields, and returns it.
func (m *meter) table(l *glua.LState) int {
	t := l.CheckTable(2)
	m.pay(l, tableSteps, tableSize+fieldSize*l.CheckInt(1)+itemSize*t.Len())
	l.Push(t)
	return 1
}

// key pays for the items that a new table gets before one with this key.
func (m *meter) key(l *glua.LState) int {
	if n, ok := l.Get(1).(glua.LNumber); ok && isIndex(n) {
		m.pay(l, int(n)/64, itemSize*int(n))
	}
	l.SetTop(1)
	return 1
}

// isIndex reports a number that gopher-lua takes for the index of an item: it
// fills a table with nils up to there.
func isIndex(n glua.LNumber) bool {
	return n >= 1 && n < glua.LNumber(glua.MaxArrayIndex) && n == glua.LNumber(int(n))
}

// set does t[k] = v, and pays for what t has to grow.
func (m *meter) set(l *glua.LState) int {
	t, isTable := l.Get(1).(*glua.LTable)
	k, v := l.Get(2), l.Get(3)
	if isTable {
		m.grow(l, t, k, v)
	}
	l.SetTable(l.Get(1), k, v)
	return 0
}

// grow pays for t to have an item k.
func (m *meter) grow(l *glua.LState, t *glua.LTable, k, v glua.LValue) {
	n, ok := k.(glua.LNumber)
	switch {
	case !ok || !isIndex(n):
		if v != glua.LNil {
			m.pay(l, fieldSteps, fieldSize)
		}
	case n > 1 && t.RawGetInt(int(n)-1) == glua.LNil:
		if holes := int(n) - t.Len(); holes > 0 {
			m.pay(l, holes/64, 2*itemSize*holes)
		}
	default:
		m.pay(l, 0, 2*itemSize)
	}
}

// toString is tostring that does not show addresses.
func toString(l *glua.LState) int {
	l.Push(glua.LString(text(l.CheckAny(1))))
	return 1
}

// text is what a value looks like.
func text(v glua.LValue) string {
	switch v.(type) {
	case *glua.LNilType, glua.LBool, glua.LNumber, glua.LString:
		return v.String()
	default:
		return v.Type().String()
	}
}

// merged is the union of sets of functions.
func merged(sets ...map[string]glua.LGFunction) map[string]glua.LGFunction {
	all := map[string]glua.LGFunction{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}
