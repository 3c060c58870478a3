package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// heldBy matches a test that a page names: the folder that it is in, and its name.
var heldBy = regexp.MustCompile("`([a-z][a-z0-9/]*)\\.(Test[A-Za-z0-9]+)`")

// TestTheTableOfWhoMayDoWhatNamesTests reads the table of security.md: every line of it names a test that
// there is, and everybody who is to be in it is.
func TestTheTableOfWhoMayDoWhatNamesTests(t *testing.T) {
	_, section, ok := strings.Cut(read(t, filepath.Join("..", "..", "docs", "security.md")), "\n## Who may do what\n")
	if !ok {
		t.Fatal("security.md has no section of who may do what")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	people := []string{
		"a reader", "a stranger with a fork", "an author", "a maintainer", "an agent", "a cluster's administrator", "who writes the branches", "who holds the random key",
	}
	const header = 2 // lines
	n := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if n++; n <= header {
			continue
		}
		for i, who := range people {
			if strings.HasPrefix(line, "| "+who) {
				people = append(people[:i], people[i+1:]...)
				break
			}
		}
		named := heldBy.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test holds the line %s", line)
		}
		for _, name := range named {
			if !isTest(t, name[1], name[2]) {
				t.Errorf("there is no test %s in %s, which security.md names", name[2], name[1])
			}
		}
	}
	if len(people) > 0 {
		t.Errorf("the table has no lines of %v", people)
	}
}

// isTest reports that a folder has a test of a name.
func isTest(t *testing.T, folder, name string) bool {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") || strings.Contains(string(text), "\nfunc "+name+"(f *testing.F)") {
			return true
		}
	}
	return false
}
