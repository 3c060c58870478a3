package build

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/helm"
)

// refuse notes that a function was called that is refused. Whether that matters shows
// when it is known what becomes of the output.
func (g *guard) refuse(s site) {
	if g.refusals[g.current()] != nil {
		return
	}
	r, _ := helm.Refused(s.function)
	what := "is not allowed: " + r.Why
	if helm.Allows(g.allow, s.function) { // as it must be to be drawn
		what, r.Hint = "draws from a random key, and none is given", r.Hint+"; or give one: --random-key-file"
	}
	g.refusals[g.current()] = s.fail(what, r.Hint)
}

// fail returns what is wrong with a call.
func (s site) fail(what, hint string) *helm.Error {
	if s.tpl > 0 {
		return &helm.Error{File: s.file, Line: s.tpl, Message: fmt.Sprintf("line %d of a text for tpl calls the function %s, which %s", s.line, s.function, what), Hint: hint}
	}
	return &helm.Error{File: s.file, Line: s.line, Message: fmt.Sprintf("the function %s %s", s.function, what), Hint: hint}
}
