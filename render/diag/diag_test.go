package diag_test

import (
	"testing"

	"github.com/waybill-dev/waybill/render/diag"
)

func TestTextOfStrangersPassesForNothingElse(t *testing.T) {
	d := diag.Diagnostic{
		Code: "helm", Severity: diag.Error, Pos: diag.Pos{File: "a\x1b[2J.yaml", Line: 3},
		Message: "it says \"\u202eno\"\n::error::forged\tand\r\x00 'quoted' größer", Hint: "mend it\x07",
	}
	want := "a\\x1b[2J.yaml:3: error: it says \"\\u202eno\"\n\t| ::error::forged\tand\\r\\x00 'quoted' größer [helm]\n\thint: mend it\\a"
	if got := d.String(); got != want {
		t.Errorf("String() = %q\nwant %q", got, want)
	}
}

// TestWhichErrorsMayPass: those of what is asked of others are worth another plan although nothing changed; what people wrote is not.
func TestWhichErrorsMayPass(t *testing.T) {
	for _, tt := range []struct {
		d    diag.Diagnostic
		want bool
	}{
		{diag.Diagnostic{Code: diag.ChartUnavailable, Severity: diag.Error}, true},
		{diag.Diagnostic{Code: diag.RenderFailed, Severity: diag.Error}, true},
		{diag.Diagnostic{Code: diag.StateUnreadable, Severity: diag.Error}, true},
		{diag.Diagnostic{Code: diag.ChartUnavailable, Severity: diag.Warning}, false},
		{diag.Diagnostic{Code: diag.BadConfig, Severity: diag.Error}, false},
		{diag.Diagnostic{Code: diag.OverrideFailed, Severity: diag.Error}, false},
	} {
		if got := tt.d.MayPass(); got != tt.want {
			t.Errorf("%s %s: %v", tt.d.Severity, tt.d.Code, got)
		}
	}
}
