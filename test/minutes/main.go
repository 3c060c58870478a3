// Minutes writes into docs/testing.md how long a run of .ci/run took: its steps, and the tests on
// real servers that took longest. It reads what the run left in a folder: a file steps, with a line of
// seconds and a command for each step, and one for all, and what go test -json printed, in files *.json.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The marks in the page between which the tables stand.
const (
	begin = "<!-- minutes: written by make minutes -->\n"
	end   = "<!-- end of minutes -->\n"
)

func main() {
	folder := flag.String("run", "bin/ci", "folder of what .ci/run left")
	page := flag.String("page", "docs/testing.md", "page to write to")
	flag.Parse()
	if err := write(*folder, *page); err != nil {
		fmt.Fprintln(os.Stderr, "minutes:", err)
		os.Exit(1)
	}
}

// write puts the tables of a run into a page.
func write(folder, page string) error {
	tables, err := read(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("reading %s, which .ci/run writes: %w", folder, err)
	}
	text, err := os.ReadFile(filepath.Clean(page))
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the lines %q and %q", page, begin, end)
	}
	var b bytes.Buffer
	b.Write(before)
	_, _ = io.WriteString(&b, begin)
	tables.print(&b)
	_, _ = io.WriteString(&b, end)
	b.Write(after)
	const mode = 0o644
	return os.WriteFile(page, b.Bytes(), mode)
}
