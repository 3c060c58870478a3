package lua

import (
	"fmt"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// The intrinsics: what Compile puts in the place of syntax that allocates. Their
// names are none that a script can spell.
const (
	intrinsicConcat = "(concat)" // (concat)(a, b, ...) is a..b..
	intrinsicSet    = "(set)"    // (set)(t, k, v) does t[k] = v
	intrinsicTable  = "(table)"  // (table)(n, t) is t, which has n fields
	intrinsicKey    = "(key)"    // (key)(k) is k, a key in a new table
)

// maxDepth is how deep syntax may nest: the compiler calls itself for each level.
const maxDepth = 200

// rewriter goes once through a syntax tree, changes it in place, and notes the
// first error and the globals that are assigned.
type rewriter struct {
	defines map[string]bool
	depth   int
	err     *Error
}

// chunk rewrites a script, and puts before it
//
//	local (concat), (set), (table), (key) = ...
func (w *rewriter) chunk(stmts []ast.Stmt) []ast.Stmt {
	w.stmts(stmts)
	bind := &ast.LocalAssignStmt{
		Names: []string{intrinsicConcat, intrinsicSet, intrinsicTable, intrinsicKey},
		Exprs: []ast.Expr{&ast.Comma3Expr{}},
	}
	return append([]ast.Stmt{bind}, stmts...)
}

// deeper enters a node; leave it with w.depth--.
func (w *rewriter) deeper(at ast.PositionHolder) bool {
	w.depth++
	if w.depth > maxDepth && w.err == nil {
		w.err = &Error{Line: at.Line(), Message: fmt.Sprintf("the script nests more than %d deep", maxDepth)}
	}
	return w.err == nil
}

func (w *rewriter) stmts(stmts []ast.Stmt) {
	for i, s := range stmts {
		if w.deeper(s) {
			stmts[i] = w.stmt(s)
		}
		w.depth--
	}
}

// stmt rewrites a statement and returns what stands in its place.
func (w *rewriter) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return w.assign(s)
	case *ast.LocalAssignStmt:
		w.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.stmts(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = w.expr(s.Condition)
		w.stmts(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition = w.expr(s.Condition)
		w.stmts(s.Stmts)
	case *ast.IfStmt:
		s.Condition = w.expr(s.Condition)
		w.stmts(s.Then)
		w.stmts(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = w.expr(s.Init), w.expr(s.Limit), w.expr(s.Step)
		w.stmts(s.Stmts)
	case *ast.GenericForStmt:
		w.exprs(s.Exprs)
		w.stmts(s.Stmts)
	case *ast.FuncDefStmt:
		w.define(s.Name.Func)
		s.Name.Func, s.Name.Receiver = w.expr(s.Name.Func), w.expr(s.Name.Receiver)
		w.stmts(s.Func.Stmts)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	}
	return s
}

// define notes a name that is assigned to.
func (w *rewriter) define(target ast.Expr) {
	if name, ok := target.(*ast.IdentExpr); ok {
		w.defines[name.Value] = true
	}
}

func (w *rewriter) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = w.expr(e)
	}
}

// expr rewrites an expression, which may be nil, and returns what stands in its
// place.
func (w *rewriter) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	defer func() { w.depth-- }()
	if !w.deeper(e) {
		return e
	}
	switch e := e.(type) {
	case *ast.StringConcatOpExpr:
		return w.concat(e)
	case *ast.TableExpr:
		return w.table(e)
	case *ast.AttrGetExpr:
		e.Object, e.Key = w.expr(e.Object), w.expr(e.Key)
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = w.expr(e.Func), w.expr(e.Receiver)
		w.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = w.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = w.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = w.expr(e.Expr)
	case *ast.FunctionExpr:
		w.stmts(e.Stmts)
	}
	return e
}

// concat makes one call of a chain of concatenations.
func (w *rewriter) concat(e *ast.StringConcatOpExpr) ast.Expr {
	var parts []ast.Expr
	last := ast.Expr(e)
	for {
		chain, ok := last.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		parts = append(parts, w.expr(chain.Lhs))
		last = chain.Rhs
	}
	parts = append(parts, w.expr(last))
	adjust(parts[len(parts)-1])
	return intrinsic(e, intrinsicConcat, parts...)
}

// adjust cuts what an expression gives to one value, as an operator does.
func adjust(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
}

func (w *rewriter) table(e *ast.TableExpr) ast.Expr {
	for _, f := range e.Fields {
		f.Value = w.expr(f.Value)
		if f.Key = w.expr(f.Key); computed(f.Key) {
			f.Key = intrinsic(e, intrinsicKey, f.Key)
		}
	}
	size := &ast.NumberExpr{Value: strconv.Itoa(len(e.Fields))}
	return intrinsic(e, intrinsicTable, size, e)
}

// computed reports a key that may turn out to be a number.
func computed(key ast.Expr) bool {
	_, text := key.(*ast.StringExpr)
	return key != nil && !text
}

// intrinsic is a call at a place in the source. All of them give one value.
func intrinsic(at ast.PositionHolder, name string, args ...ast.Expr) *ast.FuncCallExpr {
	c := &ast.FuncCallExpr{Func: place(at, &ast.IdentExpr{Value: name}), Args: args}
	for _, arg := range args {
		if arg.Line() == 0 {
			place(at, arg)
		}
	}
	place(at, c)
	return c
}

// place gives a new node the position of an old one.
func place[N ast.PositionHolder](at ast.PositionHolder, n N) N {
	n.SetLine(at.Line())
	n.SetLastLine(max(at.Line(), at.LastLine()))
	return n
}
