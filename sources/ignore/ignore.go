// Package ignore matches paths against patterns in gitignore syntax: what
// .waybillignore holds and what scan.include and scan.exclude of waybill.yaml
// list, and, to the letter of Git's, what its own files say (Pattern, File). It reads no
// files.
package ignore

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Matcher is a list of patterns; the last that matches decides. The zero value
// matches nothing. It is not safe for concurrent use.
//
// Patterns are found by the names and folders in a path, so that a long list costs no more
// than a short one. What is left are patterns with wildcards inside, which are tried one
// by one, as long as that is not too much work.
type Matcher struct {
	negated  []bool                // by number
	names    map[string]numbers    // "name" and "name/"
	suffixes affixes               // "*suffix"
	prefixes affixes               // "prefix*"
	paths    map[string]numbers    // "a/path" and "a/path/**"
	others   map[string][]numbered // by the folder that their first names are; in order
	work     int
}

// numbers are the last patterns of a kind, from 1 on: of any path, and of folders only.
type numbers struct{ any, folder int }

// of returns the last one that is for a folder, or for a file.
func (n numbers) of(kind Kind) int {
	if kind == Folder {
		return max(n.any, n.folder)
	}
	return n.any
}

// affixes are beginnings or ends of names.
type affixes struct {
	numbers map[string]numbers
	lengths []int // that they have
}

// numbered is a pattern that has to be tried.
type numbered struct {
	gitignore.Pattern

	number, size int
	has          string // what a path that it matches has in it
}

// MostWork is how often patterns of one list may be tried, with all paths of a source. A
// path that has all the letters of a pattern counts more often, the longer they are.
const MostWork = 100_000_000

// What a try counts for a path that the pattern may match, and for so many characters of
// the path with each of so many of the pattern.
const (
	tryWork   = 16
	pairsWork = 64
)

// Parse reads patterns, one a line. Empty lines and comments are passed over.
func Parse(lines string) Matcher {
	m := Matcher{
		names: map[string]numbers{}, paths: map[string]numbers{}, others: map[string][]numbered{},
		suffixes: affixes{numbers: map[string]numbers{}}, prefixes: affixes{numbers: map[string]numbers{}},
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			m.add(everywhere(line))
		}
	}
	return m
}

// everywhere returns the pattern "/**" without its slash: it has everything, as in Git, and go-git finds nothing by it.
func everywhere(line string) string {
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "!"), "/**"); ok && strings.Trim(rest, "/ ") == "" {
		return strings.Replace(line, "/", "", 1)
	}
	return line
}

// wildcards are characters that do not stand for themselves.
const wildcards = `*?[\`

func isPlain(s string) bool { return !strings.ContainsAny(s, wildcards) }

// add files a pattern.
func (m *Matcher) add(line string) {
	text, negated := strings.CutPrefix(line, "!")
	m.negated = append(m.negated, negated)
	if !strings.HasSuffix(text, `\ `) {
		text = strings.TrimRight(text, " ")
	}
	text, folders := strings.CutSuffix(text, "/")
	kind := NoFolder
	if folders {
		kind = Folder
	}
	n := len(m.negated)
	if strings.Contains(text, "/") {
		m.addPath(line, text, n, kind)
		return
	}
	rest, isSuffix := strings.CutPrefix(text, "*")
	before, isPrefix := strings.CutSuffix(text, "*")
	switch {
	case isPlain(text):
		put(m.names, text, n, kind)
	case strings.Trim(text, "*") == "":
		m.suffixes.put("", n, kind)
	case isSuffix && isPlain(rest):
		m.suffixes.put(rest, n, kind)
	case isPrefix && isPlain(before):
		m.prefixes.put(before, n, kind)
	default:
		m.addOther("", line, text, n)
	}
}

// addPath files a pattern that begins at the root.
func (m *Matcher) addPath(line, text string, n int, kind Kind) {
	parts := strings.Split(text, "/")
	if parts[len(parts)-1] == "**" {
		parts = parts[:len(parts)-1]
	}
	var plain []string
	for i, p := range parts {
		if !isPlain(p) {
			m.addOther(strings.Join(plain, "/"), line, text, n)
			return
		}
		if p != "" {
			plain = append(plain, parts[i])
		}
	}
	if len(plain) > 0 {
		put(m.paths, strings.Join(plain, "/"), n, kind)
	}
}

func (m *Matcher) addOther(folder, line, text string, n int) {
	m.others[folder] = append(m.others[folder], numbered{gitignore.ParsePattern(line, nil), n, len(line), literal(text)})
}

// literal returns the longest part of a pattern that a path has if it matches.
func literal(text string) (longest string) {
	if i := strings.IndexAny(text, `[\`); i >= 0 {
		text = text[:i]
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '*' || r == '?' || r == '/' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

func put(to map[string]numbers, key string, n int, kind Kind) {
	was := to[key]
	if kind == Folder {
		was.folder = n
	} else {
		was.any = n
	}
	to[key] = was
}

func (a *affixes) put(key string, n int, kind Kind) {
	if !slices.Contains(a.lengths, len(key)) {
		a.lengths = append(a.lengths, len(key))
	}
	put(a.numbers, key, n, kind)
}

// Matches reports whether a slash-separated path is matched, itself or by a folder it
// is in.
func (m *Matcher) Matches(name string, kind Kind) bool {
	last := 0
	for end := 0; end < len(name); end++ {
		start := end
		if i := strings.IndexByte(name[start:], '/'); i >= 0 {
			end = start + i
		} else {
			end = len(name)
		}
		is := Folder
		if end == len(name) {
			is = kind
		}
		last = max(last, m.named(name[start:end]).of(is), m.paths[name[:end]].of(is))
	}
	last = m.tried(name, kind, last)
	return last > 0 && !m.negated[last-1]
}

// named returns the last patterns that match a name of a path.
func (m *Matcher) named(name string) numbers {
	found := m.names[name]
	add := func(n numbers) { found = numbers{max(found.any, n.any), max(found.folder, n.folder)} }
	for _, l := range m.suffixes.lengths {
		if l <= len(name) {
			add(m.suffixes.numbers[name[len(name)-l:]])
		}
	}
	for _, l := range m.prefixes.lengths {
		if l <= len(name) {
			add(m.prefixes.numbers[name[:l]])
		}
	}
	return found
}

// tried returns the number of the last pattern that matches and has to be tried, if that is
// more than last.
func (m *Matcher) tried(name string, kind Kind, last int) int {
	if len(m.others) == 0 {
		return last
	}
	parts := strings.Split(name, "/")
	for folder, ok := name, true; ok; folder, ok = parent(folder) {
		for _, p := range slices.Backward(m.others[folder]) {
			if p.number < last || m.Exhausted() {
				break
			}
			if m.work++; !strings.Contains(name, p.has) {
				continue
			}
			m.work += tryWork + p.size*len(name)/pairsWork
			if p.Match(parts, kind == Folder) > gitignore.NoMatch {
				last = p.number
				break
			}
		}
	}
	return last
}

// parent returns the folder that a path is in, which is empty for the root; false if there
// is none.
func parent(name string) (string, bool) {
	return name[:max(0, strings.LastIndexByte(name, '/'))], name != ""
}

// Exhausted reports whether the patterns took more than MostWork. Then no more of them are
// tried, and what Matches says is worth nothing.
func (m *Matcher) Exhausted() bool { return m.work > MostWork }
