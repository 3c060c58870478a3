package ignore

import (
	"path"
	"slices"
	"strings"
)

// Pattern matches paths as Git's ignore and attributes files do: by name wherever it is
// unless there is a slash in it, and by the whole path from the folder of the file else.
type Pattern struct {
	prefix string // what stands for itself before the first wildcard
	rest   string
	byName bool
	fold   bool
}

// Letters is how a file system has them.
type Letters int

// Cased letters are upper or lower; of Folded ones, which are ASCII's, that does not matter.
const (
	Cased Letters = iota
	Folded
)

// NewPattern returns a pattern.
func NewPattern(text string, as Letters) Pattern {
	p := Pattern{byName: !strings.Contains(text, "/"), fold: as == Folded}
	if p.fold {
		text = Fold(text)
	}
	text = strings.TrimPrefix(text, "/")
	wild := strings.IndexAny(text, `*?[\`)
	if wild < 0 {
		wild = len(text)
	}
	p.prefix, p.rest = text[:wild], text[wild:]
	return p
}

// plain reports whether the pattern stands for itself.
func (p Pattern) plain() bool { return p.rest == "" }

// Matches reports whether a path is matched, which is relative to the folder of the file
// that the pattern is in.
func (p Pattern) Matches(name string) bool {
	if p.byName {
		name = path.Base(name)
	}
	if p.fold {
		name = Fold(name)
	}
	if p.plain() {
		return name == p.prefix
	}
	name, ok := strings.CutPrefix(name, p.prefix)
	return ok && glob(p.rest, name) // Git as well takes "**" behind the prefix for a beginning
}

// Fold returns a path with its ASCII letters in lower case.
func Fold(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
	if i < 0 {
		return s
	}
	folded := []byte(s)
	for ; i < len(folded); i++ {
		if c := folded[i]; 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// File is what one of Git's ignore files says (gitignore(5)): what is not to be looked at
// unless it is tracked.
type File struct {
	folder string // that it is about; empty for the root
	rules  []rule
	plain  map[string][]int // rules that are one name or path that stands for itself, which may be many
	globs  []int            // the other rules
}

type rule struct {
	Pattern

	negated, folders bool
}

// ParseFile reads an ignore file of a folder, which is slash-separated.
func ParseFile(folder string, data []byte, as Letters) *File {
	f := &File{folder: folder, plain: map[string][]int{}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = withoutSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var r rule
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		r.Pattern = NewPattern(line, as)
		if n := len(f.rules); r.plain() {
			f.plain[r.key()] = append(f.plain[r.key()], n)
		} else {
			f.globs = append(f.globs, n)
		}
		f.rules = append(f.rules, r)
	}
	return f
}

// withoutSpaces takes the spaces off the end of a line, but one that follows a backslash.
func withoutSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
			end = i + 1
		} else if line[i] != ' ' {
			end = i + 1
		}
	}
	return line[:end]
}

// key tells names from paths.
func (r *rule) key() string {
	if r.byName {
		return r.prefix
	}
	return "/" + r.prefix
}

// Kind is what is at a path.
type Kind int

// A link is no Folder.
const (
	NoFolder Kind = iota
	Folder
)

// verdict returns the last rule that matches a path of the folder; none: nil.
func (f *File) verdict(name string, kind Kind) *rule {
	base := path.Base(name)
	last := -1
	look := name
	if len(f.rules) > 0 && f.rules[0].fold {
		look, base = Fold(name), Fold(base)
	}
	for _, key := range [2]string{base, "/" + look} {
		for _, n := range slices.Backward(f.plain[key]) {
			if n > last && (kind == Folder || !f.rules[n].folders) {
				last = n
				break
			}
		}
	}
	for _, n := range slices.Backward(f.globs) {
		if n < last {
			break
		}
		if r := &f.rules[n]; (kind == Folder || !r.folders) && r.Matches(name) {
			last = n
			break
		}
	}
	if last < 0 {
		return nil
	}
	return &f.rules[last]
}

// Ignored reports whether files, of which the last counts most, say that a path is to be
// ignored. It takes it that the folders around the path are not.
func Ignored(files []*File, name string, kind Kind) bool {
	for _, f := range slices.Backward(files) {
		within := name
		if f.folder != "" {
			within = strings.TrimPrefix(name, f.folder+"/")
		}
		if r := f.verdict(within, kind); r != nil {
			return !r.negated
		}
	}
	return false
}
