package lua

import (
	"maps"
	"slices"

	glua "github.com/yuin/gopher-lua"
)

// A machine is a state with all that scripts are given. To make one takes twenty times as long as
// to call a small script, so calls use one after another.
//
// Nothing passes from one call to the next, because a call reaches nothing that is older than
// itself and can be changed. Its global variables, and the tables of the libraries, are empty tables
// that are made for the call: what they lack is looked up in tables that no script can name, until
// something that is there is replaced or all of it is asked for, and then all of it is copied. So
// whatever is written into string, table or _G, or is taken out of them, is gone with the call. No
// script has setmetatable, rawset or setfenv, which alone could reach what is behind.
//
// A machine in which an error was raised, caught or not, or a limit was met, is thrown away.
type machine struct {
	l     *glua.LState
	meter *meter
	kube  *kubeModule

	base      *glua.LTable            // metatable of the global variables
	libraries map[string]*glua.LTable // metatables of the libraries, by their names
	modules   map[string]*glua.LTable // the libraries of the call under way
	text      *glua.LTable            // metatable of strings
	bindings  []glua.LValue           // arguments of a script's main function, in the order of intrinsics

	globals *glua.LTable // of the call under way
}

// The libraries: all can be required, and all but kube are global variables.
const (
	kubeLibrary   = "kube"
	stringLibrary = "string"
)

var libraries = []string{stringLibrary, "table", "math", "os"}

// idle are the machines that no call uses, of which some are kept; one takes up to 150 KB.
var idle = make(chan *machine, 16)

// prepared returns a machine for a call.
func prepared(s *Script, g grant, kube Kube) (m *machine) {
	select {
	case m = <-idle:
	default:
		m = newMachine()
	}
	m.meter.begin(s, g)
	m.kube.host = kube
	m.globals = standing(m.l, m.base)
	m.l.SetGlobal("_G", m.globals)
	for name, library := range m.libraries {
		m.modules[name] = standing(m.l, library)
	}
	for _, name := range libraries {
		m.l.SetGlobal(name, m.modules[name])
	}
	m.text.RawSetString("__index", m.modules[stringLibrary])
	return m
}

// done takes a machine back after a call, and returns the steps that the call took. What a call that
// failed left behind is not looked for.
func (m *machine) done(g grant, err error) (used int) {
	if used = g.steps; m.meter.why == nil {
		used -= m.meter.steps
	}
	if err != nil || m.meter.why != nil || m.meter.caught {
		m.l.Close()
		return used
	}
	m.l.SetTop(0)
	m.globals, m.kube.host = nil, Kube{}
	m.meter.begin(&Script{}, grant{})
	select {
	case idle <- m:
	default:
		m.l.Close()
	}
	return used
}

// run runs a script itself.
func (m *machine) run(s *Script, results int) error {
	f := m.l.NewFunctionFromProto(s.proto)
	f.Env = m.globals
	return call(m.l, f, results, m.bindings)
}

// standing returns an empty table that stands for another, as its metatable says.
func standing(l *glua.LState, metatable *glua.LTable) *glua.LTable {
	t := l.CreateTable(0, 0)
	t.Metatable = metatable
	return t
}

// newMachine returns a machine with the libraries and nothing else.
func newMachine() *machine {
	m := &meter{}
	l := bareState()
	l.SetContext(m)
	m.state = l
	k := &kubeModule{meter: m}
	out := &machine{l: l, meter: m, kube: k, libraries: map[string]*glua.LTable{}, modules: map[string]*glua.LTable{}}
	for library, functions := range priced() {
		t, _ := l.GetGlobal(library).(*glua.LTable)
		for name, function := range functions {
			if f, ok := t.RawGetString(name).(*glua.LFunction); ok {
				f.GFunction = function
			}
		}
	}
	for _, name := range disabled {
		l.SetGlobal(name, l.NewFunction(refuse("the function "+name+" is not available to scripts")))
	}
	l.SetGlobal("tostring", l.NewFunction(toString))
	l.SetGlobal("pairs", l.NewFunction(pairs))
	l.SetGlobal("next", l.NewFunction(unfolding(priced()["_G"]["next"])))
	extend(l, stringLibrary, m.stringFunctions())
	extend(l, "table", m.tableFunctions())
	extend(l, "math", map[string]glua.LGFunction{
		"random":     refuse("math.random would not give the same answer twice"),
		"randomseed": refuse("math.randomseed is not available to scripts"),
	})
	l.SetGlobal("os", l.SetFuncs(l.NewTable(), osFunctions(m)))
	for _, name := range libraries {
		out.libraries[name] = index(l, l.GetGlobal(name))
	}
	out.libraries[kubeLibrary] = index(l, k.table(l))
	l.SetGlobal("require", l.NewFunction(out.require))
	out.base = index(l, l.Get(glua.GlobalsIndex))
	out.text, _ = l.GetMetatable(glua.LString("")).(*glua.LTable)
	for _, f := range []glua.LGFunction{m.concat, m.set, m.table, m.key, m.read, m.closure} {
		out.bindings = append(out.bindings, l.NewFunction(f))
	}
	return out
}

// index returns the metatable of tables that are empty and stand for t.
func index(l *glua.LState, t glua.LValue) *glua.LTable {
	m := l.NewTable()
	m.RawSetString("__index", t)
	m.RawSetString("__newindex", l.NewFunction(func(l *glua.LState) int {
		front := l.CheckTable(1)
		if behind, ok := t.(*glua.LTable); ok && behind.RawGet(l.Get(2)) != glua.LNil {
			unfold(front)
		}
		l.RawSet(front, l.Get(2), l.Get(3))
		return 0
	}))
	return m
}

// unfold gives an empty table all of what it stands for, in the order of the names. No other table
// has a metatable.
func unfold(front *glua.LTable) {
	m, ok := front.Metatable.(*glua.LTable)
	if !ok {
		return
	}
	front.Metatable = glua.LNil
	behind, ok := m.RawGetString("__index").(*glua.LTable)
	if !ok {
		panic("lua: a table stands for nothing")
	}
	all := map[string]glua.LValue{}
	behind.ForEach(func(name, v glua.LValue) { all[name.String()] = v })
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if front.RawGetString(name) == glua.LNil {
			front.RawSetString(name, all[name])
		}
	}
}

// unfolding makes next see all that a table stands for.
func unfolding(next glua.LGFunction) glua.LGFunction {
	return func(l *glua.LState) int {
		unfold(l.CheckTable(1))
		return next(l)
	}
}

// require finds a library by its name.
func (m *machine) require(l *glua.LState) int {
	name := l.CheckString(1)
	module, ok := m.modules[name]
	if !ok {
		l.RaiseError("there is no module %s: scripts may require kube, and the libraries string, table, math and os", clipped(name))
	}
	l.Push(module)
	return 1
}
