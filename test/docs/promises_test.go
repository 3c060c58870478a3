package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unpromising are the pages that promise nothing by themselves: they are looked up, or are about the work
// on Waybill.
var unpromising = []string{
	"README.md", "architecture.md", "commands.md", "diagnostics.md", "e2e-long.md", "exit-codes.md", "karmada.md", "releasing.md", "testing.md",
	"troubleshooting.md",
}

// promise is a row of the table of docs/testing.md: what is promised, and the packages and tests
// that hold it.
type promise struct {
	text                   string
	packages, e2e, onlyAll []string // onlyAll: tests that make e2e-all alone runs
}

var (
	quoted = regexp.MustCompile("`([^`]*)`")
	linked = regexp.MustCompile(`\]\(([a-z0-9-]+\.md)[)#]`)
)

// promises reads the table.
func promises(t *testing.T) (all []promise) {
	t.Helper()
	_, section, ok := strings.Cut(read(t, filepath.Join(root, "docs/testing.md")), "\n## Promises and their tests\n")
	if !ok {
		t.Fatal("docs/testing.md has no table of promises")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	names := func(cell string) (found []string) {
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			found = append(found, m[1])
		}
		return found
	}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise |") {
			continue
		}
		const columns = 4
		if len(cells) != columns {
			t.Fatalf("the row has %d cells, want %d: %s", len(cells), columns, line)
		}
		all = append(all, promise{strings.TrimSpace(cells[0]), names(cells[1]), names(cells[2]), names(cells[3])})
	}
	if len(all) == 0 {
		t.Fatal("the table of promises is empty")
	}
	return all
}

// TestPromisesAreHeld holds the table of promises against the tests that there are.
func TestPromisesAreHeld(t *testing.T) {
	t.Parallel()
	tests, named, pages := realTests(t), map[string]bool{}, map[string]bool{}
	for _, p := range promises(t) {
		for _, m := range linked.FindAllStringSubmatch(p.text, -1) {
			pages[m[1]] = true
		}
		for _, pkg := range p.packages {
			if found, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go")); err != nil || len(found) == 0 {
				t.Errorf("%s\nthere are no tests in %s", p.text, pkg)
			}
		}
		if len(p.e2e) == 0 && !strings.HasPrefix(p.text, "Measured: ") {
			t.Errorf("%s\nis promised, and no test of make e2e holds it", p.text)
		}
		for isLong, names := range map[bool][]string{false: tests.each(p.e2e), true: p.onlyAll} {
			for _, name := range names {
				named[name] = true
				if long, ok := tests.long[name]; !ok {
					t.Errorf("%s\nthere is no test %s", p.text, name)
				} else if long != isLong {
					t.Errorf("%s\n%s stands in the wrong column: that it is skipped with -short is %t", p.text, name, long)
				}
			}
		}
	}
	for name := range tests.long {
		if !named[name] {
			t.Errorf("docs/testing.md does not name %s: add it to the row of what it holds", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !pages[name] && !slices.Contains(unpromising, name) {
			t.Errorf("the table of promises in docs/testing.md does not link docs/%s", name)
		}
	}
}

// e2eTests are the tests of make e2e.
type e2eTests struct {
	long map[string]bool     // by name: -short skips it as a whole
	in   map[string][]string // the names by package
}

// each returns names, in which a package stands for its tests.
func (r e2eTests) each(names []string) (all []string) {
	for _, name := range names {
		if in, ok := r.in[name]; ok {
			all = append(all, in...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// realTests reads the tests of make e2e.
func realTests(t *testing.T) e2eTests {
	t.Helper()
	all := e2eTests{map[string]bool{}, map[string][]string{}}
	for _, dir := range []string{"test/e2e", "test/attack", "test/registries", "test/hostile", "test/canaries", "test/publish"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(data), "//go:build e2e") {
				continue // it is run by make test
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
					all.long[f.Name.Name] = skipsShort(f)
					all.in[dir] = append(all.in[dir], f.Name.Name)
				}
			}
		}
	}
	if len(all.long) == 0 {
		t.Fatal("there are no tests on real servers")
	}
	return all
}

// skipsShort says whether a test begins with if testing.Short() and a skip.
func skipsShort(f *ast.FuncDecl) bool {
	if len(f.Body.List) == 0 {
		return false
	}
	check, ok := f.Body.List[0].(*ast.IfStmt)
	if !ok || !calls(check.Cond, "Short") || len(check.Body.List) != 1 {
		return false
	}
	skip, ok := check.Body.List[0].(*ast.ExprStmt)
	return ok && calls(skip.X, "Skip")
}

// calls says whether an expression calls a function or method of a name.
func calls(e ast.Expr, name string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == name
}
