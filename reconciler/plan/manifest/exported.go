package manifest

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// sayExported says what is left out of an object that was exported from a server.
func (w *writer) sayExported(o *object.Object) {
	gone := interpret.Pruned(o.Content())
	if len(gone) == 0 {
		return
	}
	d := diag.Diagnostic{
		Code: "exported", Severity: diag.Notice, Pos: o.Pos(),
		Message: fmt.Sprintf("%s was exported from a server; what that server set there is left out: %s", o.Ref(), strings.Join(gone, ", ")),
	}
	if interpret.Exported(o.Content()) {
		d.Hint = "to deliver it, remove uid, resourceVersion and managedFields from metadata; owners and labels with uids are never delivered"
	}
	w.report(d)
}
