package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// least is how long a test takes that is shown.
const least = 10 * time.Second

// tables are how long the parts of a run took.
type tables struct {
	steps []part // in their order
	tests []part // the longest first
	again []string
}

// part is a step or a test.
type part struct {
	name string
	took time.Duration
}

// read reads what a run left.
func read(run fs.FS) (*tables, error) {
	t := &tables{}
	steps, err := fs.ReadFile(run, "steps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(steps)) {
		seconds, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		took, err := time.ParseDuration(seconds + "s")
		if err != nil {
			return nil, fmt.Errorf("steps: %w", err)
		}
		t.steps = append(t.steps, part{name, took})
	}
	files, err := fs.Glob(run, "*.json")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := t.addTests(run, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	slices.SortFunc(t.tests, func(a, b part) int { return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.name, b.name)) })
	slices.Sort(t.again)
	return t, nil
}

// event is as much of a line of go test -json as is read here.
type event struct {
	Action, Package, Test string
	Elapsed               float64 // seconds
}

// addTests adds the tests of a file. One that failed is one that was run again: the run went on.
func (t *tables) addTests(run fs.FS, file string) error {
	data, err := fs.ReadFile(run, file)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		took := time.Duration(e.Elapsed * float64(time.Second))
		switch {
		case e.Test == "" || strings.Contains(e.Test, "/"):
		case e.Action == "fail":
			t.again = append(t.again, e.Test)
		case e.Action == "pass" && took >= least:
			t.tests = append(t.tests, part{e.Test, took})
		}
	}
	return nil
}

// print prints the tables as Markdown.
func (t *tables) print(w io.Writer) {
	fmt.Fprint(w, "\n| step | minutes |\n|---|---|\n")
	for _, s := range t.steps {
		fmt.Fprintf(w, "| `%s` | %.1f |\n", s.name, s.took.Minutes())
	}
	fmt.Fprintf(w, "\n| test on real servers of %.0f seconds or more, several of which run at once | minutes |\n|---|---|\n", least.Seconds())
	for _, test := range t.tests {
		fmt.Fprintf(w, "| `%s` | %.1f |\n", test.name, test.took.Minutes())
	}
	again := "nothing"
	if len(t.again) > 0 {
		again = "`" + strings.Join(t.again, "`, `") + "`"
	}
	fmt.Fprintf(w, "\nRun again: %s.\n\n", again)
}
