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
