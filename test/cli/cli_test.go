// Package cli runs the commands as people do: each file of testdata is a script
// with what it must print. "go test ./test/cli -update" rewrites the files that a
// script compares with.
package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

func TestScripts(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "waybill")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", bin, "github.com/waybill-dev/waybill/cmd/waybill")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("EXAMPLES", examples)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(e.WorkDir, ".gitconfig"))
			e.Setenv("GIT_AUTHOR_DATE", "2026-11-21T00:00:00Z")
			e.Setenv("GIT_COMMITTER_DATE", "2026-11-21T00:00:00Z")
			return os.WriteFile(filepath.Join(e.WorkDir, ".gitconfig"), []byte("[user]\n\tname = t\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"), 0o600)
		},
	})
}
