package report_test

import (
	"io"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/test/reporting"
)

// golden holds a report against testdata/NAME.txtar.
func golden(t *testing.T, name string, r report.Report) {
	t.Helper()
	reporting.Golden(t, name, func(w io.Writer, format string) error { return r.Write(w, report.Format(format)) })
}

func TestDiagnosticsAreCounted(t *testing.T) {
	var b strings.Builder
	report.Diagnostics(&b, nil, report.Look{})
	if b.String() != "" {
		t.Errorf("no diagnostics print %q", b.String())
	}
	said := []diag.Diagnostic{
		{Code: "one", Severity: diag.Error, Pos: diag.Pos{File: "a.yaml", Line: 3}, Message: "it is wrong", Hint: "mend it"},
		{Code: "two", Severity: diag.Warning, Message: "it is odd"},
	}
	report.Diagnostics(&b, said, report.Look{})
	const want = "a.yaml:3: error: it is wrong [one]\n\thint: mend it\nwarning: it is odd [two]\n1 error, 1 warning, 0 notices\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
	b.Reset()
	report.Diagnostics(&b, said, report.Look{Quiet: true, Colour: true})
	const quiet = "a.yaml:3: \x1b[1m\x1b[31merror:\x1b[0m it is wrong [one]\n\thint: mend it\n"
	if b.String() != quiet {
		t.Errorf("printed %q, want %q", b.String(), quiet)
	}
}

// TestEqualDiagnosticsAreGrouped: what is said of many objects is written once, and is counted
// and kept for programs as often as it is so.
func TestEqualDiagnosticsAreGrouped(t *testing.T) {
	var ds []diag.Diagnostic
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		ds = append(ds, diag.Diagnostic{
			Code: diag.Helm, Severity: diag.Error, Pos: diag.Pos{File: name + ".yaml", Line: i + 1},
			Message: "HelmRelease.helm.toolkit.fluxcd.io/shop/" + name + ": the chart is gone from charts/" + name + ".yaml:7", Hint: "bring it back",
		})
	}
	ds = append(ds, diag.Diagnostic{Code: diag.Helm, Severity: diag.Error, Pos: diag.Pos{File: "f.yaml"}, Message: "HelmRelease.helm.toolkit.fluxcd.io/shop/f: it is late", Hint: "bring it back"})
	var b strings.Builder
	report.Diagnostics(&b, ds, report.Look{})
	want := `a.yaml:1: error: HelmRelease.helm.toolkit.fluxcd.io/shop/a: the chart is gone from charts/a.yaml:7 [helm]
	hint: bring it back
	and the same 4 times more, at b.yaml:2, c.yaml:3, d.yaml:4 and 1 more
f.yaml: error: HelmRelease.helm.toolkit.fluxcd.io/shop/f: it is late [helm]
	hint: bring it back
6 errors, 0 warnings, 0 notices
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	report.Diagnostics(&b, ds, report.Look{All: true})
	if n := strings.Count(b.String(), "the chart is gone"); n != 5 {
		t.Errorf("of all, %d are written:\n%s", n, b.String())
	}
	b.Reset()
	ds[2].Pos, ds[3].Pos = ds[1].Pos, ds[1].Pos
	report.Diagnostics(&b, ds, report.Look{})
	if !strings.Contains(b.String(), "and the same 4 times more, at b.yaml:2 (3), e.yaml:5\n") {
		t.Errorf("places are not counted:\n%s", b.String())
	}
	b.Reset()
	report.Diagnostics(&b, ds[:3], report.Look{})
	if n := strings.Count(b.String(), "the chart is gone"); n != 3 {
		t.Errorf("a few are written %d times, not each:\n%s", n, b.String())
	}
}
