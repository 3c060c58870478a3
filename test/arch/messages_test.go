package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// cutters are the functions of package strings by which a message could be branched on, or data be read back from it.
var cutters = []string{"Contains", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix", "EqualFold", "Split", "Fields"}

// messages finds what compares or cuts a message that people read, by package: a field Message, or the text of an error.
// Messages of commits are meant as well; those that are read by their trailers are not cut.
func messages(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	for dir, files := range sources(t) {
		n := 0
		for _, s := range files {
			for node := range ast.Preorder(s.file) {
				if cuts(node) {
					n++
				}
			}
		}
		if n > 0 {
			count[dir] = n
		}
	}
	return count
}

// cuts reports a call of strings on a message, or a comparison of one with a text that is not empty.
func cuts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		return ok && isName(f.X, "strings") && slices.Contains(cutters, f.Sel.Name) && len(n.Args) > 0 && isMessage(n.Args[0])
	case *ast.BinaryExpr:
		lit, ok := n.Y.(*ast.BasicLit)
		return ok && (n.Op == token.EQL || n.Op == token.NEQ) && lit.Kind == token.STRING && lit.Value != `""` && isMessage(n.X)
	}
	return false
}

// isMessage reports x.Message, or err.Error().
func isMessage(x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Error" && len(call.Args) == 0
	}
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Message"
}
