package lua_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// TestPatterns has what the reference manual of Lua 5.1 says, and its examples.
func TestPatterns(t *testing.T) {
	for expression, want := range map[string]any{
		`("hello world"):find("wor")`:                             []any{int64(7), int64(9)},
		`("hello"):find("l")`:                                     []any{int64(3), int64(3)},
		`("hello"):find("xyz")`:                                   nil,
		`("hello"):find("")`:                                      []any{int64(1), int64(0)},
		`("hello"):find("", 10)`:                                  nil,
		`("hello"):find("l", -2)`:                                 []any{int64(4), int64(4)},
		`("a.b"):find(".", 1, true)`:                              []any{int64(2), int64(2)},
		`("a+b"):find("+", 1, true)`:                              []any{int64(2), int64(2)},
		`("key = value"):match("^(%w+)%s*=%s*(%w+)$")`:            []any{"key", "value"},
		`("2024-02-29"):match("(%d+)-(%d+)-(%d+)")`:               []any{"2024", "02", "29"},
		`("hello"):match(".-l")`:                                  "hel",
		`("hello"):match(".*l")`:                                  "hell",
		`("hello"):match("()ll()")`:                               []any{int64(3), int64(5)},
		`("f(a(b)c)d"):match("%b()")`:                             "(a(b)c)",
		`("THE (quick) fox"):find("%((%a+)%)")`:                   []any{int64(5), int64(11), "quick"},
		`("THE (quick) fox"):gsub("%f[%a]%a+", "x")`:              []any{"x (x) x", int64(3)},
		`([["it's"]]):match([[(["'])(.-)%1]])`:                    []any{`"`, "it's"},
		`("abc"):match("[a-b]+")`:                                 "ab",
		`("abc"):match("[^a-b]+")`:                                "c",
		`("a]b"):match("[]]")`:                                    "]",
		`("a-b"):match("[a%-]+")`:                                 "a-",
		`("x-"):match("[x-]+")`:                                   "x-",
		`("a1_"):match("%w*%W")`:                                  "a1_",
		`("\n x"):match("^%s+")`:                                  "\n ",
		`("a$"):match("a$$")`:                                     "a$",
		`("abc"):match("b", 3)`:                                   nil,
		`("abc"):match("^b", 2)`:                                  "b",
		`("hello world"):gsub("o", "0")`:                          []any{"hell0 w0rld", int64(2)},
		`("hello world"):gsub("o", "0", 1)`:                       []any{"hell0 world", int64(1)},
		`("hello world"):gsub("(%w+)", "<%1>")`:                   []any{"<hello> <world>", int64(2)},
		`("hello"):gsub("%w+", "%0+%0", 1)`:                       []any{"hello+hello", int64(1)},
		`("hello world from Lua"):gsub("(%w+)%s*(%w+)", "%2 %1")`: []any{"world hello Lua from", int64(2)},
		`("abc"):gsub("", "-")`:                                   []any{"-a-b-c-", int64(4)},
		`("abc"):gsub("%w*", "x")`:                                []any{"xx", int64(2)},
		`("$name is $what"):gsub("%$(%w+)", {name = "Lua"})`:      []any{"Lua is $what", int64(2)},
		`("abc"):gsub("%w", function(c) if c == "b" then return c:upper() end end)`: []any{"aBc", int64(3)},
		`("abc"):gsub("()", function(at) return at end)`:                            []any{"1a2b3c4", int64(4)},
		`("aaa"):gsub("^a", "x")`:                                                   []any{"xaa", int64(1)},
		`("100%"):gsub("%%", "%%%%")`:                                               []any{"100%%", int64(1)},
		`("a,b,,c"):gsub(",", ";")`:                                                 []any{"a;b;;c", int64(3)},
		`("x"):gsub("x", 1)`:                                                        []any{"1", int64(1)},
		`(function() local s = "" for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do s = s .. k .. v end return s end)()`: "a1b2",
		`(function() local s = "" for w in ("one two"):gmatch("%a*") do s = s .. "[" .. w .. "]" end return s end)()`:    "[one][][two][]",
		`(function() local s = "" for w in ("aaa"):gmatch("^a") do s = s .. w end return s end)()`:                       "a",
	} {
		if got := eval(t, expression); !cmp.Equal(got, want) {
			t.Errorf("%s is %#v, want %#v", expression, got, want)
		}
	}
}

func TestPatternsThatAreWrong(t *testing.T) {
	for expression, want := range map[string]string{
		`("a"):find("[a")`:                          "the pattern has a [ without its ]",
		`("a"):find("[]")`:                          "the pattern has a [ without its ]",
		`("a"):find("[a%")`:                         "the pattern has a [ without its ]",
		`("a"):find("%")`:                           "the pattern ends too early",
		`("a"):find("%b(")`:                         "the pattern ends too early",
		`("a"):find("(a")`:                          "the pattern has a ( or ) too many",
		`("a"):find("a)")`:                          "the pattern has a ( or ) too many",
		`("a"):find("%1")`:                          "the pattern has a ( or ) too many",
		`("a"):find("(a%1)")`:                       "the pattern has a ( or ) too many",
		`("a"):find("%f")`:                          "the pattern has a [ without its ]",
		`("a"):gsub("a", "%2")`:                     "the pattern has a ( or ) too many",
		`("a"):gsub("a", function() return {} end)`: "gsub cannot put a table into a string",
		`("a"):gsub("a", true)`:                     "bad argument #3",
		`("%y"):format(1)`:                          `"%y" does not begin with a directive`,
		`("%"):format(1)`:                           `"%" does not begin with a directive`,
		`("%d"):format("x")`:                        "bad argument #2",
		`("%d"):format()`:                           "bad argument #2",
	} {
		_, err := run(t, "function F() return "+expression+" end")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

// FuzzScripts: nothing that is compiled and run harms, and it ends the same way twice.
func FuzzScripts(f *testing.F) {
	for _, s := range []string{
		"function F(o) return o end", "function F(o) o.a[1], o.b = o.b, {} return o .. 1 end", "F = function(...) return {...}, #... end",
		"for k, v in pairs(_G) do v() end", "function F() return ('x'):gsub('(.)', '%1') end", "function F() return F end F()",
		"local t = {[1]=2,[3]={}} t[#t] = t function F() return pcall(table.sort, t) end", "::a:: goto a", "function F() return string.format('%5.2f', 1) end",
		"function F() return ('aaa'):find('(a-)[^%w]%1$') end", "function F() return unpack({1,2},-9,9) end", "return ...",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		s, err := lua.Compile(source)
		if err != nil {
			return
		}
		one, err1 := s.Call(lua.Kube{}, "F", map[string]any{"a": []any{int64(1)}, "b": "x"})
		two, err2 := s.Call(lua.Kube{}, "F", map[string]any{"a": []any{int64(1)}, "b": "x"})
		if !cmp.Equal(one, two) || (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
			t.Errorf("%v, %v, then %v, %v", one, err1, two, err2)
		}
	})
}
