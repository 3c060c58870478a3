package lua

import (
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// stringFunctions are those of the string library that allocate or take long.
func (m *meter) stringFunctions() map[string]glua.LGFunction {
	return merged(m.patternFunctions(), map[string]glua.LGFunction{
		"dump":    refuse("the function string.dump is not available to scripts"),
		"format":  m.format,
		"lower":   m.mapped(strings.ToLower),
		"rep":     m.repeat,
		"reverse": m.mapped(reversed),
		"upper":   m.mapped(strings.ToUpper),
	})
}

// mapped makes a function of a string that returns one about as long.
func (m *meter) mapped(f func(string) string) glua.LGFunction {
	return func(l *glua.LState) int {
		s := l.CheckString(1)
		m.pay(l, len(s)/4, len(s))
		l.Push(glua.LString(f(s)))
		return 1
	}
}

func reversed(s string) string {
	b := make([]byte, len(s))
	for i := range len(s) {
		b[len(s)-1-i] = s[i]
	}
	return string(b)
}

func (m *meter) repeat(l *glua.LState) int {
	s, n := l.CheckString(1), max(0, l.CheckInt(2))
	if len(s) > 0 && n > maxMemory/len(s) {
		n = maxMemory/len(s) + 1 // more than there is
	}
	m.text(l, len(s)*n)
	l.Push(glua.LString(strings.Repeat(s, n)))
	return 1
}
