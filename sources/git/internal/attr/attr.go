// Package attr reads Git's attributes (gitattributes(5)) as far as they say how a file of a
// work tree differs from what Git stores of it, and turns line ends into Git's.
package attr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/sources/ignore"
)

// File is what one file of attributes says.
type File struct {
	folder string
	rules  []rule
	macros map[string][]setting
}

type rule struct {
	pattern ignore.Pattern
	set     []setting
}

type setting struct{ name, value string }

// Values that are not written behind "=".
const (
	set         = "true"
	unset       = "false"
	unspecified = ""
)

// builtin are the macros, names for several attributes, that Git knows by itself.
var builtin = map[string][]setting{"binary": {{"text", unset}}}

// Parse reads a file of attributes of a folder; nil if it says nothing. Macros count where the folder is the outermost one, as in Git.
func Parse(folder string, data []byte, as ignore.Letters) *File {
	f := &File{folder: folder, macros: map[string][]setting{}}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, rest := cutPattern(line)
		settings := parseSettings(rest)
		if name, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			if folder == "" {
				f.macros[name] = settings
			}
			continue
		}
		if pattern != "" && pattern[0] != '!' {
			f.rules = append(f.rules, rule{ignore.NewPattern(pattern, as), settings})
		}
	}
	if len(f.rules) == 0 && len(f.macros) == 0 {
		return nil
	}
	return f
}

// cutPattern returns the pattern of a line, which may be in quotes, and what is behind it.
func cutPattern(line string) (pattern, rest string) {
	if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
		if pattern, err = strconv.Unquote(quoted); err == nil {
			return pattern, line[len(quoted):]
		}
	}
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}

func parseSettings(text string) (settings []setting) {
	for word := range strings.FieldsSeq(text) {
		s := setting{word, set}
		if name, ok := strings.CutPrefix(word, "-"); ok {
			s = setting{name, unset}
		} else if name, ok := strings.CutPrefix(word, "!"); ok {
			s = setting{name, unspecified}
		} else if name, value, ok := strings.Cut(word, "="); ok {
			s = setting{name, value}
		}
		settings = append(settings, s)
	}
	return settings
}

// Attributes are those of a path, by name.
type Attributes map[string]string

// Of returns the attributes of a path by files of which the last counts most: what is said first on the way back counts.
func Of(files []*File, name string) Attributes {
	a := Attributes{}
	for _, f := range slices.Backward(files) {
		within, ok := name, true
		if f.folder != "" {
			within, ok = strings.CutPrefix(name, f.folder+"/")
		}
		for _, r := range slices.Backward(f.rules) {
			if ok && r.pattern.Matches(within) {
				a.put(r.set, files)
			}
		}
	}
	return a
}

// put adds settings of what nothing was said of yet, and what macros among them stand for.
func (a Attributes) put(settings []setting, files []*File) {
	for _, s := range slices.Backward(settings) {
		if _, said := a[s.name]; said {
			continue
		}
		if a[s.name] = s.value; s.value == set {
			a.put(macro(files, s.name), files)
		}
	}
}

// macro is what a name stands for; nil for one that is no macro.
func macro(files []*File, name string) []setting {
	for _, f := range slices.Backward(files) {
		if settings, ok := f.macros[name]; ok {
			return settings
		}
	}
	return builtin[name]
}

// Filter names the filter of a file; empty for none.
func (a Attributes) Filter() string {
	if a["filter"] == set || a["filter"] == unset {
		return ""
	}
	return a["filter"]
}

// Rewritten reports whether Git stores a file with other characters than it has.
func (a Attributes) Rewritten() bool {
	return a["ident"] == set || a["working-tree-encoding"] != unspecified && a["working-tree-encoding"] != set && a["working-tree-encoding"] != unset
}

// Lines is what Git does with the line ends of a file when it stores it.
type Lines int

// Keep leaves them as they are. Guess makes them LF if the file looks like a text and is
// not stored with CRLF already. Text makes them LF.
const (
	Keep Lines = iota
	Guess
	Text
)

// Lines returns what happens to line ends, by core.autocrlf where no attribute says it.
func (a Attributes) Lines(autocrlf bool) Lines {
	lines, said := linesOf(a["text"])
	if !said {
		lines, said = linesOf(a["crlf"])
	}
	switch {
	case said:
		return lines
	case a["eol"] == "lf" || a["eol"] == "crlf":
		return Text
	case autocrlf:
		return Guess
	}
	return Keep
}

// linesOf reads the value of text, or of crlf, which it was called before.
func linesOf(value string) (lines Lines, said bool) {
	switch value {
	case set, "input":
		return Text, true
	case unset:
		return Keep, true
	case "auto":
		return Guess, true
	}
	return Keep, false
}

// Stored returns what Git stores for a file's content. Before returns what is stored now;
// it is asked where that matters.
func (l Lines) Stored(data []byte, before func() ([]byte, error)) ([]byte, error) {
	s := scan(data)
	if l == Keep || s.crlf == 0 {
		return data, nil
	}
	if l == Guess {
		if s.binary() {
			return data, nil
		}
		old, err := before()
		if err != nil {
			return nil, err
		}
		if was := scan(old); was.crlf > 0 && !was.binary() {
			return data, nil
		}
	}
	out := make([]byte, 0, len(data)-s.crlf)
	for i, c := range data {
		if c != '\r' || i+1 == len(data) || data[i+1] != '\n' {
			out = append(out, c)
		}
	}
	return out, nil
}

// looks counts what tells a text from other content.
type looks struct{ nul, cr, crlf, printable, other int }

func scan(data []byte) (s looks) {
	for i, c := range data {
		switch {
		case c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			s.crlf++
		case c == '\r':
			s.cr++
		case c == '\n':
		case c == 0:
			s.nul++
		case c == '\b', c == '\t', c == '\f', c == 0x1b:
			s.printable++
		case c < ' ' && (c != 0x1a || i+1 < len(data)), c == 0x7f:
			s.other++
		case c >= ' ':
			s.printable++
		}
	}
	return s
}

// binary is Git's guess: one of 128 characters may be none that prints.
func (s looks) binary() bool { return s.cr > 0 || s.nul > 0 || s.printable>>7 < s.other }
