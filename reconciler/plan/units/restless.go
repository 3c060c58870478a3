package units

import (
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
)

// Restless says why a unit cannot go out in stages, because a release of it may give another result each time: what a cluster
// got would never be what it should have; false if none may.
func (u *Unit) Restless(x *expand.Result) (d diag.Diagnostic, is bool) {
	for _, r := range u.Refs {
		of, found := x.Restless[r]
		if !found {
			continue
		}
		return diag.Diagnostic{
			Code: diag.RolloutRestless, Severity: diag.Error,
			Pos: of.Release.FieldPos([]any{"metadata", "annotations", helm.AllowAnnotation}),
			Message: fmt.Sprintf("%s cannot go out in stages: %s may call %s, which gives another result each time; what the unit has stays as it is",
				u.Unit, of.Release.Ref(), of.Function),
			Hint: fmt.Sprintf("set the value that makes the call needless and take %s out of %s, or bind its policy to no strategy",
				of.Function, helm.AllowAnnotation),
		}, true
	}
	return d, false
}
