package lua

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	glua "github.com/yuin/gopher-lua"
)

// osFunctions is the os library: arithmetic with times that are given, in UTC.
func osFunctions(m *meter) map[string]glua.LGFunction {
	return map[string]glua.LGFunction{
		"clock":    refuse("os.clock would not give the same answer twice"),
		"date":     m.date,
		"difftime": difference,
		"time":     seconds,
	}
}

func difference(l *glua.LState) int {
	l.Push(l.CheckNumber(1) - l.CheckNumber(2))
	return 1
}

// seconds is os.time of a table: year, month and day, and perhaps hour (12), min
// and sec.
func seconds(l *glua.LState) int {
	if l.GetTop() == 0 {
		l.RaiseError("os.time without a table would not give the same answer twice")
	}
	t := l.CheckTable(1)
	field := func(name string, otherwise int) int {
		switch v := t.RawGetString(name).(type) {
		case glua.LNumber:
			return int(v)
		case glua.LString:
			if n, ok := said(string(v)); ok {
				return n
			}
		}
		if otherwise < 0 {
			l.ArgError(1, "the field "+name+" is missing")
		}
		return otherwise
	}
	at := time.Date(field("year", -1), time.Month(field("month", -1)), field("day", -1),
		field("hour", 12), field("min", 0), field("sec", 0), 0, time.UTC)
	l.Push(glua.LNumber(at.Unix()))
	return 1
}

// longest is how long a string may be that says a number of a time. A longer one takes long to read.
const longest = 100

// said is the number that a string says, in decimal or, behind 0x, in hexadecimal; false for one that says none.
func said(text string) (int, bool) {
	if len(text) > longest {
		return 0, false
	}
	text = strings.ToLower(strings.TrimSpace(text))
	if digits, isHex := strings.CutPrefix(text, "0x"); isHex {
		n, err := strconv.ParseInt(digits, 16, 64)
		return int(n), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return int(n), err == nil && math.Abs(n) < 1<<53
}

// date is os.date of a format and a time in seconds.
func (m *meter) date(l *glua.LState) int {
	format := strings.TrimPrefix(l.OptString(1, "%c"), "!")
	if l.GetTop() < 2 && m.undated {
		l.Push(glua.LNil)
		return 1
	}
	if l.GetTop() < 2 {
		l.RaiseError("os.date without a time would not give the same answer twice")
	}
	at := time.Unix(l.CheckInt64(2), 0).UTC()
	if strings.HasPrefix(format, "*t") {
		t := l.NewTable()
		m.pay(l, tableSteps, tableSize+9*fieldSize)
		fields(at, func(name string, n int) { t.RawSetString(name, glua.LNumber(n)) })
		t.RawSetString("isdst", glua.LFalse)
		l.Push(t)
		return 1
	}
	m.text(l, 16*len(format))
	l.Push(glua.LString(strftime(format, at)))
	return 1
}

// fields are the parts of a time, as os.date has them.
func fields(at time.Time, set func(name string, n int)) {
	set("year", at.Year())
	set("month", int(at.Month()))
	set("day", at.Day())
	set("hour", at.Hour())
	set("min", at.Minute())
	set("sec", at.Second())
	set("wday", int(at.Weekday())+1)
	set("yday", at.YearDay())
}

// layouts are the directives of strftime that Go has a layout for.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02",
	'D': "01/02/06", 'F': "2006-01-02", 'H': "15", 'I': "03", 'j': "002", 'm': "01", 'M': "04", 'p': "PM",
	'S': "05", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

func strftime(format string, at time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		layout, known := layouts[format[i]]
		switch {
		case known:
			b.WriteString(at.Format(layout))
		case format[i] == 'w':
			fmt.Fprint(&b, int(at.Weekday()))
		case format[i] == '%':
			b.WriteByte('%')
		default:
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}
