package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codes are the ways in which the code names a diagnostic.
var codes = []*regexp.Regexp{
	regexp.MustCompile(`\b[Cc]ode: +"([a-z-]+)"`),
	regexp.MustCompile(`\breport\("([a-z-]+)"`),
	regexp.MustCompile(`\bo\.fail\("([a-z-]+)"`),
	regexp.MustCompile(`\bkeep\(t, previous, "([a-z-]+)"`),
	regexp.MustCompile(`\b(?:fail|warn)\(.*?"([a-z]+(?:-[a-z]+)+)"`),
	regexp.MustCompile(`^\t[a-zA-Z]+ += "([a-z]+-[a-z-]+)"$`),
	regexp.MustCompile(`\bd\.Code = diag\.[A-Z][a-z]+, "([a-z-]+)"`),
	regexp.MustCompile(`^const badConfig = "([a-z-]+)"$`),
}

// TestEveryDiagnosticIsExplained holds docs/diagnostics.md against the code, both
// ways.
func TestEveryDiagnosticIsExplained(t *testing.T) {
	doc, err := os.ReadFile("../../docs/diagnostics.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, root := range []string{"../../render", "../../policies", "../../reconciler"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "interpret") {
				return err
			}
			data, err := os.ReadFile(path)
			for line := range strings.SplitSeq(string(data), "\n") {
				for _, re := range codes {
					for _, m := range re.FindAllStringSubmatch(line, -1) {
						used[m[1]] = true
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`").FindAllStringSubmatch(string(doc), -1) {
		explained = append(explained, m[1])
	}
	for code := range used {
		if !slices.Contains(explained, code) {
			t.Errorf("docs/diagnostics.md does not explain %s", code)
		}
	}
	for _, code := range explained {
		if !used[code] {
			t.Errorf("docs/diagnostics.md explains %s, which nothing reports", code)
		}
	}
	if len(used) < 40 {
		t.Errorf("only %d codes were found", len(used))
	}
}
