package ignore

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// MostPatterns is how many patterns a List may have.
const MostPatterns = 100

// PathsAnnotation of a policy holds a List: the paths of the source that the policy is for.
const PathsAnnotation = "waybill.dev/paths"

// List is a list of patterns in gitignore syntax, one a line; the last that matches decides. It
// tries each of them, so that it is for short lists. The zero value has nothing.
type List struct {
	patterns []gitignore.Pattern
	plain    []string // those without a wildcard, as paths
}

// ParseList reads a list.
func ParseList(text string) (l List) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			l.patterns = append(l.patterns, gitignore.ParsePattern(everywhere(line), nil))
			if isPlain(line) && !strings.HasPrefix(line, "!") {
				l.plain = append(l.plain, strings.Trim(line, "/"))
			}
		}
	}
	return l
}

// Len returns how many patterns there are.
func (l List) Len() int { return len(l.patterns) }

// Names reports whether a line of the list is that path from the root, and no pattern.
func (l List) Names(path string) bool { return slices.Contains(l.plain, path) }

// Has reports whether the list matches a slash-separated path of a file, itself or by a folder it is
// in.
func (l List) Has(file string) bool {
	parts := strings.Split(file, "/")
	for _, p := range slices.Backward(l.patterns) {
		if m := p.Match(parts, false); m != gitignore.NoMatch {
			return m == gitignore.Exclude
		}
	}
	return false
}
