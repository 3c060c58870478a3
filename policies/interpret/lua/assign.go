package lua

import (
	"fmt"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// assign rewrites an assignment. One to fields or items becomes calls of (set): all
// that it reads is put into local variables first, as Lua wants it.
//
//	t[k] = v             (set)(t, k, v)
//
//	a[i], b = x, y       do
//	                         local (1), (2) = a, i
//	                         local (3), (4) = x, y
//	                         b = (4)
//	                         (set)((1), (2), (3))
//	                     end
func (w *rewriter) assign(s *ast.AssignStmt) ast.Stmt {
	indexed := false
	for i, target := range s.Lhs {
		w.define(target)
		s.Lhs[i] = w.expr(target)
		indexed = indexed || isIndexed(s.Lhs[i])
	}
	w.exprs(s.Rhs)
	switch {
	case !indexed:
		return s
	case len(s.Lhs) == 1 && len(s.Rhs) == 1:
		return setting(s, s.Lhs[0], s.Rhs[0])
	default:
		return spread(s)
	}
}

// isIndexed reports a field or an item.
func isIndexed(target ast.Expr) bool {
	_, ok := target.(*ast.AttrGetExpr)
	return ok
}

// setting is the statement that assigns v to a field or an item.
func setting(s *ast.AssignStmt, target, v ast.Expr) ast.Stmt {
	get, _ := target.(*ast.AttrGetExpr)
	return place(s, &ast.FuncCallStmt{Expr: intrinsic(s, intrinsicSet, get.Object, get.Key, v)})
}

// spread takes an assignment of several values apart. They are assigned from the
// last to the first, as gopher-lua does.
func spread(s *ast.AssignStmt) ast.Stmt {
	n := 0
	local := func() string { n++; return fmt.Sprintf("(%d)", n) }
	read := func(name string) ast.Expr { return place(s, &ast.IdentExpr{Value: name}) }

	places := place(s, &ast.LocalAssignStmt{})
	for i, target := range s.Lhs {
		get, ok := target.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		object, key := local(), local()
		places.Names = append(places.Names, object, key)
		places.Exprs = append(places.Exprs, get.Object, get.Key)
		s.Lhs[i] = place(s, &ast.AttrGetExpr{Object: read(object), Key: read(key)})
	}
	given := place(s, &ast.LocalAssignStmt{Exprs: s.Rhs})
	block := place(s, &ast.DoBlockStmt{Stmts: []ast.Stmt{places, given}})
	for range s.Lhs {
		given.Names = append(given.Names, local())
	}
	for i, target := range slices.Backward(s.Lhs) {
		v := given.Names[i]
		if _, ok := target.(*ast.AttrGetExpr); ok {
			block.Stmts = append(block.Stmts, setting(s, target, read(v)))
		} else {
			block.Stmts = append(block.Stmts, place(s, &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{read(v)}}))
		}
	}
	return block
}
