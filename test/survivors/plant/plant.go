// Package plant writes bugs into Go code, each behind a switch that is off.
//
// It goes by the shape of the code alone, as a compiler does before it knows types, so that what it writes need not compile where a comparison
// becomes another type than bool. The code does what it did before as long as no switch is on.
package plant

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Kind is what a bug does.
type Kind string

// The kinds.
const (
	Holds   Kind = "holds" // a condition is forgotten: it counts as true
	Fails   Kind = "fails" // a case is forgotten, or an error is dropped: its condition counts as false
	Bound   Kind = "bound" // a comparison holds for equals, and must not, or the other way round
	Removed Kind = "removed"
)

// Bug is one that was planted.
type Bug struct {
	ID   int
	File string
	Line int
	Kind Kind
	Text string // of the code, in one line
}

// File writes bugs into the text of a file. Their numbers begin with first, and the text asks the package at the path about them.
func File(name string, src []byte, path string, first int) (text []byte, bugs []Bug, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	f := &file{files: files, src: src, name: name, next: first}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, f.visit)
		}
	}
	if len(f.bugs) == 0 {
		return src, nil, nil
	}
	f.edits = append(f.edits, edit{at: f.offset(parsed.Name.End()), text: fmt.Sprintf("; import switches %q", path)})
	return f.written(), f.bugs, nil
}

// file is a file into which bugs are written.
type file struct {
	files *token.FileSet
	src   []byte
	name  string
	next  int // number
	bugs  []Bug
	edits []edit
}

// edit is text to insert. What closes something comes before what opens something at the same place, and the innermost first.
type edit struct {
	at     int
	text   string
	closes bool
}

func (f *file) written() []byte {
	var order []edit
	for _, e := range slices.Backward(f.edits) {
		if e.closes {
			order = append(order, e)
		}
	}
	for _, e := range f.edits {
		if !e.closes {
			order = append(order, e)
		}
	}
	slices.SortStableFunc(order, func(a, b edit) int { return a.at - b.at })
	var b bytes.Buffer
	at := 0
	for _, e := range order {
		b.Write(f.src[at:e.at])
		b.WriteString(e.text)
		at = e.at
	}
	b.Write(f.src[at:])
	return b.Bytes()
}

func (f *file) offset(p token.Pos) int { return f.files.Position(p).Offset }

// text is the code of a node.
func (f *file) text(n ast.Node) string { return string(f.src[f.offset(n.Pos()):f.offset(n.End())]) }

// bug notes one.
func (f *file) bug(n ast.Node, k Kind) (id int) {
	id = f.next
	f.next++
	f.bugs = append(f.bugs, Bug{ID: id, File: f.name, Line: f.files.Position(n.Pos()).Line, Kind: k, Text: strings.Join(strings.Fields(f.text(n)), " ")})
	return id
}

// around writes text before and after a node.
func (f *file) around(n ast.Node, before, after string) {
	f.edits = append(f.edits, edit{at: f.offset(n.Pos()), text: before}, edit{at: f.offset(n.End()), text: after, closes: true})
}

// visit plants bugs in a node, but for those below it.
func (f *file) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.condition(e)
				}
			}
		}
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			if b, ok := e.(*ast.BinaryExpr); ok && isBoolean(b.Op) {
				f.condition(e)
			}
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

func isBoolean(op token.Token) bool {
	return op == token.LAND || op == token.LOR || op.Precedence() == token.EQL.Precedence()
}

// condition plants bugs in one that decides: that it is forgotten, and that what it asks for is.
func (f *file) condition(e ast.Expr) {
	if !isOfError(e) { // a success that counts as an error is noticed
		f.counts(e, Holds)
	}
	f.counts(e, Fails)
	f.parts(e)
}

// counts has a condition count as one thing, whatever is so.
func (f *file) counts(e ast.Expr, k Kind) {
	f.around(e, fmt.Sprintf("switches.%s(%d, ", map[Kind]string{Holds: "Holds", Fails: "Fails"}[k], f.bug(e, k)), ")")
}

// isOfError reports a comparison of an error with nil.
func isOfError(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	x, isName := b.X.(*ast.Ident)
	y, isNil := b.Y.(*ast.Ident)
	return isName && isNil && y.Name == "nil" && strings.HasPrefix(strings.ToLower(x.Name), "err")
}

// forgotten is as what one of two conditions counts that is forgotten, and moved is what moves a bound.
var (
	forgotten = map[token.Token]Kind{token.LAND: Holds, token.LOR: Fails}
	moved     = map[token.Token]string{token.LSS: "Wider", token.GTR: "Wider", token.LEQ: "Narrower", token.GEQ: "Narrower"}
)

// parts plants bugs in what a condition is made of: one of several is forgotten, a bound is another one.
func (f *file) parts(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.parts(e.X)
	case *ast.UnaryExpr:
		f.parts(e.X)
	case *ast.BinaryExpr:
		if k, isOf := forgotten[e.Op]; isOf {
			for _, part := range []ast.Expr{e.X, e.Y} {
				f.counts(part, k)
				f.parts(part)
			}
		}
		if by, isOf := moved[e.Op]; isOf {
			f.bound(e, by)
		}
	}
}

// bound moves one, if it can be asked for twice.
func (f *file) bound(e *ast.BinaryExpr, name string) {
	if !isStill(e.X) || !isStill(e.Y) {
		return
	}
	f.around(e, fmt.Sprintf("switches.%s(%d, ", name, f.bug(e, Bound)), fmt.Sprintf(", %s == %s)", f.text(e.X), f.text(e.Y)))
}

// isStill reports an expression that does nothing.
func isStill(e ast.Expr) bool {
	is := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			is = is && ok && name.Name == "len"
		case *ast.FuncLit, *ast.UnaryExpr:
			is = false
		}
		return is
	})
	return is
}

// statements removes each that the compiler can do without.
func (f *file) statements(all []ast.Stmt) {
	for _, s := range all {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); !ok || isPanic(c) {
				continue
			}
		case *ast.AssignStmt:
			if name, ok := s.Lhs[0].(*ast.Ident); s.Tok == token.DEFINE || ok && name.Name == "_" {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt:
		default:
			continue
		}
		f.around(s, fmt.Sprintf("if !switches.On(%d) { ", f.bug(s, Removed)), " }")
	}
}

// isPanic reports what ends a function, so that the compiler wants it.
func isPanic(c *ast.CallExpr) bool {
	name, ok := c.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}
