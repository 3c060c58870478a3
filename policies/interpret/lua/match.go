package lua

import (
	"errors"
	"strings"
)

// The errors of patterns.
var (
	errPatternEnd     = errors.New("the pattern ends too early")
	errPatternClass   = errors.New("the pattern has a [ without its ]")
	errPatternCapture = errors.New("the pattern has a ( or ) too many, or refers to a capture that is not there")
	errPatternDeep    = errors.New("the pattern needs too many nested steps")
)

const (
	maxCaptures = 32
	maxMatching = 20_000 // nested calls of match, some 200 bytes each
	open        = -1     // the size of a capture that has begun
	here        = -2     // the size of a capture of a position
)

// capture is a part of the subject, or, if its size is here, a position in it.
type capture struct{ start, size int }

// matcher tries a Lua pattern (Lua 5.1 reference manual, 5.4.1) at one place of a
// subject. Matching backtracks; every step is paid for.
type matcher struct {
	subject, pattern string
	captures         []capture
	depth            int
	step             func() error
	err              error
}

// fail notes the first error, and matches nothing.
func (m *matcher) fail(err error) int {
	if m.err == nil {
		m.err = err
	}
	return -1
}

// match returns the end of the match of pattern[p:] that begins at s; -1 if there
// is none, or an error.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatching {
		return m.fail(errPatternDeep)
	}
	defer func() { m.depth-- }()
	for p < len(m.pattern) {
		if err := m.step(); err != nil {
			return m.fail(err)
		}
		if end, done := m.special(s, p); done {
			return end
		}
		end := m.classEnd(p)
		if end < 0 {
			return -1
		}
		if end < len(m.pattern) && strings.IndexByte("*+-?", m.pattern[end]) >= 0 {
			return m.repeated(s, p, end)
		}
		if !m.single(s, p, end) {
			return -1
		}
		s, p = s+1, end
	}
	return s
}

// special matches what is no class of characters: captures, anchors, %b, %f and
// references to captures. It reports false for anything else.
func (m *matcher) special(s, p int) (end int, done bool) {
	switch c := m.pattern[p]; {
	case c == '(':
		return m.begin(s, p), true
	case c == ')':
		return m.finish(s, p), true
	case c == '$' && p+1 == len(m.pattern):
		if s == len(m.subject) {
			return s, true
		}
		return -1, true
	case c == '%' && p+1 < len(m.pattern):
		switch d := m.pattern[p+1]; {
		case d == 'b':
			return m.balanced(s, p+2), true
		case d == 'f':
			return m.frontier(s, p+2), true
		case d >= '0' && d <= '9':
			return m.again(s, p), true
		}
	}
	return 0, false
}

// begin opens a capture.
func (m *matcher) begin(s, p int) int {
	if len(m.captures) == maxCaptures {
		return m.fail(errPatternCapture)
	}
	size := open
	if p+1 < len(m.pattern) && m.pattern[p+1] == ')' {
		size = here
		p++
	}
	m.captures = append(m.captures, capture{s, size})
	end := m.match(s, p+1)
	if end < 0 {
		m.captures = m.captures[:len(m.captures)-1]
	}
	return end
}

// finish closes the last capture that is open.
func (m *matcher) finish(s, p int) int {
	for i := len(m.captures) - 1; i >= 0; i-- {
		if m.captures[i].size != open {
			continue
		}
		m.captures[i].size = s - m.captures[i].start
		end := m.match(s, p+1)
		if end < 0 {
			m.captures[i].size = open
		}
		return end
	}
	return m.fail(errPatternCapture)
}

// balanced matches %bxy: from an x to its y.
func (m *matcher) balanced(s, p int) int {
	if p+1 >= len(m.pattern) {
		return m.fail(errPatternEnd)
	}
	if s >= len(m.subject) || m.subject[s] != m.pattern[p] {
		return -1
	}
	nested := 1
	for i := s + 1; i < len(m.subject); i++ {
		if err := m.step(); err != nil {
			return m.fail(err)
		}
		switch m.subject[i] {
		case m.pattern[p+1]:
			if nested--; nested == 0 {
				return m.match(i+1, p+2)
			}
		case m.pattern[p]:
			nested++
		}
	}
	return -1
}

// frontier matches %f[set]: the place where the set begins.
func (m *matcher) frontier(s, p int) int {
	if p >= len(m.pattern) || m.pattern[p] != '[' {
		return m.fail(errPatternClass)
	}
	end := m.classEnd(p)
	if end < 0 {
		return -1
	}
	var before, after byte
	if s > 0 {
		before = m.subject[s-1]
	}
	if s < len(m.subject) {
		after = m.subject[s]
	}
	if inSet(before, m.pattern[p:end]) || !inSet(after, m.pattern[p:end]) {
		return -1
	}
	return m.match(s, end)
}

// again matches %1 to %9: what a capture has matched before.
func (m *matcher) again(s, p int) int {
	i := int(m.pattern[p+1]) - '1'
	if i < 0 || i >= len(m.captures) || m.captures[i].size < 0 {
		return m.fail(errPatternCapture)
	}
	c := m.captures[i]
	if !strings.HasPrefix(m.subject[s:], m.subject[c.start:c.start+c.size]) {
		return -1
	}
	return m.match(s+c.size, p+2)
}

// repeated matches a class, pattern[p:end], that the character after it repeats.
func (m *matcher) repeated(s, p, end int) int {
	switch m.pattern[end] {
	case '?':
		if m.single(s, p, end) {
			if at := m.match(s+1, end+1); at >= 0 || m.err != nil {
				return at
			}
		}
		return m.match(s, end+1)
	case '-':
		for {
			if at := m.match(s, end+1); at >= 0 || m.err != nil {
				return at
			}
			if !m.single(s, p, end) {
				return -1
			}
			s++
		}
	case '+':
		if !m.single(s, p, end) {
			return -1
		}
		return m.most(s+1, p, end)
	default:
		return m.most(s, p, end)
	}
}

// most takes as many of a class as there are, and then fewer.
func (m *matcher) most(s, p, end int) int {
	n := 0
	for m.single(s+n, p, end) {
		if err := m.step(); err != nil {
			return m.fail(err)
		}
		n++
	}
	for ; n >= 0; n-- {
		if at := m.match(s+n, end+1); at >= 0 || m.err != nil {
			return at
		}
	}
	return -1
}

// classEnd returns where the class ends that begins at p; -1 with an error if it
// does not end.
func (m *matcher) classEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p == len(m.pattern) {
			return m.fail(errPatternEnd)
		}
		return p + 1
	case '[':
		if p < len(m.pattern) && m.pattern[p] == '^' {
			p++
		}
		for first := true; ; first = false {
			switch {
			case p >= len(m.pattern):
				return m.fail(errPatternClass)
			case m.pattern[p] == ']' && !first:
				return p + 1
			case m.pattern[p] == '%':
				p += 2
			default:
				p++
			}
		}
	default:
		return p
	}
}

// single reports whether the character at s is of the class pattern[p:end].
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.subject) {
		return false
	}
	switch c := m.subject[s]; m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		return inSet(c, m.pattern[p:end])
	default:
		return c == m.pattern[p]
	}
}

// inSet reports whether a set such as [^a-z%d] has a character.
func inSet(c byte, set string) bool {
	set = set[1 : len(set)-1]
	has := true
	if strings.HasPrefix(set, "^") {
		has, set = false, set[1:]
	}
	for i := 0; i < len(set); i++ {
		switch {
		case set[i] == '%' && i+1 < len(set):
			i++
			if inClass(c, set[i]) {
				return has
			}
		case i+2 < len(set) && set[i+1] == '-':
			if set[i] <= c && c <= set[i+2] {
				return has
			}
			i += 2
		case set[i] == c:
			return has
		}
	}
	return !has
}

// inClass reports whether a class such as %d has a character; one in upper case has
// all others. Only ASCII has classes.
func inClass(c, class byte) bool {
	lower := class | 0x20
	var has bool
	switch lower {
	case 'a':
		has = isLetter(c)
	case 'c':
		has = c < 0x20 || c == 0x7f
	case 'd':
		has = isDigit(c)
	case 'l':
		has = c >= 'a' && c <= 'z'
	case 'p':
		has = c > 0x20 && c < 0x7f && !isLetter(c) && !isDigit(c)
	case 's':
		has = c == ' ' || c >= '\t' && c <= '\r'
	case 'u':
		has = c >= 'A' && c <= 'Z'
	case 'w':
		has = isLetter(c) || isDigit(c)
	case 'x':
		has = isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		has = c == 0
	default:
		return c == class
	}
	if !isLetter(class) {
		return c == class
	}
	return has == (class == lower)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
