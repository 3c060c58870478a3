package compare

import (
	"github.com/waybill-dev/waybill/render/diag"
)

// divide tells what is wrong with a head and not with its base from what is wrong with both. Lines of a file
// move, so that a diagnostic is known by its code, its file and what it says of which object. What the guard
// holds is said by itself.
func divide(base, head []diag.Diagnostic) (fresh, already []diag.Diagnostic) {
	type key struct {
		code          diag.Code
		file, message string
	}
	of := func(d diag.Diagnostic) key { return key{d.Code, d.Pos.File, d.Message} }
	there := map[key]bool{}
	for _, d := range base {
		there[of(d)] = true
	}
	for _, d := range head {
		switch {
		case d.Code == diag.Held:
		case !there[of(d)]:
			fresh = append(fresh, d)
		case d.Severity > diag.Notice:
			already = append(already, d)
		}
	}
	return fresh, already
}
