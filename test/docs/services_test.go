package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aboutServices matches the scenarios that the tables of services and autoscaling in docs/testing.md have to name.
var aboutServices = regexp.MustCompile(`^(services|ingress|gateway|hpa)(-[a-z-]+)?$`)

// TestCasesOfServicesAreShown holds the tables of services and autoscaling in docs/testing.md against the tests that there are.
func TestCasesOfServicesAreShown(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(read(t, filepath.Join(root, "docs/testing.md")), "\n## Services and autoscaling\n")
	if !ok {
		t.Fatal("docs/testing.md has no section about services and autoscaling")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	named, rows := map[string]bool{}, 0
	for row := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if !strings.HasPrefix(row, "| ") || strings.TrimSpace(cells[len(cells)-1]) == "test" {
			continue
		}
		rows++
		all := quoted.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 2 || len(all) == 0 {
			t.Errorf("no test shows it: %s", row)
		}
		for _, m := range all {
			if named[m[1]] = true; !isCase(t, m[1]) {
				t.Errorf("there is no test %s: %s", m[1], row)
			}
		}
	}
	const least = 33 // that were asked for, beside faults
	if rows < least {
		t.Errorf("there are %d rows", rows)
	}
	files, err := filepath.Glob(filepath.Join(root, "test/scenario/testdata/*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txtar")
		if aboutServices.MatchString(name) && !named[name] {
			t.Errorf("the tables of services and autoscaling in docs/testing.md do not name the scenario %s: add it to the row of its case", name)
		}
	}
}

// isCase reports that there is a demo, a scenario, or a test by the name that a table has for it.
func isCase(t *testing.T, name string) bool {
	t.Helper()
	if target, ok := strings.CutPrefix(name, "make "); ok {
		return strings.Contains(read(t, filepath.Join(root, "Makefile")), "\n"+target+": ")
	}
	if aboutServices.MatchString(name) {
		return isShown(t, "", "TestScenarios", name)
	}
	i := strings.LastIndex(name, ".")
	return isShown(t, name[:max(i, 0)], name[i+1:], "")
}
