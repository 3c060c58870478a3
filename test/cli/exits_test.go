package cli

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// everyCommand stands in docs/exit-codes.md for all of them.
const everyCommand = "every command"

var (
	// row is a line of the table: a command, a status, and when.
	row = regexp.MustCompile("(?m)^\\| `?([a-z ]+?)`? \\| ([0-9]) \\| (.*) \\|$")
	// told is a status in the help of a command.
	told = regexp.MustCompile(`(?m)^  ([0-9])  (.*)$`)
	// listed is a command in the help of the program.
	listed = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)
	// shown begins the part of a script that shows a status.
	shown = regexp.MustCompile(`^# ([a-z]+) ([0-9]): (.*)\n`)
)

// TestExitCodes holds the table of docs/exit-codes.md to the help of every command, and to
// the scripts exit-*.txt here and in test/e2e: they have a part for each row, in which the command ends so.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	table := map[string][]string{} // by command: its rows, as in the help
	doc := read(t, "../../docs/exit-codes.md")
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		table[m[1]] = append(table[m[1]], m[2]+": "+m[3])
	}
	delete(table, everyCommand)
	commands := listed.FindAllStringSubmatch(ends(t, 0, "--help"), -1)
	if len(commands) < 10 {
		t.Fatalf("the help lists only %v", commands)
	}
	helps := map[string][]string{}
	for _, m := range commands {
		name := m[1]
		help := ends(t, 0, name, "--help")
		ends(t, 2, name, "--nonsense")
		_, help, _ = strings.Cut(help, "\nExit status:\n")
		help, _, _ = strings.Cut(help, "\n\n")
		for _, m := range told.FindAllStringSubmatch(help, -1) {
			helps[name] = append(helps[name], m[1]+": "+m[2])
		}
	}
	if diff := cmp.Diff(table, helps); diff != "" {
		t.Errorf("docs/exit-codes.md and --help differ (-table +help):\n%s", diff)
	}
	if diff := cmp.Diff(table, scripted(t)); diff != "" {
		t.Errorf("docs/exit-codes.md and the scripts exit-*.txt differ (-table +scripts):\n%s", diff)
	}
}

// scripted returns the statuses that the scripts show, by command, in the order of the
// codes, as they do not follow the table. A part that does not run its command shows none.
func scripted(t *testing.T) map[string][]string {
	t.Helper()
	scripts, err := filepath.Glob("../*/testdata/exit-*.txt") // those that need servers are in test/e2e
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, name := range scripts {
		var command, code, when string
		for line := range strings.Lines(string(txtar.Parse([]byte(read(t, name))).Comment)) {
			if m := shown.FindStringSubmatch(line); m != nil {
				command, code, when = m[1], m[2], m[3]
				continue
			}
			run := regexp.MustCompile(`(^|\] )exits ` + code + ` .*\bwaybill ` + command + `\b`)
			if status := code + ": " + when; command != "" && run.MatchString(line) && !slices.Contains(all[command], status) {
				all[command] = append(all[command], status)
			}
		}
	}
	for _, statuses := range all {
		slices.SortStableFunc(statuses, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	}
	return all
}

// ends runs waybill, which must end with a status, and returns what it prints.
func ends(t *testing.T, status int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("waybill %s: the status is %d (%v), want %d:\n%s", strings.Join(args, " "), got, err, status, out)
	}
	return string(out)
}
