package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// assertions is how many the conformance tests of the Multi-Cluster Services API make.
const assertions = 27

// shownBy matches a test that docs/conformance-mcs.md names: its folder, if it is not test/e2e, its name, and a case of it.
var shownBy = regexp.MustCompile("`(?:([a-z][a-z/]*)\\.)?(Test[A-Za-z0-9]+)(?:/([a-z-]+))?`")

// casesOf are the files that are cases of a test.
var casesOf = map[string]string{"TestScenarios": "test/scenario/testdata/*.txtar", "TestScripts": "test/cli/testdata/*.txt"}

// TestAssertionsOfTheServicesAPIAreShown holds the table of docs/conformance-mcs.md against the tests that there are.
func TestAssertionsOfTheServicesAPIAreShown(t *testing.T) {
	t.Parallel()
	_, table, ok := strings.Cut(read(t, filepath.Join(root, "docs/conformance-mcs.md")), "\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("docs/conformance-mcs.md has no table")
	}
	rows := slices.Collect(strings.Lines(strings.TrimSpace(table)))
	if len(rows) != assertions {
		t.Errorf("the table has %d rows, and not %d", len(rows), assertions)
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		const columns = 4
		if len(cells) != columns {
			t.Fatalf("the row has %d cells, want %d: %s", len(cells), columns, row)
		}
		level, here, why := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])
		if level != "required" && level != "optional" {
			t.Errorf("the level is %q: %s", level, row)
		}
		named := shownBy.FindAllStringSubmatch(why, -1)
		switch here {
		case "shown", "in part":
			if len(named) == 0 {
				t.Errorf("no test shows it: %s", row)
			}
		case "differs":
			if why == "" {
				t.Errorf("it does not say why: %s", row)
			}
		case "needs a network", "needs DNS":
		default:
			t.Errorf("what is here is %q: %s", here, row)
		}
		for _, name := range named {
			if !isShown(t, name[1], name[2], name[3]) {
				t.Errorf("there is no test %s: %s", name[0], row)
			}
		}
	}
}

// isShown reports that there is a test, and a case of it if one is named.
func isShown(t *testing.T, folder, name, of string) bool {
	t.Helper()
	if pattern, ok := casesOf[name]; ok {
		_, err := os.Stat(filepath.Join(root, strings.Replace(pattern, "*", of, 1)))
		return of != "" && err == nil
	}
	if folder == "" {
		folder = "test/e2e"
	}
	return isTest(t, folder, name)
}
