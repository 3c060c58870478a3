package sourceerrors_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/diag"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func wrong(code diag.Code, file string, line int, message string) diag.Diagnostic {
	return diag.Diagnostic{Code: code, Severity: diag.Error, Pos: diag.Pos{File: file, Line: line}, Message: message}
}

// shown is a record in lines.
func shown(r sourceerrors.Record) string {
	var all []string
	for _, e := range r.Errors {
		all = append(all, fmt.Sprintf("%s %s:%d %s %s", e.Code, e.File, e.Line, e.Message, e.Commit))
	}
	return strings.Join(all, "; ")
}

func TestSinceWhichCommit(t *testing.T) {
	first := sourceerrors.Of([]diag.Diagnostic{
		wrong("a", "x.yaml", 3, "one"), wrong("a", "x.yaml", 9, "two"), {Code: "b", Severity: diag.Warning, Message: "no error"},
	}, "c1", noon, sourceerrors.Record{})
	for _, tt := range []struct {
		name, want string
		now        []diag.Diagnostic
	}{
		{
			"lines move, and a message changes: the record stays", "a x.yaml:3 one c1; a x.yaml:9 two c1",
			[]diag.Diagnostic{wrong("a", "x.yaml", 4, "one"), wrong("a", "x.yaml", 10, "two, or three")},
		},
		{
			"one more in the file: that is new, by its message", "a x.yaml:4 one c1; a x.yaml:5 more c2; a x.yaml:10 two c1",
			[]diag.Diagnostic{wrong("a", "x.yaml", 4, "one"), wrong("a", "x.yaml", 5, "more"), wrong("a", "x.yaml", 10, "two")},
		},
		{
			"one is mended, and another file has one", "a x.yaml:9 two c1; a y.yaml:1 two c2",
			[]diag.Diagnostic{wrong("a", "x.yaml", 9, "two"), wrong("a", "y.yaml", 1, "two")},
		},
		{
			"one is mended, and the other says something else: it is that one still", "a x.yaml:9 three c1",
			[]diag.Diagnostic{wrong("a", "x.yaml", 9, "three")},
		},
		{"all are mended", "", nil},
	} {
		r := sourceerrors.Of(tt.now, "c2", noon.Add(time.Hour), first)
		if got := shown(r); got != tt.want {
			t.Errorf("%s: it is\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestEachIsThatOfBeforeOnce: one that is known again by its message takes the place of no other, whose commit counts for another one then.
func TestEachIsThatOfBeforeOnce(t *testing.T) {
	first := sourceerrors.Of([]diag.Diagnostic{wrong("a", "x", 1, "one")}, "c1", noon, sourceerrors.Record{})
	second := sourceerrors.Of([]diag.Diagnostic{wrong("a", "x", 1, "one"), wrong("a", "x", 2, "two")}, "c2", noon.Add(time.Hour), first)
	third := sourceerrors.Of([]diag.Diagnostic{
		wrong("a", "x", 1, "one"), wrong("a", "x", 2, "three"), wrong("a", "x", 3, "four\n  and more"),
	}, "c3", noon.Add(2*time.Hour), second)
	want := []sourceerrors.Error{
		{Code: "a", File: "x", Line: 1, Message: "one", Commit: "c1", Since: noon},
		{Code: "a", File: "x", Line: 2, Message: "three", Commit: "c2", Since: noon.Add(time.Hour)},
		{Code: "a", File: "x", Line: 3, Message: "four and more", Commit: "c3", Since: noon.Add(2 * time.Hour)},
	}
	if !reflect.DeepEqual(third.Errors, want) {
		t.Errorf("it is\n%s\nwant\n%s", shown(third), shown(sourceerrors.Record{Errors: want}))
	}
}

func TestBounds(t *testing.T) {
	var all []diag.Diagnostic
	for i := range 300 {
		all = append(all, wrong("a", fmt.Sprintf("%03d.yaml", i), 1, strings.Repeat("ä", 400)+"\nand more"))
	}
	r := sourceerrors.Of(all, "c1", noon, sourceerrors.Record{})
	if len(r.Errors) != 200 || r.More != 100 {
		t.Errorf("there are %d errors and %d more", len(r.Errors), r.More)
	}
	if m := r.Errors[0].Message; len(m) > 500 || !utf8.ValidString(m) || !strings.HasSuffix(m, "ä...") {
		t.Errorf("a message has %d bytes and ends %q", len(m), m[len(m)-10:])
	}
	if more := sourceerrors.Of(append(all, wrong("b", "z", 1, "x")), "c2", noon, r); more.More != 101 || more.Errors[0].Commit != "c1" {
		t.Errorf("with one more there are %d more, and the first is of %s", more.More, more.Errors[0].Commit)
	}
	long := strings.Repeat("x", 500)
	if whole := sourceerrors.Of(
		[]diag.Diagnostic{wrong("a", "x", 1, long)}, "c1", noon, sourceerrors.Record{},
	); whole.Errors[0].Message != long {
		t.Error("a message that is not too long is cut")
	}
}

// A plan that is made again takes what its moment brought from the record, and what the source says from itself.
func TestReplayed(t *testing.T) {
	recorded := sourceerrors.Of([]diag.Diagnostic{
		wrong(diag.ChartUnavailable, "r.yaml", 1, "no answer"), wrong("gone", "x.yaml", 1, "edited in"),
	}, "c1", noon, sourceerrors.Record{})
	now := []diag.Diagnostic{wrong("a", "x.yaml", 3, "one"), wrong(diag.RandomKey, "r.yaml", 1, "no key")}
	want := []diag.Diagnostic{wrong(diag.ChartUnavailable, "r.yaml", 1, "no answer"), wrong("a", "x.yaml", 3, "one")}
	if got := sourceerrors.Replayed(now, recorded); !reflect.DeepEqual(got, want) {
		t.Errorf("it is %v; want %v", got, want)
	}
}
