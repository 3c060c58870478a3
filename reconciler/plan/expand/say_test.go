package expand

import (
	"testing"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhyAReleaseFails: by the first error that is about that release, and not by one about another with a longer name.
func TestWhyAReleaseFails(t *testing.T) {
	web := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: "web"}
	other, silent := web, web
	other.Name, silent.Name = "web-2", "silent"
	a := About{}
	at := func(line int, severity diag.Severity, message string) diag.Diagnostic {
		return diag.Diagnostic{Pos: diag.Pos{File: "a.yaml", Line: line}, Severity: severity, Message: message}
	}
	a.note(web, at(9, diag.Error, "the chart is not there"), at(1, diag.Warning, "it is old"))
	a.note(web, at(3, diag.Error, "the values are none"))
	a.note(other, at(1, diag.Error, "of another release"))
	a.note(silent, at(1, diag.Notice, "it is suspended"))
	for r, want := range map[object.Ref]string{web: "the values are none", other: "of another release", silent: "", {}: ""} {
		if got := a.Why(r); got != want {
			t.Errorf("%s fails because %q, want %q", r, got, want)
		}
	}
	if got := a.note(silent); got != nil || len(a[web]) != 3 || a[web][0].Pos.Line != 9 {
		t.Errorf("what is about %s is %v", web, a[web])
	}
}
