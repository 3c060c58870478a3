// Package cli runs the commands as people do: each file of testdata is a script
// with what it must print. "go test ./test/cli -update" rewrites the files that a
// script compares with.
package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/test/exits"
	"github.com/waybill-dev/waybill/test/program"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

// binary is the program.
var binary string

func TestMain(m *testing.M) {
	testscript.Main(program.Tests{M: m, Path: &binary}, map[string]func(){"unwalled": unwalled})
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	refusing := refusingForge(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits.With, "tells": tells},
		Condition: func(name string) (bool, error) {
			if name != "walls" { // the kernel has what a sandbox needs
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return hasWalls(), nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("GOGC", os.Getenv("GOGC")) // what lives for a moment need not collect garbage
			e.Setenv("EXAMPLES", examples)
			e.Setenv("REFUSING", refusing)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(e.WorkDir, ".gitconfig"))
			e.Setenv("GIT_AUTHOR_DATE", "2026-11-21T00:00:00Z")
			e.Setenv("GIT_COMMITTER_DATE", "2026-11-21T00:00:00Z")
			return os.WriteFile(filepath.Join(e.WorkDir, ".gitconfig"), []byte("[user]\n\tname = t\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"), 0o600)
		},
	})
}

// hiding matches what runs a command and does not tell all of its statuses apart.
var hiding = regexp.MustCompile(`^(![ \t]*exec[ \t]+waybill|exec[ \t]+(sh|bash)\b.*(waybill[ \t]|\|\||; *true)|\?)`)

// TestScriptsTellStatusesApart makes sure that a command which crashes fails its script.
func TestScriptsTellStatusesApart(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("../*/testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are %d scripts: %v", len(scripts), err)
	}
	for _, name := range scripts {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(archive.Comment)) {
			if n++; hiding.MatchString(line) {
				t.Errorf("%s:%d: %swould pass if waybill crashed; write exits STATUS waybill ...", name, n, line)
			}
		}
	}
}
