package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestEveryBugIsStillThere: what each bug puts another text for is once in the code, and so is the test that has to
// catch it. `make mutants` plants them.
func TestEveryBugIsStillThere(t *testing.T) {
	const least = 60
	all, err := read("table")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < least {
		t.Errorf("the list has %d bugs", len(all))
	}
	c, err := readCode("../..")
	if err != nil {
		t.Fatal(err)
	}
	names, rooms := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		at, err := c.find(m)
		if err != nil {
			t.Error(err)
			continue
		}
		text := c[at.file]
		if lost := unused(strings.Replace(text, m.Old, m.New, 1), unused(text, nil)); len(lost) > 0 {
			t.Errorf("the bug %q does not compile, because nothing uses the imports %v then; mend the list in test/mutants/table", m.Name, lost)
		}
		if names[m.Name] {
			t.Errorf("two bugs are called %q", m.Name)
		}
		room, _, _ := strings.Cut(at.file, "/")
		names[m.Name], rooms[room] = true, true
	}
	for _, room := range []string{"sources", "render", "policies", "reconciler", "cmd"} {
		if !rooms[room] {
			t.Errorf("there is no bug in %s", room)
		}
	}
}

// unused returns the imports that a file, as far as its text tells, does not use, without those that are known.
func unused(text string, known []string) (paths []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, i := range file.Imports {
		name := path.Base(strings.Trim(i.Path.Value, `"`))
		if i.Name != nil {
			name = i.Name.Name
		}
		if !used[name] && !slices.Contains(known, i.Path.Value) {
			paths = append(paths, i.Path.Value)
		}
	}
	return paths
}

// TestABugThatIsNotThere: a text that is not in the code, or is twice, and a test that is not, are told apart.
func TestABugThatIsNotThere(t *testing.T) {
	c := code{
		"a/a.go": "package a\nvar x, y = one, one\nvar z = two\n", "a/b/b.go": "package b\nvar x = two\n",
		"a/a_test.go": "package a\n\nfunc TestA(t *testing.T) {}\nvar w = three\n",
	}
	for _, tt := range []struct{ in, old, test, want string }{
		{"a", "z = two", "TestA", ""},
		{"a/b", "two", "TestA", ""},
		{"a", "= two", "TestA", "2 times in the code"},
		{"a", "one", "TestA", "2 times in the code"},
		{"a", "three", "TestA", "no longer in the code"},
		{"a", "z = two", "TestB", "its test TestB is 0 times"},
	} {
		_, err := c.find(Mutant{Name: "n", In: tt.in, Old: tt.old, Below: "a", Test: tt.test})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestParse(t *testing.T) {
	all, err := parse("a comment\n== first\nin: a/b\ntest: a TestA\n---\n\tone\n\ttwo\n+++\n\n== second\nin: c\ntest: d TestD\n---\nx\n+++\ny\n")
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if want := (Mutant{Name: "first", In: "a/b", Old: "\tone\n\ttwo", Below: "a", Test: "TestA"}); all[0] != want {
		t.Errorf("it is %+v", all[0])
	}
	if want := (Mutant{Name: "second", In: "c", Old: "x", New: "y", Below: "d", Test: "TestD"}); all[1] != want {
		t.Errorf("it is %+v", all[1])
	}
	for _, wrong := range []string{"== a\nin: b\ntest: c TestC\n---\nx\n", "== a\ntest: c TestC\n---\nx\n+++\ny\n", "== a\nin: b\ntest: c TestC\n---\nx\n+++\nx\n", "== a\nof: b\n---\nx\n+++\ny\n"} {
		if all, err := parse(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, all)
		}
	}
}
