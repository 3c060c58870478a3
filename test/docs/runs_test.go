package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestPages runs the blocks of every page.
func TestPages(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, page := range pages(t) {
		text := read(t, page)
		blocks, _ := Read(text)
		if !hasShell(blocks) {
			continue
		}
		ran++
		t.Run(title(page), func(t *testing.T) {
			t.Parallel()
			r := newReader(t, title(page))
			var printed string
			for i, b := range blocks {
				switch b.Language {
				case "sh":
					printed = r.types(t, page, b)
				case "output":
					switch {
					case matches(b.Text, printed):
					case *update && !strings.Contains("\n"+b.Text, "\n...\n"):
						blocks[i].Text = printed
					default:
						t.Errorf("%s:%d: the block above prints otherwise (-page +program):\n%s", page, b.Line, cmp.Diff(b.Text, printed))
					}
				}
			}
			if *update && !t.Failed() {
				rewrite(t, page, text, blocks)
			}
		})
	}
	if ran == 0 {
		t.Error("no page has a block that runs")
	}
}

func hasShell(blocks []Block) bool {
	for _, b := range blocks {
		if b.Language == "sh" {
			return true
		}
	}
	return false
}

// A reader follows a page in a folder of its own.
type reader struct{ dir, memory string }

func newReader(t *testing.T, title string) reader {
	t.Helper()
	home := t.TempDir()
	var setup string
	r := reader{dir: filepath.Join(home, "work"), memory: filepath.Join(home, "memory")}
	files := []txtar.File{{Name: "../.gitconfig", Data: []byte("[user]\n\tname = reader\n\temail = reader@example.com\n[advice]\n\tdetachedHead = false\n")}}
	if archive, err := txtar.ParseFile(filepath.Join("testdata", title+".txt")); err == nil {
		files = append(files, archive.Files...)
		setup = string(archive.Comment)
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(r.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	r.remember(t, fmt.Sprintf("cd '%s'\nexport PATH='%s' HOME='%s' XDG_CACHE_HOME='%[3]s/.cache' GIT_CONFIG_GLOBAL='%[3]s/.gitconfig' WAYBILL='%s'\n"+
		"export GIT_AUTHOR_DATE=2026-11-21T00:00:00Z GIT_COMMITTER_DATE=2026-11-21T00:00:00Z\n",
		r.dir, filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"), home, examples))
	r.types(t, "the setup of "+title, Block{Exit: "0", Text: setup})
	return r
}

func (r reader) remember(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(r.memory, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// types runs one block, in the folder and with the variables in which the one before it ended, and
// returns what a terminal would show.
func (r reader) types(t *testing.T, page string, b Block) string {
	t.Helper()
	script := ". '" + r.memory + "'\ntrap '{ echo \"cd \\\"$PWD\\\"\"; export -p; } > \"" + r.memory + "\"' EXIT\nset -e\n" + b.Text
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != b.Exit {
		t.Fatalf("%s:%d: the block ends with status %s and not %s (%v):\n%s\n%s", page, b.Line, got, b.Exit, err, b.Text, out)
	}
	return trailing.ReplaceAllString(strings.ReplaceAll(string(out), r.dir, "/home/you"), "\n")
}

// trailing finds the spaces that tables end with, which no page has.
var trailing = regexp.MustCompile(` +\n`)

// commit finds the names of commits, which tell the version of the program, and that of the tests has none.
var commit = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

// matches says whether a page shows what was printed, whatever commits are called.
func matches(shown, printed string) bool {
	shown, printed = commit.ReplaceAllString(shown, "COMMIT"), commit.ReplaceAllString(printed, "COMMIT")
	pattern := "\n" + regexp.QuoteMeta(shown)
	pattern = strings.ReplaceAll(pattern, "\n"+regexp.QuoteMeta("...")+"\n", "\n(?:.*\n)*")
	return regexp.MustCompile("^" + pattern + "$").MatchString("\n" + printed)
}

// rewrite puts the texts of blocks into a page.
func rewrite(t *testing.T, page, text string, blocks []Block) {
	t.Helper()
	var out strings.Builder
	n, i, inside := 0, 0, false
	for line := range strings.Lines(text) {
		n++
		isFence := strings.HasPrefix(line, "```")
		if !inside || isFence {
			out.WriteString(line)
		}
		switch {
		case isFence && !inside:
			out.WriteString(blocks[i].Text)
			inside = true
		case isFence:
			inside = false
			i++
		}
	}
	if out.String() != text {
		if err := os.WriteFile(page, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
