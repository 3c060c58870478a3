package diag_test

import (
	"slices"
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

// TestString holds what is printed of a diagnostic that has not all of its parts.
func TestString(t *testing.T) {
	for want, d := range map[string]diag.Diagnostic{
		"a.yaml:3: error: wrong [c]\n\thint: mend it": {Code: "c", Severity: diag.Error, Pos: diag.Pos{File: "a.yaml", Line: 3}, Message: "wrong", Hint: "mend it"},
		"a.yaml: warning: wrong [c]":                  {Code: "c", Severity: diag.Warning, Pos: diag.Pos{File: "a.yaml"}, Message: "wrong"},
		"notice: wrong [c]":                           {Code: "c", Message: "wrong"},
	} {
		if got := d.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

// TestSaid holds that examples, and nothing else, are left out of what tells two findings apart.
func TestSaid(t *testing.T) {
	d := diag.Diagnostic{Message: "3 clusters (a, b) lack it (a, b)", Examples: " (a, b)"}
	if got, want := d.Said(), "3 clusters lack it (a, b)"; got != want {
		t.Errorf("Said() = %q, want %q", got, want)
	}
	d.Examples = ""
	if got := d.Said(); got != d.Message {
		t.Errorf("without examples Said() = %q", got)
	}
}

func TestSeverityText(t *testing.T) {
	for _, s := range []diag.Severity{diag.Notice, diag.Warning, diag.Error} {
		text, err := s.MarshalText()
		again := diag.Severity(-1)
		if err != nil || again.UnmarshalText(text) != nil || again != s {
			t.Errorf("%s is read back as %d", text, again)
		}
	}
	if s := diag.Warning; s.UnmarshalText([]byte("fatal")) == nil || s != diag.Warning {
		t.Errorf("a severity that is none is read as %s", s)
	}
}

// TestSort holds the order, and that the same is said once.
func TestSort(t *testing.T) {
	at := func(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line} }
	want := []diag.Diagnostic{
		{Pos: at("a.yaml", 1), Severity: diag.Error, Code: "z", Message: "z"},
		{Pos: at("a.yaml", 1), Severity: diag.Warning, Code: "a", Message: "z"},
		{Pos: at("a.yaml", 1), Severity: diag.Warning, Code: "b", Message: "a"},
		{Pos: at("a.yaml", 1), Severity: diag.Warning, Code: "b", Message: "b", Hint: "a"},
		{Pos: at("a.yaml", 1), Severity: diag.Warning, Code: "b", Message: "b", Hint: "b"},
		{Pos: at("a.yaml", 2), Severity: diag.Error, Code: "a", Message: "a"},
		{Pos: at("b.yaml", 1), Severity: diag.Error, Code: "a", Message: "a"},
	}
	all := slices.Concat(want[3:], want[:3], want)
	slices.Reverse(all)
	if got := diag.Sort(all); !slices.Equal(got, want) {
		t.Errorf("sorted they are\n%v\nwant\n%v", got, want)
	}
	if diag.HasErrors(want[1:3]) || !diag.HasErrors(want) || diag.HasErrors(nil) {
		t.Error("an error is one of severity error")
	}
}
