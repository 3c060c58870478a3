package arch

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architectureDoc = "../../docs/architecture.md"

// floors reads the drawing below the heading Floors of docs/architecture.md: the line of each package below reconciler. A line
// has names, two spaces and what they are; one that is indented is of the folder above it.
func floors(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(architectureDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "## Floors\n")
	at, group := map[string]int{}, ""
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			break
		}
		drawn, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		names := strings.TrimLeft(drawn, " ")
		depth := (len(drawn) - len(names)) / 2
		names = upToGap(names)
		for name := range strings.FieldsSeq(names) {
			if depth == 0 {
				group = name
			} else {
				name = group + "/" + name
			}
			if below(name, "reconciler") {
				if _, twice := at[name]; twice {
					t.Errorf("%s is drawn twice", name)
				}
				at[name] = i
			}
		}
	}
	return at
}

var gap = regexp.MustCompile(` {2,}`)

// upToGap is a line up to the first two spaces.
func upToGap(s string) string {
	if loc := gap.FindStringIndex(s); loc != nil {
		return s[:loc[0]]
	}
	return s
}

// TestFloors holds the drawing of docs/architecture.md: every package below reconciler is in it once, and imports those that are
// drawn below it.
func TestFloors(t *testing.T) {
	at := floors(t)
	all := packages(t)
	slices.SortFunc(all, func(a, b pkg) int { return cmp.Compare(a.rel(), b.rel()) })
	there := map[string]bool{}
	for _, p := range all {
		if !below(p.rel(), "reconciler") || len(p.GoFiles) == 0 {
			continue
		}
		there[p.rel()] = true
		line, drawn := at[p.rel()]
		if !drawn {
			t.Errorf("%s is not in the drawing of docs/architecture.md", p.rel())
			continue
		}
		for _, imp := range p.Imports {
			r, ok := strings.CutPrefix(imp, module+"/")
			if l, drawn := at[r]; ok && drawn && l <= line {
				t.Errorf("%s imports %s, which is not drawn below it", p.rel(), r)
			}
		}
	}
	for name := range at {
		if !there[name] {
			t.Errorf("%s is drawn, and is no package", name)
		}
	}
}
