package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demoTargets matches the rules of the Makefile that tell a story on real servers.
var demoTargets = regexp.MustCompile(`(?m)^(demo-[a-z]+):`)

// TestDemosAreNamed holds make demos, the README and docs/testing.md against the demos that there are.
func TestDemosAreNamed(t *testing.T) {
	t.Parallel()
	makefile := read(t, filepath.Join(root, "Makefile"))
	_, rule, ok := strings.Cut(makefile, "\ndemos: ")
	if !ok {
		t.Fatal("the Makefile has no rule demos")
	}
	rule, _, _ = strings.Cut(rule, "\n\n")
	_, recipe, _ := strings.Cut(rule, "\n")
	inDemos := strings.Fields(recipe)
	readme, table := read(t, filepath.Join(root, "README.md")), read(t, filepath.Join(root, "docs/testing.md"))
	all := demoTargets.FindAllStringSubmatch(makefile, -1)
	if len(all) == 0 {
		t.Fatal("the Makefile has no demos")
	}
	for _, m := range all {
		if !slices.Contains(inDemos, m[1]) {
			t.Errorf("make demos does not show %s", m[1])
		}
		if !strings.Contains(readme, "\nmake "+m[1]+" ") {
			t.Errorf("README.md does not name make %s", m[1])
		}
		if !strings.Contains(table, "\n| `make "+m[1]+"` |") {
			t.Errorf("the table of docs/testing.md does not name make %s", m[1])
		}
	}
}
