package lua_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// run compiles source, which defines F, and calls F.
func run(tb testing.TB, source string, args ...any) ([]any, error) {
	tb.Helper()
	s, err := lua.Compile(source)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, source)
	}
	return s.Call(lua.Kube{}, "F", args...)
}

// eval is the value of an expression.
func eval(tb testing.TB, expression string) any {
	tb.Helper()
	out, err := run(tb, "function F() return "+expression+" end")
	if err != nil {
		tb.Fatalf("%s: %v", expression, err)
	}
	if len(out) != 1 {
		return out
	}
	return out[0]
}

func TestExpressions(t *testing.T) {
	for expression, want := range map[string]any{
		`1 .. 2 .. "x"`:                                           "12x",
		`("a" .. 1):upper()`:                                      "A1",
		`#("a" .. "bc")`:                                          int64(3),
		`("x"):rep(3)`:                                            "xxx",
		`("x"):rep(-1)`:                                           "",
		`#{1, 2, nil}`:                                            int64(2),
		`({[1 + 1] = 5, a = 6})[2]`:                               int64(5),
		`select("#", unpack({1, 2, 3}))`:                          int64(3),
		`table.concat({1, "b", 3}, ", ")`:                         "1, b, 3",
		`table.concat({1, 2, 3}, "", 2, 3)`:                       "23",
		`table.concat({}, "x")`:                                   "",
		`("%5.1f|%d|%s|%%|%x"):format(1.25, 3.7, {}, 255)`:        "  1.2|3|table|%|ff",
		`("%q"):format('a"b\n')`:                                  "\"a\\\"b\\\n\"",
		`("%-4d|%04d"):format(7, 7)`:                              "7   |0007",
		`tostring({}) .. tostring(nil)`:                           "tablenil",
		`tonumber("0x10")`:                                        int64(16),
		`os.time({year=2024, month=2, day=29, hour=0})`:           int64(1709164800),
		`os.time({year="2024", month="02", day=" 29", hour="x"})`: int64(1709208000), // noon: "x" is no number
		`os.time({year="0x7e8", month="010", day="1e0", hour="00", min="08"})`: int64(1727741280),
		`pcall(os.time, {year="now", month=2, day=29})`:                        []any{false, "script:1: bad argument #1 to (anonymous) (the field year is missing)"},
		`pcall(os.time, {year=2024, month="inf", day=29})`:                     []any{false, "script:1: bad argument #1 to (anonymous) (the field month is missing)"},
		`pcall(os.time, {year=2024, month=2, day="0x"})`:                       []any{false, "script:1: bad argument #1 to (anonymous) (the field day is missing)"},
		`os.date("!%Y-%m-%dT%H:%M:%SZ", 1709164800)`:                           "2024-02-29T00:00:00Z",
		`os.date("*t", 1709164800).day`:                                        int64(29),
		`os.difftime(5, 3)`:                                                    int64(2),
		`require("string").upper("a")`:                                         "A",
		`pcall(error, "x")`:                                                    []any{false, "script:1: x"},
		`math.floor(3.7)`:                                                      int64(3),
		`1e300 * 10`:                                                           1e301,
		`2 ^ 53`:                                                               int64(1 << 53),
		`0.5`:                                                                  0.5,
	} {
		if got := eval(t, expression); !cmp.Equal(got, want) {
			t.Errorf("%s is %#v, want %#v", expression, got, want)
		}
	}
}

func TestStatementsMeanWhatTheyMeanInLua(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       any
	}{
		{"an assignment to a computed key", `local t = {} for i = 1, 5 do t[i] = i * i end return t`, []any{int64(1), int64(4), int64(9), int64(16), int64(25)}},
		{"a list filled backwards", `local t = {} for i = 3, 1, -1 do t[i] = i end return t`, []any{int64(1), int64(2), int64(3)}},
		{"a swap", `local t, i, j = {"a", "b"}, 1, 2 t[i], t[j] = t[j], t[i] return t`, []any{"b", "a"}},
		{"keys that are read before anything is assigned", `local t, i = {"a", "b", "c"}, 1 i, t[i] = i + 1, "x" return table.concat(t) .. i`, "xbc2"},
		{"an assignment that a function fills", `local t, i = {}, 1 local function f() return "a", "b", "c" end t[i], t[i + 1], t.z = f() return t[1] .. t[2] .. t.z`, "abc"},
		{"an assignment with too few values", `local t, i = {1}, 1 t[i], t.x = nil return #t`, int64(0)},
		{"an assignment with too many values", `local t, i = {}, 1 t[i] = "a", "b" return t`, []any{"a"}},
		{"one value of a function that gives two", `local t, i = {}, 1 local function f() return "a", "b" end t[i] = f() return t`, []any{"a"}},
		{"keys and objects of functions that give two", `local function two() return "k", "l" end local t = {} local function both() return t, 1 end both()[two()] = 1 both()[two()], t[two()] = 2, 3 return t.k + ({[two()] = 4}).k`, int64(6)},
		{"a constructor that a function fills", `local function f() return 1, 2 end return #{f(), f()}`, int64(3)},
		{"a vararg in the middle of a concatenation", `local function f(...) return ... .. "x" end return f("a", "b")`, "ax"},
		{"a vararg at the end of a concatenation", `local function f(...) return "x" .. ... end return f("a", "b")`, "xa"},
		{"a method", `local o = {n = 1} function o:inc(k) self.n = self.n + k return self end return o:inc(2):inc(3).n`, int64(6)},
		{"closures", `local fs = {} for i = 1, 3 do fs[i] = function() return i end; end return fs[1]() + fs[3]()`, int64(4)},
		{"goto", `local n = 0 ::top:: n = n + 1 if n < 5 then goto top end return n`, int64(5)},
		{"pairs by name", `local s = "" for k in pairs({b = 1, a = 2}) do s = s .. k end return s`, "ba"},
		{"repeat until", `local n = 0 repeat local m = n; n = n + 1 until m == 3 return n`, int64(4)},
		{"table.insert and remove", `local t = {1, 3} table.insert(t, 2, 2) table.insert(t, 4) local r = table.remove(t) table.remove(t, 1) return r .. table.concat(t)`, "423"},
		{"table.insert behind the last item", `local t = {1, 2} table.insert(t, 3, 3) table.insert(t, #t + 1, 4) return table.concat(t)`, "1234"},
		{"table.sort with a comparison", `local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return table.concat(t)`, "321"},
		{"table.sort", `local t = {"b", "a"} table.sort(t) return table.concat(t)`, "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := run(t, "function F() "+tt.body+" end")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.want}, out); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestErrorsHaveALine(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a field of nil", "\nlocal x\nreturn x.y", "line 3: attempt to index a non-table object(nil) with key 'y'"},
		{"an assignment to nil", "local x\n\nx[1] = 2", "line 3: attempt to index a non-table object(nil)"},
		{"a concatenation", "\nreturn 'a' .. {}", "line 2: cannot perform concat operation between string and table"},
		{"a concatenation with nil on the left", "\nreturn nil .. 'a'", "line 2: cannot perform concat operation between nil and string"},
		{"an error", "\n\nerror('no such thing')", "line 3: no such thing"},
		{"an error without position", "error('no such thing', 0)", "no such thing"},
		{"an error that is a table", "error({})", "the script raised a table"},
		{"a call of nil", "\nnothing()", "line 2: attempt to call a non-function object"},
		{"a budget", "\nwhile true do end", "line 2: the script takes over 3000000 steps"},
		{"an argument", "\nstring.rep()", "line 2: bad argument #1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, "function F() "+tt.body+"\nend")
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		line         int
		message      string
	}{
		{"not Lua", "local x = 1\nfunction F( return 1 end", 2, "syntax error near 'return'"},
		{"no end", "function F()\n", 0, "syntax error at the end of the script"},
		{"a string without an end", "x = 1\nx = 'abc", 0, "unterminated string at the end of the script"},
		{"a name that takes long to look up", "x = 1\nlocal " + strings.Repeat("a", 2000) + " = 1", 2, "a name has 2000 bytes, more than"},
		{"a parameter that does", "function F(" + strings.Repeat("a", 2000) + ") end", 1, "a name has 2000 bytes, more than"},
		{"a break outside of a loop", "\nbreak", 2, "no loop to break"},
		{"too deep", "x = " + strings.Repeat("{", 300) + strings.Repeat("}", 300), 1, "the script nests more than 200 deep"},
		{"too long", strings.Repeat(" ", 300<<10), 0, "the script has 307200 bytes, more than 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := lua.Compile(tt.source)
			got, ok := err.(*lua.Error) //nolint:errorlint // Compile promises the type
			if !ok || got.Line != tt.line || !strings.Contains(got.Message, tt.message) {
				t.Errorf("%#v, want line %d: %s", err, tt.line, tt.message)
			}
		})
	}
}

func TestDefines(t *testing.T) {
	s, err := lua.Compile("function A() end local function B() end C = function() end if true then D = A end local E t = {} function t.F() end")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"A": true, "B": false, "C": true, "D": true, "E": false, "F": false} {
		if s.Defines(name) != want {
			t.Errorf("Defines(%s) is %t", name, !want)
		}
	}
	if _, err := s.Call(lua.Kube{}, "B"); err == nil || err.Error() != "the script has no function B" {
		t.Errorf("calling a function that is not global: %v", err)
	}
}
