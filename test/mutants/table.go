package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is a bug to plant.
type Mutant struct {
	Name string // what is wrong then
	In   string // folder below which Old is once, in a file that is no test
	Old  string
	New  string
	// Test is the one that has to fail, with the subtests of which only one is run after slashes, and Below the folder
	// below which it is.
	Test, Below string
}

// read reads a list, or those of a folder in the order of their names.
func read(path string) (all []Mutant, err error) {
	names := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(path, "*.txt")); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return nil, err
		}
		some, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// The lines that part a list.
const (
	head = "== "   // before a name
	from = "---\n" // before the text of the code
	to   = "+++\n" // before the other one
)

// parse reads a list: of each bug its name, its folder and its test, and the two texts.
func parse(list string) (all []Mutant, err error) {
	_, list, _ = strings.Cut("\n"+list, "\n"+head)
	for part := range strings.SplitSeq(list, "\n"+head) {
		name, rest, _ := strings.Cut(part, "\n")
		places, texts, ok := strings.Cut("\n"+rest, "\n"+from)
		old, planted, ok2 := strings.Cut("\n"+texts, "\n"+to)
		if !ok || !ok2 {
			return nil, fmt.Errorf("%q lacks a line --- before the text of the code, or a line +++ before the other one", name)
		}
		m := Mutant{Name: name, Old: strings.TrimPrefix(old, "\n"), New: strings.TrimRight(planted, "\n")}
		for line := range strings.Lines(places) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "":
			case "in":
				m.In = value
			case "test":
				m.Below, m.Test, _ = strings.Cut(value, " ")
			default:
				return nil, fmt.Errorf("%q says %q of itself; want in: FOLDER and test: FOLDER TEST", name, line)
			}
		}
		if m.In == "" || m.Test == "" || m.Old == "" || m.Old == m.New {
			return nil, fmt.Errorf("%q lacks a folder, a test, or two texts that differ", name)
		}
		all = append(all, m)
	}
	return all, nil
}

// code is the text of the Go files of a module, by their paths from its root.
type code map[string]string

// readCode reads the Go files below a root.
func readCode(root string) (code, error) {
	c := code{}
	return c, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(filepath.Clean(path)) //nolint:gosec // of the work tree, which is ours
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		c[filepath.ToSlash(rel)] = string(text)
		return err
	})
}

// place is where a bug is planted, and where its test is.
type place struct {
	file string
	test string // folder
}

// find finds where a bug is planted, and where its test is.
func (c code) find(m Mutant) (p place, err error) {
	times := 0
	test, _, _ := strings.Cut(m.Test, "/")
	var tests []string
	for path, text := range c {
		isTest := strings.HasSuffix(path, "_test.go")
		if n := strings.Count(text, m.Old); !isTest && below(path, m.In) && n > 0 {
			p.file, times = path, times+n
		}
		if isTest && below(path, m.Below) && strings.Contains(text, "\nfunc "+test+"(t *testing.T)") {
			tests = append(tests, filepath.Dir(path))
		}
	}
	slices.Sort(tests)
	switch {
	case times == 0:
		err = errors.New("its text is no longer in the code below " + m.In)
	case times > 1:
		err = fmt.Errorf("its text is %d times in the code below %s", times, m.In)
	case len(tests) != 1:
		err = fmt.Errorf("its test %s is %d times below %s %v", m.Test, len(tests), m.Below, tests)
	default:
		p.test = tests[0]
	}
	if err != nil {
		return p, fmt.Errorf("the bug %q: %w; mend the list in test/mutants/table", m.Name, err)
	}
	return p, nil
}

func below(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }
