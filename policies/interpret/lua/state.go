package lua

import (
	"fmt"
	"maps"
	"sort"
	"sync"

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

// pcallSteps is what it costs to catch an error, which takes microseconds.
const pcallSteps = 100

// bareState returns a state with the libraries as gopher-lua has them.
func bareState() *glua.LState {
	l := glua.NewState(glua.Options{
		SkipOpenLibs: true, CallStackSize: callDepth, MinimizeStackMemory: true,
		RegistrySize: 256, RegistryMaxSize: registrySize, RegistryGrowStep: 256,
	})
	for _, open := range []glua.LGFunction{glua.OpenBase, glua.OpenTable, glua.OpenString, glua.OpenMath} {
		open(l)
		l.SetTop(0)
	}
	return l
}

// priced are the functions of the libraries, which pay for their arguments before they look
// at them.
var priced = sync.OnceValue(func() map[string]map[string]glua.LGFunction {
	l := bareState()
	defer l.Close()
	all := map[string]map[string]glua.LGFunction{}
	for _, library := range []string{"_G", "math", "string", "table"} {
		t, ok := l.GetGlobal(library).(*glua.LTable)
		if !ok {
			panic("lua: gopher-lua has lost its library " + library)
		}
		all[library] = map[string]glua.LGFunction{}
		for name, v := range inOrder(t) {
			if f, ok := v.(*glua.LFunction); ok {
				all[library][name.String()] = pricing(f.GFunction)
			}
		}
	}
	for _, name := range []string{"pcall", "xpcall"} {
		all["_G"][name] = catching(all["_G"][name])
	}
	return all
})

// meterOf returns the meter of a state.
func meterOf(l *glua.LState) *meter {
	m, ok := l.Context().(*meter)
	if !ok {
		panic("lua: a state has lost its meter")
	}
	return m
}

// pricing makes a function pay for its arguments, and for more results than a few.
func pricing(f glua.LGFunction) glua.LGFunction {
	return func(l *glua.LState) int {
		m, all := meterOf(l), 0
		for i := range l.GetTop() {
			all += m.length(l.Get(i + 1))
		}
		if all > 0 {
			m.pay(l, all, 0)
		}
		n := f(l)
		if more := moving(n); more > 0 {
			m.pay(l, more, 0)
		}
		return n
	}
}

// catching makes pcall pay for an error, which is told by all functions that are under way. What
// an error leaves behind in a state is not looked for: no other call gets one where one was raised.
func catching(f glua.LGFunction) glua.LGFunction {
	return func(l *glua.LState) int {
		m := meterOf(l)
		m.pay(l, pcallSteps+depth(l)*pcallSteps/2, 0)
		n := f(l)
		if !glua.LVAsBool(l.Get(-n)) {
			m.caught = true
		}
		return n
	}
}

// depth is how many functions are under way.
func depth(l *glua.LState) int {
	return sort.Search(callDepth, func(level int) bool { _, under := l.GetStack(level); return !under })
}

// pairs is pairs by way of next, which pays.
func pairs(l *glua.LState) int {
	t := l.CheckTable(1)
	l.Push(l.GetGlobal("next"))
	l.Push(t)
	l.Push(glua.LNil)
	return 3
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

// clipped quotes a text of a script for a message.
func clipped(text string) string { return fmt.Sprintf("%.40q", text) }

// length is how many steps it takes to go over a value: the bytes of a text, the places of a
// table where nothing is any more. Long texts are dearer, for they may be read as numbers.
func (m *meter) length(v glua.LValue) int {
	n := 0
	switch v := v.(type) {
	case glua.LString:
		n = len(v)
	case *glua.LTable:
		n = m.holes[v]
	}
	if n < 1000 {
		return n / 64
	}
	return n / 8
}

// moving is how many steps it takes to move more values than a few.
func moving(values int) int { return max(0, values-64) / 4 }

// read pays for going over a value, and returns it.
func (m *meter) read(l *glua.LState) int {
	if n := m.length(l.Get(1)); n > 0 {
		m.pay(l, n, 0)
	}
	l.SetTop(1)
	return 1
}

// closure pays for making functions. Each variable that one shares with those around it is
// looked for among all that are shared, in all functions that are under way.
func (m *meter) closure(l *glua.LState) int {
	d := depth(l)
	m.pay(l, l.CheckInt(1)*(1+m.shared.most*min(d*m.shared.all, registrySize)/32)+d/4, 0)
	return 0
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
	t, fields := l.CheckTable(2), l.CheckInt(1)
	items := t.Len()
	if fields >= openEnded { // or less, but nobody knows
		m.holes[t] = openEnded
		fields -= openEnded
	}
	m.holes[t] += max(0, fields-items)
	m.pay(l, tableSteps+m.length(t), tableSize+fieldSize*fields+itemSize*items)
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

// grow pays for t to have an item k, and notes what it has no more.
func (m *meter) grow(l *glua.LState, t *glua.LTable, k, v glua.LValue) {
	n, ok := k.(glua.LNumber)
	item := ok && isIndex(n)
	switch {
	case v == glua.LNil:
		if m.pay(l, 1, 0); t.RawGet(k) != glua.LNil {
			m.holes[t]++
		}
	case !item && t.RawGet(k) != glua.LNil:
		m.pay(l, 1, 0)
	case !item:
		m.pay(l, fieldSteps, fieldSize)
	case n > 1 && t.RawGetInt(int(n)-1) == glua.LNil:
		m.pay(l, m.length(t), 0)
		if holes := int(n) - t.Len(); holes > 0 {
			m.pay(l, holes/64, 2*itemSize*holes)
			m.holes[t] += holes
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
