package docs

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCasesOfRolloutsAreScenarios holds the table of roll-outs in docs/testing.md against the scenarios that there are.
func TestCasesOfRolloutsAreScenarios(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(read(t, filepath.Join(root, "docs/testing.md")), "\n## Roll-outs\n")
	if !ok {
		t.Fatal("docs/testing.md has no section about roll-outs")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	files, err := filepath.Glob(filepath.Join(root, "test/scenario/testdata/*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	scenarios, named := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		scenarios[strings.TrimSuffix(filepath.Base(f), ".txtar")] = true
	}
	for _, m := range quoted.FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	for name := range scenarios {
		if strings.HasPrefix(name, "rollout-") && !named[name] {
			t.Errorf("the table of roll-outs in docs/testing.md does not name the scenario %s: add it to the row of its case", name)
		}
	}
	for name := range named {
		if strings.HasPrefix(name, "rollout-") && !scenarios[name] {
			t.Errorf("there is no scenario %s, which docs/testing.md names", name)
		}
	}
}
