package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	codesFile      = "../../render/diag/codes.go"
	diagnosticsDoc = "../../docs/diagnostics.md"
)

// code is a diagnostic code: a constant of render/diag.
type code struct{ name, value, comment string }

// codes lists the constants of render/diag, in their order.
func codes(t *testing.T) []code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), codesFile, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var found []code
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, code{v.Names[0].Name, value, strings.Join(strings.Fields(v.Doc.Text()), " ")})
		}
	}
	return found
}

// row is how the row of the code begins in docs/diagnostics.md. What helps stands behind it.
func (c code) row() string {
	text := strings.TrimPrefix(c.comment, c.name+": ")
	first, size := utf8.DecodeRuneInString(text)
	return "| `" + c.value + "` | " + string(unicode.ToUpper(first)) + text[size:] + " | "
}

// TestEveryDiagnosticIsExplained holds docs/diagnostics.md against the comments of the
// codes, word for word and in their order, and that it says of each what helps.
func TestEveryDiagnosticIsExplained(t *testing.T) {
	doc, err := os.ReadFile(diagnosticsDoc)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "| `") {
			cells := strings.SplitAfterN(line, " | ", 3)
			rows = append(rows, cells[0]+cells[1])
			if cure, ok := strings.CutSuffix(cells[len(cells)-1], " |\n"); len(cells) != 3 || !ok || len(cure) < len("Nothing.") || !strings.HasSuffix(cure, ".") {
				t.Errorf("docs/diagnostics.md does not say what helps: %s", line)
			}
		}
	}
	var want []string
	for _, c := range codes(t) {
		want = append(want, c.row())
		if !slices.Contains(rows, c.row()) {
			t.Errorf("docs/diagnostics.md lacks the row\n%swhat helps |", c.row())
		}
	}
	for _, r := range rows {
		if !slices.Contains(want, r) {
			t.Errorf("docs/diagnostics.md has a row that no code of render/diag has:\n%s", r)
		}
	}
	if !t.Failed() && !slices.Equal(rows, want) {
		t.Error("the rows of docs/diagnostics.md are in another order than the codes of render/diag, or one is there twice")
	}
}

// TestEveryDiagnosticCodeIsAConstant holds that each code is reported somewhere, and that
// none is made up where it is reported.
func TestEveryDiagnosticCodeIsAConstant(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if top(p.rel()) == "test" {
			continue
		}
		fset, files := syntax(t, p)
		takes := map[string]int{"Code": 0} // a conversion does
		for n := range nodes(files) {
			if fn, ok := n.(*ast.FuncDecl); ok {
				if i := codeParameter(fn); i >= 0 {
					takes[fn.Name.Name] = i
				}
			}
			if s, ok := n.(*ast.SelectorExpr); ok && isName(s.X, "diag") {
				used[s.Sel.Name] = true
			}
		}
		for n := range nodes(files) {
			if x := codeGiven(n, takes); isText(x) {
				t.Errorf("%s: a diagnostic code is a constant of render/diag", fset.Position(x.Pos()))
			}
		}
	}
	for _, c := range codes(t) {
		if !used[c.name] {
			t.Errorf("nothing reports %s", c.value)
		}
	}
}

// syntax parses the files of a package.
func syntax(t *testing.T, p pkg) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

// nodes visits everything in files.
func nodes(files []*ast.File) iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		for _, f := range files {
			for n := range ast.Preorder(f) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// codeParameter is the place of the parameter of type diag.Code; -1 for none.
func codeParameter(fn *ast.FuncDecl) int {
	i := 0
	for _, p := range fn.Type.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && isName(s.X, "diag") && s.Sel.Name == "Code" {
			return i
		}
		i += max(1, len(p.Names))
	}
	return -1
}

// codeGiven is the code that a field, a call or an assignment is given; nil for none. Takes
// are the functions of the package that take a code, and as which parameter.
func codeGiven(n ast.Node, takes map[string]int) ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if isName(n.Key, "Code") {
			return n.Value
		}
	case *ast.CallExpr:
		f := n.Fun
		if s, ok := f.(*ast.SelectorExpr); ok {
			f = s.Sel
		}
		if id, ok := f.(*ast.Ident); ok {
			if i, ok := takes[id.Name]; ok && i < len(n.Args) {
				return n.Args[i]
			}
		}
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			if s, ok := x.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" && i < len(n.Rhs) {
				return n.Rhs[i]
			}
		}
	}
	return nil
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

func isText(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}
