package junit_test

import (
	"encoding/xml"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/diag/junit"
)

// TestEncode: a test is a code in a file, which fails by errors alone, and keeps all that is said of it.
func TestEncode(t *testing.T) {
	at := func(file string, line int) diag.Pos { return diag.Pos{File: file, Line: line} }
	all := []diag.Diagnostic{
		{Code: "one", Severity: diag.Error, Pos: at("a.yaml", 1), Message: "<first>"},
		{Code: "one", Severity: diag.Warning, Pos: at("a.yaml", 2), Message: "second"},
		{Code: "one", Severity: diag.Error, Pos: at("a.yaml", 3), Message: "third"},
		{Code: "one", Severity: diag.Warning, Pos: at("b.yaml", 1), Message: "in another file"},
		{Code: "two", Severity: diag.Notice, Pos: at("a.yaml", 1), Message: "of another code"},
		{Code: "two", Severity: diag.Error, Message: "of no file"},
	}
	data, err := junit.Encode("fleet", all)
	if err != nil {
		t.Fatal(err)
	}
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		File    string   `xml:"file,attr"`
		Failure *failure `xml:"failure"`
		Output  string   `xml:"system-out"`
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suite    struct {
			Tests    int        `xml:"tests,attr"`
			Failures int        `xml:"failures,attr"`
			Cases    []testcase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	line := func(i int) string { return all[i].String() + "\n" }
	want := []testcase{
		{Name: "the source is planned"},
		{Name: "fleet/a.yaml one", File: "fleet/a.yaml", Failure: &failure{"<first>", "one", line(0) + line(2)}, Output: line(1)},
		{Name: "fleet/b.yaml one", File: "fleet/b.yaml", Output: line(3)},
		{Name: "fleet/a.yaml two", File: "fleet/a.yaml", Output: line(4)},
		{Name: "two", Failure: &failure{"of no file", "two", line(5)}},
	}
	if diff := cmp.Diff(want, got.Suite.Cases); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Tests != 5 || got.Failures != 2 || got.Suite.Tests != 5 || got.Suite.Failures != 2 {
		t.Errorf("it counts %d tests and %d failures, and %d and %d in the suite", got.Tests, got.Failures, got.Suite.Tests, got.Suite.Failures)
	}
}
