package lua_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

const (
	overSteps  = "the script takes over 3000000 steps"
	overMemory = "the script takes over 64 MiB of memory"
)

// TestBombsAreDefused: each of these would take forever, or all memory, somewhere.
// None may end by the clock: that would not be the same everywhere.
func TestBombsAreDefused(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a loop", "while true do end", overSteps},
		{"a loop that catches its end", "while true do pcall(function() while true do end end) end", overSteps},
		{"a loop of failing calls", "while true do pcall(error) end", overSteps},
		{"an error handler that loops", "xpcall(function() error('x') end, function() while true do end end) while true do end", overSteps},
		{"recursion", "local function f() return 1 + f() end f()", "stack overflow"},
		{"recursion through pcall", "local function f() local ok, err = pcall(f) error(err, 0) end f()", "stack overflow"},
		{"recursion through sort", "local function f() table.sort({2, 1}, f) end f()", "stack overflow"},
		{"recursion through gsub", "local function f() return (('a'):gsub('a', f)) end f()", "stack overflow"},
		{"endless tail calls", "local function f() return f() end f()", overSteps},
		{"string.rep", "return ('x'):rep(1e10)", overMemory},
		{"string.rep of a long string", "local s = ('x'):rep(1e6) return s:rep(2 ^ 40)", overMemory},
		{"doubling", "local s = 'x' while true do s = s .. s end", overMemory},
		{"doubling in a chain", "local s = ('x'):rep(1e6) return s" + strings.Repeat(" .. s", 68), overMemory},
		{"growing", "local s = '' while true do s = s .. 'xxxxxxxxxxxxxxxx' end", overMemory},
		{"table.concat", "local t, s = {}, ('x'):rep(1e6) for i = 1, 100 do t[i] = s end return table.concat(t)", overMemory},
		{"the separator of table.concat", "local t, s = {}, ('x'):rep(1e6) for i = 1, 100 do t[i] = '' end return table.concat(t, s)", overMemory},
		{"gsub", "return (('x'):rep(1e4):gsub('x', ('y'):rep(1e5)))", overMemory},
		{"gsub with the whole match", "return (('x'):rep(1e6):gsub('^.*$', ('%0'):rep(100)))", overMemory},
		{"gsub by a function", "return (('x'):rep(1e4):gsub('x', function() return ('y'):rep(1e5) end))", overMemory},
		{"a format with a width", "return ('%9999999d'):format(1)", "does not begin with a directive"},
		{"a format of a long string", "local s = ('x'):rep(1e6) return (('%s'):rep(70)):format(unpack((function() local t = {} for i = 1, 70 do t[i] = s end return t end)()))", overMemory},
		{"upper", "local s = ('x'):rep(1e6) while true do s = s:upper() end", overSteps},
		{"a pattern that backtracks", "return (('a'):rep(1e3)):find(('a-'):rep(30) .. 'b')", overSteps},
		{"a pattern that backtracks in a balance", "return (('('):rep(1e4)):gsub('%b()', '')", overSteps},
		{"a pattern with many captures", "return ('a'):find(('()'):rep(40))", "the pattern has a ( or ) too many"},
		{"a deep pattern", "return ('a'):find(('a?'):rep(30000))", "the pattern needs too many nested steps"},
		{"searches for text", "local s = ('x'):rep(1e6) while true do s:find('y', 1, true) end", overSteps},
		{"a list with a hole", "local t = {} t[67108863] = 1", overMemory},
		{"a list with a hole, by two", "local t, i = {}, 67108863 t[i], t.x = 1, 2", overMemory},
		{"a list with a hole, by a constructor", "return {[67108863] = 1}", overMemory},
		{"a list with a hole, by table.insert", "table.insert({}, 67108863, 1)", "the position 67108863 is outside the list of 0 items"},
		{"lists with holes", "local all = {} while true do local t = {} t[10000] = 1 all[#all + 1] = t end", overMemory},
		{"tables", "local t while true do t = {t} end", overMemory},
		{"tables with fields", "local t = {} while true do t[{}] = {a = 1, b = 2, c = 3} end", overSteps},
		{"a list that grows", "local t = {} while true do t[#t + 1] = 1 end", overSteps},
		{"a table that grows", "local t, i = {}, 0 while true do i = i - 1 t[i] = 1 end", overSteps},
		{"sorting again and again", "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t) end", overSteps},
		{"a comparison that lies", "local t = {} for i = 1, 1e4 do t[i] = i end while true do table.sort(t, function() return true end) end", overSteps},
		{"removing at the front", "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, table.remove(t, 1)) end", overSteps},
		{"unpacking too much", "local t = {} for i = 1, 1e5 do t[i] = i end return unpack(t)", "registry overflow"},
		{"bytes of a long string", "return ('x'):rep(1e6):byte(1, -1)", "registry overflow"},
		{"a result that shares", "local t = {1} for i = 1, 60 do t = {t, t} end return t", overSteps},
		{"a result that contains itself", "local t = {} t.t = t return t", "it nests more than 500 deep, or contains itself"},
		{"adding without end", "local k = require('kube') while true do k.resourceAdd('1', '2') end", overSteps},
		{"a quantity without end", "return require('kube').resourceAdd('1e2147483647')", "the quantity \"1e2147483647\" is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := run(t, "function F() "+tt.body+" end")
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 600 {
				t.Errorf("it allocated %d MiB", mib)
			}
			t.Log(time.Since(start), (after.TotalAlloc-before.TotalAlloc)>>20, "MiB")
		})
	}
}

// TestTheMainFunctionHasABudgetToo: a script runs before its function is called.
func TestTheMainFunctionHasABudgetToo(t *testing.T) {
	if _, err := run(t, "while true do end function F() end"); err == nil || err.Error() != "line 1: "+overSteps {
		t.Error(err)
	}
}

// TestAScriptTakesLittleRoom: the compiler makes some 18 KB of room for a function.
func TestAScriptTakesLittleRoom(t *testing.T) {
	source := strings.Repeat("function f()end ", 4000)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what has a finalizer, or lay in a pool, is gone after the second
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s, err := lua.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	if kib := (heap() - before) >> 10; kib > 8<<10 {
		t.Errorf("a script of %d KiB takes %d KiB", len(source)>>10, kib)
	}
	runtime.KeepAlive(s)
}

func TestScriptsCannotLeave(t *testing.T) {
	for _, expression := range []string{
		`os.exit()`, `os.execute("true")`, `os.getenv("HOME")`, `os.remove("x")`, `os.rename("x", "y")`, `os.setenv("x", "y")`, `os.tmpname()`,
		`os.time()`, `os.clock()`, `os.date()`, `os.date("%c")`, `math.random()`, `math.randomseed(1)`,
		`io.open("/etc/passwd")`, `io.write("x")`, `debug.getinfo(1)`, `coroutine.create(tostring)`, `channel.make()`,
		`require("io")`, `require("os.exit")`, `require("../kube")`, `require("debug")`, `require("package")`, `package.loadlib("x", "y")`, `package.path`,
		`load(function() end)`, `loadstring("return 1")`, `loadfile("/etc/passwd")`, `dofile("/etc/passwd")`,
		`setmetatable({}, {})`, `getmetatable("")`, `rawset({}, 1, 1)`, `rawget({}, 1)`, `rawequal(1, 1)`,
		`collectgarbage()`, `module("x")`, `newproxy()`, `getfenv()`, `setfenv(1, {})`, `print("x")`, `_printregs()`, `string.dump(tostring)`,
		`("").dump(tostring)`, `require("string").rep("x", 1e10)`,
	} {
		if out, err := run(t, "function F() return "+expression+" end"); err == nil {
			t.Errorf("%s gives %v", expression, out)
		} else if !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v has no line", expression, err)
		}
	}
}

// TestGlobalsAreKnown holds the list of all that a script finds: whatever gopher-lua
// adds has to be looked at first.
func TestGlobalsAreKnown(t *testing.T) {
	got := eval(t, `(function()
		local names = {}
		for name, v in pairs(_G) do
			names[#names + 1] = name
			if type(v) == "table" and v ~= _G then for f in pairs(v) do names[#names + 1] = name .. "." .. f end -- fields
			end -- libraries
		end
		table.sort(names)
		return table.concat(names, " ")
	end)()`)
	want := "F _G _GOPHER_LUA_VERSION _VERSION _printregs assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile loadstring " +
		"math math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor math.fmod math.frexp math.huge math.ldexp math.log math.log10 math.max math.min math.mod math.modf math.pi math.pow math.rad math.random math.randomseed math.sin math.sinh math.sqrt math.tan math.tanh " +
		"module newproxy next os os.clock os.date os.difftime os.time pairs pcall print rawequal rawget rawset require select setfenv setmetatable " +
		"string string.__index string.byte string.char string.dump string.find string.format string.gfind string.gmatch string.gsub string.len string.lower string.match string.rep string.reverse string.sub string.upper " +
		"table table.concat table.getn table.insert table.maxn table.remove table.sort tonumber tostring type unpack xpcall"
	if got != want {
		t.Errorf("scripts find\n%v\nwant\n%s", got, want)
	}
}

// TestCallsAreAlone: what one call does to its state, libraries included, is gone.
func TestCallsAreAlone(t *testing.T) {
	s, err := lua.Compile("n = (n or 0) + 1 string.x = (string.x or 0) + 1 function F() n = n + 1 return n .. string.x end")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out, err := s.Call(lua.Kube{}, "F"); err != nil || out[0] != "21" {
			t.Errorf("%v, %v", out, err)
		}
	}
}

// TestLibrariesAreTables: what a script does to its globals and libraries, it finds done.
func TestLibrariesAreTables(t *testing.T) {
	for body, want := range map[string]any{
		"error = nil return tostring(error)":                                               "nil",
		"error = 'x' error = nil return tostring(error)":                                   "nil",
		"string.upper = nil return tostring(string.upper) .. tostring(('').upper)":         "nilnil",
		"function string.first(s) return s:sub(1, 1) end return ('ab'):first()":            "a",
		"string.upper = string.lower return ('A'):upper() .. require('string').upper('A')": "aa",
		"_G.x = 1 return x":                 int64(1),
		"x = 1 return _G._G.x":              int64(1),
		"local f = _G.tostring return f(1)": "1",
		"return tostring(pcall(function() _G[nil] = 1 end)) .. tostring(pcall(function() string[0/0] = 1 end))": "falsefalse",
	} {
		if out, err := run(t, "function F() "+body+" end"); err != nil || out[0] != want {
			t.Errorf("%s: %v, %v; want %v", body, out, err, want)
		}
	}
}

// TestNothingIsPoisoned: whatever a script does to what it is given, the next one finds all as it was.
func TestNothingIsPoisoned(t *testing.T) {
	const probe = `function F()
		local s = require("string")
		local own = ""
		for name in pairs(_G) do own = own .. name .. " " end
		for _, library in ipairs({"string", "table", "math", "os", "kube"}) do
			for name in pairs(require(library)) do own = own .. library .. "." .. name .. " " end;
		end
		return table.concat({
			string.format("%d", 7), s.upper("a"), ("b"):upper(), ("%d"):format(8), tostring(1), type(""), #table, #string, #_G,
			math.floor(1.5), os.time({year = 1970, month = 1, day = 1, hour = 0}), require("kube").resourceAdd("1", "2"),
			own, tostring(x), tostring(("").x), tostring(next({})), select("#", unpack({1, 2})), tostring(pcall(type, 1)),
			tostring(_G == _G._G), tostring(string == require("string")), tostring(("").__index == string),
		}, "|")
	end`
	clean, err := run(t, probe)
	if err != nil || !strings.HasPrefix(clean[0].(string), "7|A|B|8|1|string|0|0|0|1|0|3|F _G ") {
		t.Fatal(clean, err)
	}
	for _, poison := range []string{
		"string.format = function() return 'poison' end string.upper = string.lower",
		"function string.upper() return 'poison' end function table.concat() return 'poison' end function string.x() end",
		"for name in pairs(string) do string[name] = nil end string.format, string.upper, table.concat = nil",
		"local s = ('').__index s.upper, s.x = string.lower, 1 s = '' s.__index = nil",
		"string.__index = nil string.__add = function() return 1 end string.__call = type",
		"string.__index = {upper = string.lower}",
		"_G.string = nil _G.table = {concat = function() return 'poison' end} _G._G = nil string = nil",
		"_G.x = 1 x = 2 _G[1] = 1 _G[F] = 1 F = nil",
		"tostring = nil type = function() return 'poison' end pairs, ipairs, next, select, unpack, pcall = nil",
		"require = nil require('kube').resourceAdd = nil",
		"require('kube').resourceAdd = function() return 'poison' end require('kube').x = 1",
		"require('string').upper = nil require('table').concat = nil require('math').floor = nil require('os').time = nil",
		"table.insert(string, 'x') table.insert(_G, 'x') table.insert(table, 1, 'x') table.sort(string)",
		"for i = 1, 1000 do string['k' .. i] = i string['k' .. i] = nil _G['k' .. i] = i end",
		"math.floor = math.ceil os.time = nil math.huge = 0",
		"pcall(setmetatable, string, {}) pcall(setmetatable, _G, {__index = type})",
		"xpcall(function() string.upper = nil error('x') end, function() string.format = nil end)",
		"string.upper = nil error('x')",
		"string.upper = nil while true do end",
		"string.upper = nil return ('x'):rep(1e9)",
		"local function f() string.upper = nil return 1 + f() end f()",
		"local k = 1 function F() k = k + 1 end pcall(function() local k = 2 f = function() return k end error(f) end)",
	} {
		s, err := lua.Compile("function F() " + poison + " end")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Call(lua.Kube{}, "F")
		top, err := lua.Compile(poison)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = top.Run(lua.Kube{}, "obj", map[string]any{"a": "b"})
		out, err := run(t, probe)
		if err != nil || out[0] != clean[0] {
			t.Errorf("after %s: %v, %v; before it, %v", poison, out, err, clean)
		}
		if obj, err := run(t, "function F() return tostring(obj) .. tostring(k1) end"); err != nil || obj[0] != "nilnil" {
			t.Errorf("after %s: %v, %v", poison, obj, err)
		}
	}
}

// TestTheFirstMistakeIsTheSameEveryTime: a map of Go has another order each time.
func TestTheFirstMistakeIsTheSameEveryTime(t *testing.T) {
	for _, body := range []string{
		"return {z = type, a = type, m = {b = type, c = type}, x = 0/0, y = '\\255'}",
		"return {[true] = 1, [type] = 2, [{}] = 3}",
		"local t = {} for i = 1, 2000 do t['k' .. i] = ('x'):rep(3000) end return t",
	} {
		_, first := run(t, "function F() "+body+" end")
		for range 20 {
			if _, err := run(t, "function F() "+body+" end"); first == nil || err.Error() != first.Error() {
				t.Fatalf("%v, then %v", first, err)
			}
		}
	}
}

// TestTheBudgetIsTheSameEveryTime: how far a script gets does not depend on time.
func TestTheBudgetIsTheSameEveryTime(t *testing.T) {
	last := func() string {
		_, err := run(t, `function F()
			local n = 0
			while true do n = n + 1 _, e = pcall(function() if n % 1000 == 0 then error(tostring(n)) end end); end;
		end`)
		return err.Error()
	}
	if a, b := last(), last(); a != b {
		t.Errorf("%s, then %s", a, b)
	}
	count := func(n string) error {
		_, err := run(t, "function F() for i = 1, "+n+" do end; end")
		return err
	}
	if err := count("2999900"); err != nil {
		t.Error(err)
	}
	if err := count("3000000"); err == nil {
		t.Error("3,000,000 iterations are within 3,000,000 steps")
	}
}
