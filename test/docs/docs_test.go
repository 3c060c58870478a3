package docs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/test/program"
)

var update = flag.Bool("update", false, "rewrite the outputs that pages show")

// root is the top of the repository.
const root = "../.."

// binary is the program.
var binary string

func TestMain(m *testing.M) {
	testscript.Main(program.Tests{M: m, Path: &binary}, nil)
}

// pages are README.md, its neighbours and what is in docs, but for the page that the program writes.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if filepath.Base(name) != "commands.md" {
				found = append(found, name)
			}
		}
	}
	if len(found) < 20 {
		t.Fatalf("there are %d pages; %s is no root of the repository", len(found), root)
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// title is how a page is called in a test: "README", or "tutorial".
func title(page string) string { return strings.TrimSuffix(filepath.Base(page), ".md") }
