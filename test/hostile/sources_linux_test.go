//go:build e2e && !race

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/test/program"
)

// A source is a repository that is hostile to the main process, which has no walls: what
// it reads before anything is rendered, and what it does afterwards. Each is a txtar file
// in testdata/sources, whose comment says what it tries and how much memory the product
// has for it, "memory: 400 MiB". Sections are as in fixtures; @diagnostics is what
// "waybill validate" says.
type source struct {
	fixture

	memory uint64 // bytes
}

// limitedChild is the argument upon which this test binary limits its memory, to so many
// bytes, and becomes the program that follows.
const limitedChild = "hostile-limited"

func sourcesOf(t *testing.T) []source {
	t.Helper()
	paths, err := filepath.Glob("testdata/sources/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are %d sources: %v", len(paths), err)
	}
	all := make([]source, 0, len(paths))
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := source{fixture: fixture{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: archive}}
		for line := range strings.Lines(string(archive.Comment)) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), "memory: "); ok {
				n, err := strconv.ParseUint(strings.TrimSuffix(text, " MiB"), 10, 64)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				s.memory = n << 20
			}
		}
		if s.memory == 0 {
			t.Fatalf("%s does not say how much memory it may take", path)
		}
		all = append(all, s)
	}
	return all
}

// TestTheMainProcessSurvivesSources validates each source with the program that users run.
func TestTheMainProcessSurvivesSources(t *testing.T) {
	waybill := program.Build(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sourcesOf(t) {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			unpack(t, s.files(t, strings.NewReplacer()), dir)
			cmd := exec.CommandContext(t.Context(), program, limitedChild, strconv.FormatUint(s.memory, 10), waybill, "validate", ".")
			cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 || !cmd.ProcessState.Exited() {
				t.Errorf("it ended with %v:\n%.2000s", err, said.String())
				return
			}
			s.compare(t, readable(said.String()))
		})
	}
}

// limited takes the limit on and becomes the program.
func limited(args []string) error {
	bytes, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		return fmt.Errorf("limiting memory: %w", err)
	}
	return syscall.Exec(args[1], args[1:], os.Environ())
}

func TestALimitedChildIsLimited(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, limitedChild, strconv.Itoa(256<<20), "/bin/sh", "-c", "ulimit -d").CombinedOutput()
	if diff := cmp.Diff("262144\n", string(out)); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
