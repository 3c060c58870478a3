package expand

import (
	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
)

// withoutImports leaves out the ServiceImports where something else makes what clusters import, and says so.
func withoutImports(config *render.ConfigSpec, objs []*object.Object) (rest []*object.Object, diags []diag.Diagnostic) {
	if config.Services.Endpoints != exchange.External {
		return objs, nil
	}
	for _, o := range objs {
		if !interpret.IsServiceImport(o) {
			rest = append(rest, o)
			continue
		}
		diags = append(diags, diag.Diagnostic{
			Code: diag.KindNotActing, Severity: diag.Warning, Pos: o.Origin(),
			Message: policies.Name(o) + " is not delivered: by spec.services.endpoints of " + render.ConfigFile + " something else makes what clusters import",
			Hint:    "remove it, or set spec.services.endpoints to apply",
		})
	}
	return rest, diags
}
