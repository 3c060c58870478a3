package lua

import (
	"fmt"
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// format is string.format: the directives of C that Lua 5.1 knows, with widths and
// precisions of at most two digits.
func (m *meter) format(l *glua.LState) int {
	var out strings.Builder
	rest, arg := l.CheckString(1), 1
	for {
		plain, after, found := strings.Cut(rest, "%")
		out.WriteString(plain)
		m.text(l, len(plain))
		if !found {
			break
		}
		if strings.HasPrefix(after, "%") {
			out.WriteByte('%')
			rest = after[1:]
			continue
		}
		n := directive(after)
		if n == 0 {
			l.ArgError(1, clipped("%"+after)+" does not begin with a directive")
		}
		arg++
		s := formatted(l, after[:n-1], after[n-1], arg)
		m.text(l, len(s))
		out.WriteString(s)
		rest = after[n:]
	}
	l.Push(glua.LString(out.String()))
	return 1
}

// directive returns the size of the directive, after its percent sign, that a text
// begins with; 0 if there is none.
func directive(s string) int {
	i := 0
	for i < len(s) && i < 5 && strings.IndexByte("-+ #0", s[i]) >= 0 {
		i++
	}
	i += digits(s[i:])
	if i < len(s) && s[i] == '.' {
		i++
		i += digits(s[i:])
	}
	if i == len(s) || strings.IndexByte("diucxXoeEfgGqs", s[i]) < 0 {
		return 0
	}
	return i + 1
}

// digits counts the digits that s begins with, no more than two.
func digits(s string) int {
	n := 0
	for n < min(2, len(s)) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// formatted is one argument by one directive.
func formatted(l *glua.LState, flags string, verb byte, arg int) string {
	switch verb {
	case 'd', 'i', 'u':
		return fmt.Sprintf("%"+flags+"d", int64(l.CheckNumber(arg)))
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), int64(l.CheckNumber(arg)))
	case 'c':
		return string([]byte{byte(int64(l.CheckNumber(arg)))}) //nolint:gosec // as C does
	case 'e', 'E', 'f', 'g', 'G':
		return fmt.Sprintf("%"+flags+string(verb), float64(l.CheckNumber(arg)))
	case 'q':
		return quoted(l.CheckString(arg))
	default:
		return fmt.Sprintf("%"+flags+"s", text(l.CheckAny(arg)))
	}
}

// quoted writes a string as Lua reads it.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\r':
			b.WriteString(`\r`)
		case 0:
			b.WriteString(`\000`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
