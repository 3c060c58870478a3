package sarif_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/diag/sarif"
)

// log is what readers take of a log.
type log struct {
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, Version string
				Rules         []struct{ ID string }
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           struct{ StartLine int }
				}
			}
		}
	}
}

// TestEncode: of each diagnostic a line with its rule, how bad it is, where it is, and what it says; and one rule a code.
func TestEncode(t *testing.T) {
	data, err := sarif.Encode("v1.2.3", "fleet", []diag.Diagnostic{
		{Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: "a b/ü.yaml", Line: 7}, Message: "no", Hint: "mend it"},
		{Code: diag.DuplicateKey, Severity: diag.Warning, Pos: diag.Pos{File: "c.yaml"}, Message: "twice"},
		{Code: diag.Malformed, Severity: diag.Notice, Message: "of no file"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got log
	if err := json.Unmarshal(data, &got); err != nil || len(got.Runs) != 1 || !strings.HasSuffix(string(data), "}\n") {
		t.Fatalf("%v in\n%s", err, data)
	}
	run := got.Runs[0]
	if d := run.Tool.Driver; got.Version != "2.1.0" || d.Name != "Waybill" || d.Version != "v1.2.3" {
		t.Errorf("it is of %+v, in version %s", d, got.Version)
	}
	var lines []string
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation
		if rule := run.Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID || at.ArtifactLocation.URIBaseID != "%SRCROOT%" {
			t.Errorf("%+v is by the rule %s", r, rule)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s:%d %q", r.RuleID, r.Level, at.ArtifactLocation.URI, at.Region.StartLine, r.Message.Text))
	}
	want := []string{
		string(diag.Malformed) + ` error fleet/a%20b/%C3%BC.yaml:7 "no\nhint: mend it"`,
		string(diag.DuplicateKey) + ` warning fleet/c.yaml:1 "twice"`,
		string(diag.Malformed) + ` note fleet/waybill.yaml:1 "of no file"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" || len(run.Tool.Driver.Rules) != 2 {
		t.Errorf("%d rules (-want +got):\n%s", len(run.Tool.Driver.Rules), diff)
	}
}

// TestEncodeNothing: readers want lists, be they empty.
func TestEncodeNothing(t *testing.T) {
	data, err := sarif.Encode("", "", nil)
	if err != nil || !strings.Contains(string(data), `"results": []`) || !strings.Contains(string(data), `"rules": []`) || strings.Contains(string(data), "null") {
		t.Errorf("%v and\n%s", err, data)
	}
}
