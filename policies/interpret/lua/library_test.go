package lua_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// Functions of the library answer as those of Lua 5.1 do, at their edges, too.
func TestTheLibrary(t *testing.T) {
	const noon = "1795867507" // 2026-11-28T12:05:07Z, a Saturday
	for expression, want := range map[string]any{
		`os.date("!%w %% %q %", ` + noon + `)`:                               "6 % %q %",
		`os.date("%Y-%m-%dT%H:%M:%SZ", ` + noon + `)`:                        "2026-11-28T12:05:07Z",
		`os.date("%a %A %b %B %y %j %p %I %z %D %F %T %x %X", ` + noon + `)`: "Sat Saturday Nov November 26 332 PM 12 +0000 11/28/26 2026-11-28 12:05:07 11/28/26 12:05:07",
		`os.date(nil, ` + noon + `)`:                                         "Sat Nov 28 12:05:07 2026",
		`os.date("!*t", ` + noon + `).wday`:                                  int64(7),
		`os.date("*t", ` + noon + `).yday`:                                   int64(332),
		`(function() local d = os.date("*t", ` + noon + `); return table.concat({d.year, d.month, d.day, d.hour, d.min, d.sec, d.wday, d.yday}, " ") end)()`: "2026 11 28 12 5 7 7 332",
		`os.date("*t", ` + noon + `).isdst`:                                         false,
		`os.time({year = 2026, month = 11, day = 28, hour = 12, min = 5, sec = 7})`: int64(1795867507),
		`os.time({year = "2026", month = "11", day = "28", hour = "x"})`:            int64(1795867200),
		`os.time({year = 2026, month = 11, day = 28})`:                              int64(1795867200),
		`os.difftime(7, 5)`:                        int64(2),
		`string.format("%q", 'a"b\\c\nd\re\0f')`:   "\"a\\\"b\\\\c\\\nd\\re\\000f\"",
		`string.reverse("abc")`:                    "cba",
		`string.reverse("")`:                       "",
		`table.concat({"a", "b", "c"}, "-", 0, 9)`: "a-b-c",
		`table.concat({"a", "b", "c"}, "-", 2)`:    "b-c",
		`table.concat({"a", 1, 2.5}, ", ")`:        "a, 1, 2.5",
		`table.concat({"a", "b"}, "-", 2, 1)`:      "",
		`table.concat({})`:                         "",
		`tostring(table.remove({}))`:               "nil",
		`tostring(table.remove({"a"}, 2))`:         "nil",
		`tostring(table.remove({"a"}, 0))`:         "nil",
		`(function() local t = {1, 2}; table.insert(t, 2, nil); t[2] = 3; return table.concat(t, ",") end)()`:                                                  "1,3,2",
		`(function() local all = {}; for a in pairs({a = 1}) do for b in pairs({b = 1}) do table.insert(all, a .. b) end end; return table.concat(all) end)()`: "ab",
		`table.remove({"a", "b", "c"}, 2)`: "b",
		`table.remove({"a", "b"})`:         "b",
		`(function() local t = {"a", "c"}; table.insert(t, 2, "b"); return table.concat(t) end)()`: "abc",
		`(function() local t = {"a"}; table.insert(t, 2, "b"); return table.concat(t) end)()`:      "ab",
		`(function() local t = {"a", "b"}; table.remove(t, 1); return table.concat(t) end)()`:      "b",
	} {
		if got := eval(t, expression); !cmp.Equal(got, want) {
			t.Errorf("%s is %#v, want %#v", expression, got, want)
		}
	}
	for _, tt := range []struct{ source, want string }{
		{`os.time()`, "os.time without a table"},
		{`os.time({year = 2026, month = 11})`, "the field day is missing"},
		{`os.time({year = {}, month = 11, day = 1})`, "the field year is missing"},
		{`os.date("%Y")`, "os.date without a time"},
		{`table.concat({"a", {}})`, "table.concat: item 2 is a table"},
		{`table.insert({"a"}, 3, "b")`, "the position 3 is outside the list of 1 items"},
		{`table.insert({"a"}, 0, "b")`, "the position 0 is outside the list of 1 items"},
	} {
		if got, err := run(t, "function F() return "+tt.source+" end"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s is %v, %v, want %s", tt.source, got, err, tt.want)
		}
	}
}

// A class of characters has those of ASCII that it has in the C locale, and one in upper case has all others.
func TestClasses(t *testing.T) {
	for class, has := range map[byte]func(c byte) bool{
		'a': func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' },
		'c': func(c byte) bool { return c < 32 || c == 127 },
		'd': func(c byte) bool { return c >= '0' && c <= '9' },
		'l': func(c byte) bool { return c >= 'a' && c <= 'z' },
		'p': func(c byte) bool { return strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) >= 0 },
		's': func(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 },
		'u': func(c byte) bool { return c >= 'A' && c <= 'Z' },
		'w': func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' },
		'x': func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' },
		'z': func(c byte) bool { return c == 0 },
		'.': func(c byte) bool { return c == '.' },
		'k': func(c byte) bool { return c == 'k' },
	} {
		for _, upper := range []bool{false, true} {
			name := string(class)
			if upper && class != '.' && class != 'k' {
				name = strings.ToUpper(name)
			}
			var want []any
			for c := range 256 {
				if has(byte(c)) != (name != string(class)) {
					want = append(want, int64(c))
				}
			}
			got := eval(t, `(function() local all = {}; for c = 0, 255 do if string.find(string.char(c), "^%`+name+`$") then table.insert(all, c) end end; return all end)()`)
			if list, _ := got.([]any); !slices.Equal(list, want) {
				t.Errorf("%%%s has %v, want %v", name, got, want)
			}
		}
	}
}

// What answers take beyond what is their own is drawn from a budget that they share: when it is spent, those that take much fail.
func TestABudget(t *testing.T) {
	script, err := lua.Compile("function Much() local n = 0; for i = 1, 60000 do n = n + 1 end; return n end\nfunction Little() return 1 end")
	if err != nil {
		t.Fatal(err)
	}
	b := lua.NewBudget(1_000_000)
	first := b.Answer()
	if _, err := first.Call(script, lua.Kube{}, "Little"); err != nil || b.Spent() != 0 {
		t.Errorf("a cheap answer draws %d: %v", b.Spent(), err)
	}
	if out, err := b.Answer().Call(script, lua.Kube{}, "Much"); err != nil || len(out) != 1 || b.Spent() == 0 {
		t.Errorf("an answer that takes more than its own draws %d, and is %v: %v", b.Spent(), out, err)
	}
	taken := b.Spent()
	for n := 0; ; n++ {
		_, err = b.Answer().Call(script, lua.Kube{}, "Much")
		if err != nil || n > 100 {
			break
		}
		if b.Spent() <= taken {
			t.Fatalf("after %d more answers %d are spent", n+1, b.Spent())
		}
		taken = b.Spent()
	}
	if e, is := errors.AsType[*lua.Error](err); err == nil || !strings.Contains(fmt.Sprint(err), "have taken the 1000000 steps") {
		t.Errorf("where all is spent it is %v (%v, %t)", err, e, is)
	}
	if out, err := b.Answer().Call(script, lua.Kube{}, "Little"); err != nil || len(out) != 1 {
		t.Errorf("a cheap answer is %v: %v", out, err)
	}
	if left := 1_000_000 - b.Spent(); b.Draw(left+1) || !b.Draw(left) || b.Spent() != 1_000_000 || b.Draw(1) || !b.Draw(0) {
		t.Errorf("of %d that were left are %d now", left, 100_000-b.Spent())
	}
	b.Renew()
	many := b.Answer()
	for range 24 { // 2,000 steps each but the first
		if _, err := many.Call(script, lua.Kube{}, "Little"); err != nil {
			t.Fatal(err)
		}
	}
	own := b.Spent()
	for range 10 {
		if _, err := many.Call(script, lua.Kube{}, "Little"); err != nil {
			t.Fatal(err)
		}
	}
	if more := b.Spent() - own; own != 0 || more < 16_000 || more > 20_000 { // what was left of its own is drawn first
		t.Errorf("24 cheap calls of one answer draw %d, and 10 more %d", own, more)
	}
	if b.Renew(); b.Spent() != 0 {
		t.Errorf("renewed, %d are spent", b.Spent())
	}
}

// A script that may not see the time of its call gets no date for it, and any other date.
func TestUndated(t *testing.T) {
	script, err := lua.Compile("function F() return tostring(os.date('%Y')) .. ' ' .. os.date('%Y', 0) end")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := script.Undated().Call(lua.Kube{}, "F"); err != nil || len(out) != 1 || out[0] != "nil 1970" {
		t.Errorf("it is %v: %v", out, err)
	}
	if out, err := script.Call(lua.Kube{}, "F"); err == nil {
		t.Errorf("of the script that it is of it is %v", out)
	}
}

// A message is one line of plain text, and not a long one.
func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " a\n\tb  c ": "a b c", "a\xffb": "a?b", strings.Repeat("x", 500): strings.Repeat("x", 500), strings.Repeat("x", 501): strings.Repeat("x", 500) + "...",
	} {
		if got := lua.Brief(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
