// Package formats holds what the commands write for other programs against what those
// programs ask for: the schema of the standard, and the rules of those who read it.
package formats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/diag/junit"
	"github.com/waybill-dev/waybill/render/diag/sarif"
	"github.com/waybill-dev/waybill/test/peers"
)

// odd are diagnostics as no source should bring them about.
var odd = []diag.Diagnostic{
	{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: "apps/web.yaml", Line: 3}, Message: "the document is no valid YAML", Hint: "mend it"},
	{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: "apps/web.yaml", Line: 9}, Message: "a second one"},
	{Code: diag.UnknownField, Severity: diag.Warning, Pos: diag.Pos{File: "apps/web.yaml"}, Message: "of the whole file"},
	{Code: diag.Held, Severity: diag.Error, Message: "about no file <&>\"'"},
	{Code: diag.Written, Severity: diag.Notice, Pos: diag.Pos{File: "a:b/c d%20#?&é<x>\x01\xff.yaml", Line: 1}, Message: "\x00\x1b[2J]]>\u202e\xff\n{0} [x](http://example.com)"},
}

// schema is that of SARIF 2.1.0, as OASIS has it, from a module that carries it.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const module = "github.com/owenrumney/go-sarif/v3"
	if _, err := peers.Go("tools", "mod", "download", module); err != nil {
		t.Fatal(err)
	}
	dir, err := peers.Go("tools", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(dir), "pkg/report/v210/sarif/schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	literal, ok := file.Scope.Lookup("schema").Decl.(*ast.ValueSpec).Values[0].(*ast.BasicLit)
	if !ok {
		t.Fatal("the schema is no literal")
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSARIFIsAsItsSchemaWantsIt(t *testing.T) {
	s := schema(t)
	for _, ds := range [][]diag.Diagnostic{nil, odd, odd[:1]} {
		for _, folder := range []string{"", "fleet/prod"} {
			data, err := sarif.Encode("v1.2.3", folder, ds)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%v\n%s", err, data)
			}
		}
	}
	// The schema bites.
	data, err := sarif.Encode("v1.2.3", "", odd)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"startLine": 3`, `"startLine": 0`}, {`"ruleId"`, `"rule"`}, {`"uri": "apps/web.yaml"`, `"uri": "apps/%zz.yaml"`}} {
		spoilt := strings.Replace(string(data), change[0], change[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(spoilt))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("with %s it is valid, too", change[1])
		}
	}
}

// GitHub refuses a result without a place, and shows rules by their descriptions.
func TestSARIFIsAsGitHubReadsIt(t *testing.T) {
	data, err := sarif.Encode("", "fleet", odd)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID                                      string
						ShortDescription, FullDescription, Help struct{ Text string }
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	run := got.Runs[0]
	if len(run.Results) != len(odd) || run.Tool.Driver.Name != "Waybill" {
		t.Fatalf("%s", data)
	}
	for i, r := range run.Results {
		rule := run.Tool.Driver.Rules[r.RuleIndex]
		if rule.ID != r.RuleID || r.RuleID != string(odd[i].Code) || rule.ShortDescription.Text == "" || rule.FullDescription.Text == "" || rule.Help.Text == "" {
			t.Errorf("rule %+v of result %+v", rule, r)
		}
		at := r.Locations[0].PhysicalLocation
		if at.Region.StartLine < 1 || !strings.HasPrefix(at.ArtifactLocation.URI, "fleet/") || strings.ContainsAny(at.ArtifactLocation.URI, " #?<>\x01") {
			t.Errorf("place %+v", at)
		}
	}
	for i, level := range []string{"error", "error", "warning", "error", "note"} {
		if run.Results[i].Level != level {
			t.Errorf("level of %d is %s, want %s", i, run.Results[i].Level, level)
		}
	}
	if text := run.Results[0].Message.Text; text != "the document is no valid YAML\nhint: mend it" {
		t.Errorf("message %q", text)
	}
}

// testcase is what GitLab and Jenkins read of a test.
type testcase struct {
	Class    string   `xml:"classname,attr"`
	Name     string   `xml:"name,attr"`
	File     string   `xml:"file,attr"`
	Time     *float64 `xml:"time,attr"`
	Failures []struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	} `xml:"failure"`
	Output string `xml:"system-out"`
}

// A reader wants a test at least, takes the first of several of one name, and believes the
// counts.
func TestJUnitIsAsItsReadersWantIt(t *testing.T) {
	for _, ds := range [][]diag.Diagnostic{nil, odd} {
		data, err := junit.Encode("fleet", ds)
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(data)); ; { // that it is well-formed, to its end
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
		}
		var got struct {
			XMLName  xml.Name `xml:"testsuites"`
			Tests    int      `xml:"tests,attr"`
			Failures int      `xml:"failures,attr"`
			Suites   []struct {
				Name     string     `xml:"name,attr"`
				Tests    int        `xml:"tests,attr"`
				Failures int        `xml:"failures,attr"`
				Errors   *int       `xml:"errors,attr"`
				Cases    []testcase `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		suite := got.Suites[0]
		failures, names := 0, map[string]bool{}
		for _, c := range suite.Cases {
			if c.Class == "" || c.Name == "" || c.Time == nil || names[c.Name] || len(c.Failures) > 1 {
				t.Errorf("test %+v", c)
			}
			names[c.Name] = true
			failures += len(c.Failures)
		}
		if n := len(suite.Cases); n == 0 || got.Tests != n || suite.Tests != n || got.Failures != failures || suite.Failures != failures || suite.Errors == nil {
			t.Errorf("counts of %s", data)
		}
		if ds == nil {
			continue
		}
		first, warned := suite.Cases[1], suite.Cases[2]
		if first.Name != "fleet/apps/web.yaml malformed" || first.File != "fleet/apps/web.yaml" || !strings.Contains(first.Failures[0].Text, "apps/web.yaml:3: error: ") || !strings.Contains(first.Failures[0].Text, "apps/web.yaml:9: error: a second one") {
			t.Errorf("test %+v", first)
		}
		if len(warned.Failures) > 0 || !strings.Contains(warned.Output, "of the whole file") {
			t.Errorf("test %+v", warned)
		}
		if failures != 2 {
			t.Errorf("%d failures", failures)
		}
	}
}
