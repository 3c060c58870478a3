package draw

import (
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// WrongKey says of an object that it stays as it is for want of the right random key.
func WrongKey(o *object.Object, path []any, message string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.RandomKey, Severity: diag.Error, Pos: o.FieldPos(path), Message: o.Ref().String() + ": " + message,
		Hint: "give the right one with --random-key-file; if it is lost, or known to somebody, publish once with another one and --rotate-random-key",
	}
}
