package ignore

import "strings"

// glob reports whether a pattern of Git's ignore and attributes files matches all of a
// text: "*" and "?" stand for anything but slashes, "**" between slashes, or at an end
// beside one, for any number of folders, and brackets for one of several characters
// (gitignore(5), glob(7)). A backslash takes the meaning of what follows it. Characters
// are bytes, as Git has them.
func glob(pattern, text string) bool {
	g := globber{pattern: pattern, text: text}
	for {
		switch {
		case g.p == len(pattern) && g.t == len(text):
			return true
		case g.p < len(pattern) && g.wildcard():
			if g.p == len(pattern) && g.star == nil {
				return true // it ends in "**"
			}
		case g.p < len(pattern) && g.character():
		case !g.again():
			return false
		}
	}
}

// globber is how far a pattern and a text are read, and where to go on if the rest does not
// match: behind a wildcard of a name, and behind one of folders.
type globber struct {
	pattern, text string
	p, t          int
	star, deep    *mark
}

// mark is where a wildcard ends in a pattern, and where what follows it is looked for.
type mark struct{ p, t int }

// wildcard reads one that stands for any number of characters or folders; false if there is
// none.
func (g *globber) wildcard() bool {
	if rest, ok := folders(g.pattern, g.p); ok {
		g.p, g.star, g.deep = rest, nil, &mark{p: rest, t: g.t}
		if strings.HasSuffix(g.pattern[:rest], "/") && rest == len(g.pattern) {
			g.star = &mark{p: rest, t: len(g.text)} // "**/" at the end is not "**"
		}
		return true
	}
	if g.pattern[g.p] != '*' {
		return false
	}
	for g.p < len(g.pattern) && g.pattern[g.p] == '*' {
		g.p++
	}
	g.star = &mark{p: g.p, t: g.t}
	return true
}

// character reads one character; false if it does not match.
func (g *globber) character() bool {
	next, ok := one(g.pattern, g.p, g.text, g.t)
	if ok {
		g.p, g.t = next, g.t+1
	}
	return ok
}

// again goes on behind the last wildcard, which stands for more than before; false if none
// can.
func (g *globber) again() bool {
	if g.star != nil && g.star.t < len(g.text) && g.text[g.star.t] != '/' {
		g.star.t++
		g.p, g.t = g.star.p, g.star.t
		return true
	}
	if g.deep == nil {
		return false
	}
	slash := strings.IndexByte(g.text[g.deep.t:], '/')
	if slash < 0 {
		return false
	}
	g.deep.t += slash + 1
	g.p, g.t, g.star = g.deep.p, g.deep.t, nil
	return true
}

// folders reports whether at p, which is where a name begins, any number of folders may
// follow, and returns where the pattern goes on.
func folders(pattern string, p int) (int, bool) {
	if p > 0 && pattern[p-1] != '/' || !strings.HasPrefix(pattern[p:], "**") {
		return 0, false
	}
	rest := len(pattern) - len(strings.TrimLeft(pattern[p:], "*"))
	switch {
	case rest == len(pattern):
		return rest, true
	case pattern[rest] == '/':
		return rest + 1, true
	}
	return 0, false
}

// one matches one character of a text, and returns where the pattern goes on.
func one(pattern string, p int, text string, t int) (int, bool) {
	if t == len(text) {
		return 0, false
	}
	switch c := pattern[p]; c {
	case '?':
		return p + 1, text[t] != '/'
	case '[':
		next, ok := bracket(pattern, p+1, text[t])
		return next, ok && text[t] != '/'
	case '\\':
		if p+1 == len(pattern) {
			return 0, false
		}
		return p + 2, pattern[p+1] == text[t]
	default:
		return p + 1, c == text[t]
	}
}

// bracket matches a character by what stands in brackets, from behind the first on, and
// returns where the pattern goes on. Brackets that do not end match nothing.
func bracket(pattern string, p int, c byte) (int, bool) {
	negated := p < len(pattern) && (pattern[p] == '!' || pattern[p] == '^')
	if negated {
		p++
	}
	found := false
	for first := true; p < len(pattern); first = false {
		if pattern[p] == ']' && !first {
			return p + 1, found != negated
		}
		rest, is, ok := members(pattern, p, c)
		if !ok {
			break
		}
		p, found = rest, found || is
	}
	return 0, false
}

// members reads a character, a range or a class in brackets, and reports whether c is one.
func members(pattern string, p int, c byte) (rest int, is, ok bool) {
	if name, rest, ok := className(pattern, p); ok {
		class, known := classes[name]
		return rest, known && class(c), known
	}
	from, rest, ok := member(pattern, p)
	to := from
	if ok && rest+1 < len(pattern) && pattern[rest] == '-' && pattern[rest+1] != ']' {
		to, rest, ok = member(pattern, rest+1)
	}
	return rest, from <= c && c <= to, ok
}

// member reads a character in brackets.
func member(pattern string, p int) (c byte, rest int, ok bool) {
	if pattern[p] == '\\' {
		p++
	}
	if p >= len(pattern) {
		return 0, 0, false
	}
	return pattern[p], p + 1, true
}

// className reads the name of a class of characters, as in "[:alpha:]".
func className(pattern string, p int) (name string, rest int, ok bool) {
	inside, ok := strings.CutPrefix(pattern[p:], "[:")
	if !ok {
		return "", 0, false
	}
	end := strings.IndexByte(inside, ']')
	if end < 1 || inside[end-1] != ':' {
		return "", 0, false
	}
	return inside[:end-1], p + len("[:") + end + 1, true
}

// classes are POSIX's, of ASCII.
var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isDigit(c) || isLetter(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isLetter(c) },
	"space":  func(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
