package lua_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mostTimes is how many times as long as an empty loop a loop of as many steps may take: of those that
// are known none takes ten.
const mostTimes = 40

// TestEveryStepIsAStep: no instruction takes so much longer than others that a budget of
// steps would be none of time, and there is no clock behind
// it. Each of these did, by tens to millions of times.
func TestEveryStepIsAStep(t *testing.T) {
	const long = "local a = ('x'):rep(1e6) local b = a .. 'y' local c = a .. 'y' "
	cpu := func(body string) (time.Duration, error) {
		start := usage(t)
		_, err := run(t, "function F() "+body+" end")
		return usage(t) - start, err
	}
	plain, err := cpu("while true do end")
	if err == nil {
		t.Fatal("an endless loop ends")
	}
	for _, tt := range []struct{ name, body string }{
		{"comparing long texts", long + "while true do local d = b < c end"},
		{"comparing long texts that are equal", long + "while true do local d = b == c end"},
		{"comparing with a long literal", "local a, b = ('x'):rep(6e4), ('x'):rep(6e4) while true do local d = a == '" + strings.Repeat("x", 60_000) + "' end"},
		{"a long text as a key", long + "local t = {} t[b] = 1 while true do local d = t[c] end"},
		{"a long literal as a key", "local t = {} while true do local d = t['" + strings.Repeat("x", 60_000) + "'] end"},
		{"a long text as a key that is set", long + "local t = {} while true do t[b] = 1 t[c] = nil end"},
		{"a long text as a number", "local a = ('1'):rep(1e6) while true do local d = pcall(function() return a + 1 end) end"},
		{"a long text as a number, negative", "local a = ('1'):rep(1e6) while true do local d = pcall(function() return -a end) end"},
		{"a long text as the bound of a loop", "local a = ('1'):rep(1e6) while true do pcall(function() for i = 1, a do return end; end) end"},
		{"tonumber", "local a = ('1'):rep(1e6) while true do tonumber(a) end"},
		{"os.time", "local a = ('1'):rep(1e6) local t = {year = a, month = a, day = a} while true do pcall(os.time, t) end"},
		{"math.floor", "local a = ('1'):rep(1e6) while true do pcall(math.floor, a) end"},
		{"an error with a long text", "local a = ('x'):rep(1e6) while true do pcall(error, a) end"},
		{"an assertion with a long text", "local a = ('x'):rep(1e6) while true do pcall(assert, false, a) end"},
		{"sorting long texts", "local a, t = ('x'):rep(1e6), {} for i = 1, 30 do t[i] = a .. i end while true do table.sort(t) end"},
		{"the length of a list that was emptied", "local t = {} for i = 1, 200000 do t[i] = 1 end for i = 1, 200000 do t[i] = nil end while true do local d = #t end"},
		{"the length of a list of nothing", "local t = {unpack({}, 1, 4000)} while true do local d = #t end"},
		{"inserting into a list that was emptied", "local t = {} for i = 1, 200000 do t[i] = 1 end for i = 1, 200000 do t[i] = nil end while true do table.insert(t, nil) end"},
		{"the first of a table that was emptied", "local t = {} for i = 1, 50000 do t['k' .. i] = 1 end for i = 1, 50000 do t['k' .. i] = nil end while true do next(t) end"},
		{"going through a table that was emptied", "local t = {} for i = 1, 50000 do t['k' .. i] = 1 end for i = 1, 50000 do t['k' .. i] = nil end while true do for k in pairs(t) do end; end"},
		{"fields that were emptied by name", fields(3000) + " while true do next(t) end"},
		{"many arguments", "local function f(...) while true do g(...) end; end function g() end f(unpack({}, 1, 2000))"},
		{"many results", "local function f(...) return ... end local function g(...) while true do f(...) end; end g(unpack({}, 1, 800))"},
		{"closures over many variables", closures(58)},
		{"failing deep down", "local function f(d) if d > 0 then return (f(d - 1)) end while true do pcall(error) end; end f(180)"},
		{"making functions deep down", "local function f(d) if d > 0 then return (f(d - 1)) end while true do local g = (function() end) end; end f(200)"},
		{"unpacking", "local t = {} for i = 1, 4000 do t[i] = i end while true do (function(...) end)(unpack(t)) end"},
		{"select", "local function f(...) while true do select('#', ...) end; end f(unpack({}, 1, 2000))"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			took, err := cpu(tt.body)
			if err == nil || !strings.Contains(err.Error(), overSteps) && !strings.Contains(err.Error(), overMemory) {
				t.Errorf("%v, want %s", err, overSteps)
			}
			if times := float64(took) / float64(plain); times > mostTimes {
				t.Errorf("it takes %.1f times as long as an empty loop", times)
			}
		})
	}
}

// fields makes a table of which so many fields were set by name, and taken away.
func fields(n int) string {
	var b strings.Builder
	b.WriteString("local t = {} ")
	for _, v := range []string{"1", "z"} {
		for i := range n {
			b.WriteString("t.k" + strings.Repeat("k", i%3) + string(rune('a'+i/3%26)) + string(rune('a'+i/78%26)) + string(rune('a'+i/2028)) + "=" + v + " ")
		}
	}
	return b.String()
}

// closures makes closures over n variables, while many others are open.
func closures(n int) string {
	var names, uses strings.Builder
	for i := range n {
		if i > 0 {
			names.WriteString(", ")
			uses.WriteString(" or ")
		}
		name := "v" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		names.WriteString(name)
		uses.WriteString(name)
	}
	return "local function f(d) local " + names.String() + " local h = function() return " + uses.String() + " end " +
		"if d > 0 then return f(d - 1) or h end while true do local g = (function() return " + uses.String() + " end) end; end f(60)"
}

// usage is the CPU time that the process has used.
func usage(t *testing.T) time.Duration {
	t.Helper()
	runtime.GC()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
