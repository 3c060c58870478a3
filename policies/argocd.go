package policies

import (
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// HealthScripts reads the health scripts of a ConfigMap like Argo CD's argocd-cm. What is wrong with
// a script makes nothing else wrong: what it is about is judged by the next rule.
func HealthScripts(o *object.Object) (argocd.Scripts, []diag.Diagnostic) {
	fields, _ := o.Content()["data"].(map[string]any)
	data := make(map[string]string, len(fields))
	for key, v := range fields {
		data[key], _ = v.(string)
	}
	scripts, wrong := argocd.Read(o.Ref().Namespace+"/"+o.Ref().Name, data)
	var diags []diag.Diagnostic
	for _, m := range wrong {
		line := m.Line
		if m.Shared {
			line = 0 // it is of a script within the text
		}
		diags = append(diags, diag.Diagnostic{
			Code: diag.BadScript, Severity: diag.Error, Pos: o.LinePos([]any{"data", m.Key}, line),
			Message: Name(o) + ": " + m.String(), Hint: "mend the script; until then the next rule for the kind says what is healthy",
		})
	}
	return scripts, diags
}
