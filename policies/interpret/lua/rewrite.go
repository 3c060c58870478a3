package lua

import (
	"fmt"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// The intrinsics: what Compile puts in the place of syntax that allocates, or that takes
// longer the longer a text or a table is. Their names are none that a script can spell.
const (
	intrinsicConcat  = "(concat)"  // (concat)(a, b, ...) is a..b..
	intrinsicSet     = "(set)"     // (set)(t, k, v) does t[k] = v
	intrinsicTable   = "(table)"   // (table)(n, t) is t, which has n fields
	intrinsicKey     = "(key)"     // (key)(k) is k, a key in a new table
	intrinsicRead    = "(read)"    // (read)(v) is v, which something goes over
	intrinsicClosure = "(closure)" // (closure)(n) is nothing, before n functions are made
)

var intrinsics = []string{intrinsicConcat, intrinsicSet, intrinsicTable, intrinsicKey, intrinsicRead, intrinsicClosure}

// How deep syntax may nest, for the compiler calls itself for each level; and how long
// names, and literals that are not read as a whole, may be, in bytes.
const (
	maxDepth = 200
	maxName  = 500
)

// openEnded is what the number of fields of a constructor grows by that ends in a call or in
// "...": as much as that may bring.
const openEnded = registrySize

// rewriter goes once through a syntax tree, changes it in place, and notes the
// first error and the globals that are assigned.
type rewriter struct {
	defines  map[string]bool
	depth    int
	closures int // that the statement under way makes
	err      *Error
}

// chunk rewrites a script, and binds the intrinsics before it, as in
//
//	local (concat), (set) = ...
func (w *rewriter) chunk(stmts []ast.Stmt) []ast.Stmt {
	bind := &ast.LocalAssignStmt{Names: intrinsics, Exprs: []ast.Expr{&ast.Comma3Expr{}}}
	return append([]ast.Stmt{bind}, w.stmts(stmts)...)
}

// deeper enters a node; leave it with w.depth--.
func (w *rewriter) deeper(at ast.PositionHolder) bool {
	w.depth++
	if w.depth > maxDepth && w.err == nil {
		w.err = &Error{Line: at.Line(), Message: fmt.Sprintf("the script nests more than %d deep", maxDepth)}
	}
	return w.err == nil
}

// stmts rewrites statements. Before one that makes functions stands a call that pays for
// them.
func (w *rewriter) stmts(stmts []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(stmts))
	outer := w.closures
	for _, s := range stmts {
		w.closures = 0
		if w.deeper(s) {
			s = w.stmt(s)
		}
		w.depth--
		out = w.paid(out, s)
		out = append(out, s)
	}
	w.closures = outer
	return out
}

// paid appends what pays for the functions that the statement under way makes.
func (w *rewriter) paid(stmts []ast.Stmt, at ast.PositionHolder) []ast.Stmt {
	if w.closures == 0 {
		return stmts
	}
	count := &ast.NumberExpr{Value: strconv.Itoa(w.closures)}
	return append(stmts, place(at, &ast.FuncCallStmt{Expr: intrinsic(at, intrinsicClosure, count)}))
}

// stmt rewrites a statement and returns what stands in its place.
func (w *rewriter) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return w.assign(s)
	case *ast.LocalAssignStmt:
		w.names(s, s.Names...)
		w.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = w.expr(s.Expr)
	case *ast.DoBlockStmt:
		s.Stmts = w.stmts(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = w.expr(s.Condition)
		s.Stmts = append(w.paid(nil, s), w.stmts(s.Stmts)...)
	case *ast.RepeatStmt:
		s.Condition = w.expr(s.Condition)
		s.Stmts = append(w.paid(nil, s), w.stmts(s.Stmts)...)
	case *ast.IfStmt:
		s.Condition = w.expr(s.Condition)
		s.Then, s.Else = w.stmts(s.Then), w.stmts(s.Else)
	case *ast.NumberForStmt:
		w.names(s, s.Name)
		s.Init, s.Limit, s.Step = w.read(w.expr(s.Init)), w.read(w.expr(s.Limit)), w.read(w.expr(s.Step))
		s.Stmts = w.stmts(s.Stmts)
	case *ast.GenericForStmt:
		w.names(s, s.Names...)
		w.exprs(s.Exprs)
		s.Stmts = w.stmts(s.Stmts)
	case *ast.FuncDefStmt:
		w.define(s.Name.Func)
		w.names(s, s.Name.Method)
		s.Name.Func, s.Name.Receiver = w.expr(s.Name.Func), w.expr(s.Name.Receiver)
		w.function(s.Func)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs)
	}
	return s
}

// function rewrites a function, which the statement under way makes.
func (w *rewriter) function(f *ast.FunctionExpr) {
	if f.ParList != nil {
		w.names(f, f.ParList.Names...)
	}
	f.Stmts = w.stmts(f.Stmts)
	w.closures++
}

// names refuses names that take long to look up.
func (w *rewriter) names(at ast.PositionHolder, names ...string) {
	for _, name := range names {
		if len(name) > maxName && w.err == nil {
			w.err = &Error{Line: at.Line(), Message: fmt.Sprintf("a name has %d bytes, more than %d", len(name), maxName)}
		}
	}
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
	case *ast.IdentExpr:
		w.names(e, e.Value)
	case *ast.StringConcatOpExpr:
		return w.concat(e)
	case *ast.TableExpr:
		return w.table(e)
	case *ast.AttrGetExpr:
		e.Object, e.Key = w.expr(e.Object), w.read(w.expr(e.Key))
	case *ast.FuncCallExpr:
		w.names(e, e.Method)
		e.Func, e.Receiver = w.expr(e.Func), w.expr(e.Receiver)
		w.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = w.expr(e.Lhs), w.expr(e.Rhs)
		if isLong(e.Lhs) && isLong(e.Rhs) { // no more is looked at than the shorter one has
			e.Lhs, e.Rhs = w.read(e.Lhs), w.read(e.Rhs)
		}
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = w.read(w.expr(e.Lhs)), w.read(w.expr(e.Rhs))
	case *ast.UnaryMinusOpExpr:
		e.Expr = w.read(w.expr(e.Expr))
	case *ast.UnaryNotOpExpr:
		e.Expr = w.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = w.read(w.expr(e.Expr))
	case *ast.FunctionExpr:
		w.function(e)
	}
	return e
}

// read pays for going over a value, if it may be long.
func (*rewriter) read(e ast.Expr) ast.Expr {
	if !isLong(e) {
		return e
	}
	adjust(e)
	return intrinsic(e, intrinsicRead, e)
}

// isLong reports an expression that may be a long text, or a table.
func isLong(e ast.Expr) bool {
	switch e := e.(type) {
	case nil, *ast.NumberExpr, *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.FunctionExpr,
		*ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr, *ast.UnaryNotOpExpr, *ast.RelationalOpExpr:
		return false
	case *ast.StringExpr:
		return len(e.Value) > maxName
	default:
		return true
	}
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
	n := len(e.Fields)
	if n > 0 && e.Fields[n-1].Key == nil && brings(e.Fields[n-1].Value) {
		n += openEnded
	}
	return intrinsic(e, intrinsicTable, &ast.NumberExpr{Value: strconv.Itoa(n)}, e)
}

// brings reports an expression that may give any number of values.
func brings(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	case *ast.Comma3Expr:
		return !e.AdjustRet
	}
	return false
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
