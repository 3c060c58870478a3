package lua

import (
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// patternFunctions are those of the string library that take a pattern.
func (m *meter) patternFunctions() map[string]glua.LGFunction {
	return map[string]glua.LGFunction{
		"find":   m.find,
		"gfind":  m.gmatch,
		"gmatch": m.gmatch,
		"gsub":   m.gsub,
		"match":  m.first,
	}
}

// search is a search for a pattern in a subject.
type search struct {
	matcher
	meter    *meter
	anchored bool
	begin    int // of the last match
}

func (m *meter) search(subject, pattern string) *search {
	s := &search{meter: m}
	s.pattern, s.anchored = strings.CutPrefix(pattern, "^")
	s.subject = subject
	s.step = func() error { return m.take(1, 0) }
	return s
}

// next returns the end of the first match that begins at from or later; -1 if there
// is none.
func (s *search) next(l *glua.LState, from int) int {
	for at := from; at <= len(s.subject); at++ {
		if err := s.step(); err != nil {
			l.RaiseError("%s", err.Error())
		}
		s.captures = s.captures[:0]
		end := s.match(at, 0)
		if s.err != nil {
			l.RaiseError("%s", s.err.Error())
		}
		if end >= 0 {
			s.begin = at
			return end
		}
		if s.anchored {
			break
		}
	}
	return -1
}

// value is capture i of a match that ends at end; the whole match stands for a
// first capture if there are none.
func (s *search) value(l *glua.LState, i, end int) glua.LValue {
	if i == 0 && len(s.captures) == 0 {
		return glua.LString(s.subject[s.begin:end])
	}
	if i >= len(s.captures) {
		l.RaiseError("%s", errPatternCapture.Error())
	}
	switch c := s.captures[i]; c.size {
	case open:
		l.RaiseError("%s", errPatternCapture.Error())
		return glua.LNil
	case here:
		return glua.LNumber(c.start + 1)
	default:
		return glua.LString(s.subject[c.start : c.start+c.size])
	}
}

// push returns all captures to the script.
func (s *search) push(l *glua.LState, end int) int {
	n := max(1, len(s.captures))
	for i := range n {
		l.Push(s.value(l, i, end))
	}
	return n
}

// start reads the optional argument that says where to begin, from 0.
func start(l *glua.LState, arg, length int) int {
	from := l.OptInt(arg, 1)
	if from < 0 {
		from += length + 1
	}
	return max(0, from-1)
}

// find returns where a pattern, or with a fourth argument a text, is found.
func (m *meter) find(l *glua.LState) int {
	subject, pattern := l.CheckString(1), l.CheckString(2)
	from := start(l, 3, len(subject))
	if from > len(subject) {
		l.Push(glua.LNil)
		return 1
	}
	if glua.LVAsBool(l.Get(4)) {
		m.pay(l, (len(subject)-from)/64, 0)
		at := strings.Index(subject[from:], pattern)
		if at < 0 {
			l.Push(glua.LNil)
			return 1
		}
		l.Push(glua.LNumber(from + at + 1))
		l.Push(glua.LNumber(from + at + len(pattern)))
		return 2
	}
	s := m.search(subject, pattern)
	end := s.next(l, from)
	if end < 0 {
		l.Push(glua.LNil)
		return 1
	}
	l.Push(glua.LNumber(s.begin + 1))
	l.Push(glua.LNumber(end))
	if len(s.captures) == 0 {
		return 2
	}
	return 2 + s.push(l, end)
}

// first is string.match.
func (m *meter) first(l *glua.LState) int {
	subject, pattern := l.CheckString(1), l.CheckString(2)
	s := m.search(subject, pattern)
	from := start(l, 3, len(subject))
	end := -1
	if from <= len(subject) {
		end = s.next(l, from)
	}
	if end < 0 {
		l.Push(glua.LNil)
		return 1
	}
	return s.push(l, end)
}

// gmatch returns a function that returns the captures of one match after the other.
func (m *meter) gmatch(l *glua.LState) int {
	s := m.search(l.CheckString(1), l.CheckString(2))
	from := 0
	l.Push(l.NewFunction(func(l *glua.LState) int {
		if from > len(s.subject) {
			return 0
		}
		end := s.next(l, from)
		if end < 0 {
			from = len(s.subject) + 1
			return 0
		}
		from = end
		if end == s.begin {
			from++
		}
		if s.anchored {
			from = len(s.subject) + 1
		}
		return s.push(l, end)
	}))
	return 1
}

// gsub replaces matches by a text, or by what a table or a function has for them.
func (m *meter) gsub(l *glua.LState) int {
	subject := l.CheckString(1)
	s := m.search(subject, l.CheckString(2))
	l.CheckTypes(3, glua.LTString, glua.LTNumber, glua.LTTable, glua.LTFunction)
	limit := l.OptInt(4, len(subject)+1)
	var out strings.Builder
	write := func(text string) {
		m.text(l, len(text))
		out.WriteString(text)
	}
	at, n := 0, 0
	for n < limit && at <= len(subject) {
		end := s.next(l, at)
		if end < 0 {
			break
		}
		n++
		write(subject[at:s.begin])
		write(s.replacement(l, l.Get(3), end))
		at = end
		if end == s.begin { // an empty match: the next begins one later
			write(subject[end:min(end+1, len(subject))])
			at++
		}
		if s.anchored {
			break
		}
	}
	write(subject[min(at, len(subject)):])
	l.Push(glua.LString(out.String()))
	l.Push(glua.LNumber(n))
	return 2
}

// replacement is what to put in the place of a match.
func (s *search) replacement(l *glua.LState, by glua.LValue, end int) string {
	whole := s.subject[s.begin:end]
	var v glua.LValue
	switch by := by.(type) {
	case *glua.LTable:
		v = l.GetTable(by, s.value(l, 0, end))
	case *glua.LFunction:
		l.Push(by)
		captures := s.captures
		s.captures = append([]capture(nil), captures...)
		l.Call(s.push(l, end), 1)
		v = l.Get(-1)
		l.Pop(1)
	default:
		return s.expanded(l, by.String(), end)
	}
	switch {
	case glua.LVIsFalse(v):
		return whole
	case !glua.LVCanConvToString(v):
		l.RaiseError("gsub cannot put a %s into a string", v.Type())
	}
	return v.String()
}

// expanded is a replacement text with %0 to %9 replaced.
func (s *search) expanded(l *glua.LState, by string, end int) string {
	if !strings.Contains(by, "%") {
		return by
	}
	var b strings.Builder
	for i := 0; i < len(by); i++ {
		if by[i] != '%' || i+1 == len(by) {
			b.WriteByte(by[i])
			continue
		}
		i++
		part := by[i : i+1]
		switch {
		case by[i] == '0':
			part = s.subject[s.begin:end]
		case isDigit(by[i]):
			part = s.value(l, int(by[i]-'1'), end).String()
		}
		s.meter.pay(l, 1+len(part)/64, len(part))
		b.WriteString(part)
	}
	return b.String()
}
