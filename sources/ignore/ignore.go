// Package ignore matches paths against patterns in gitignore syntax: what
// .waybillignore holds and what scan.include and scan.exclude of waybill.yaml
// list, and, to the letter of Git's, what its own files say (Pattern, File). It reads no
// files.
package ignore

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Matcher is a list of patterns; the last that matches decides. The zero value
// matches nothing.
type Matcher struct{ m gitignore.Matcher }

// Parse reads patterns, one a line. Empty lines and comments are passed over.
func Parse(lines string) Matcher {
	var ps []gitignore.Pattern
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		ps = append(ps, gitignore.ParsePattern(line, nil))
	}
	if len(ps) == 0 {
		return Matcher{}
	}
	return Matcher{m: gitignore.NewMatcher(ps)}
}

// Matches reports whether a slash-separated path of a file is matched, itself or
// by a folder it is in.
func (m Matcher) Matches(path string) bool {
	return m.m != nil && m.m.Match(strings.Split(path, "/"), false)
}
