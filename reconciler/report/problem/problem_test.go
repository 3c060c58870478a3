package problem

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/report"
)

// TestWhatIsBroken is said in a line, with a line for each problem; what a person wrote moves no terminal, and what held clusters would
// lose is named with how to let it happen.
func TestWhatIsBroken(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	commit := strings.Repeat("c", 40)
	var lost []string
	for name := range strings.FieldsSeq("a b c d e f g h i j k l") {
		lost = append(lost, "ConfigMap/shop/"+name)
	}
	all := &problems.List{
		Commit: commit, Checked: at, More: 3, Unreported: []string{"ap", "au"},
		Problems: []problems.Problem{
			{Kind: problems.SourceError, Name: "a.yaml", Line: 7, Message: "no colon", Author: "anna\x1b[1m", Commit: commit, Next: "mend it"},
			{Kind: problems.Unhealthy, Name: "Deployment.apps/shop/web\x1b[1m", Reason: "CrashLoopBackOff", Message: "1 of 2", Clusters: []string{"eu", "us"}, Of: 3, Since: at.Add(-2 * time.Hour)},
			{Kind: problems.Unhealthy, Name: "Deployment.apps/shop/api", Reason: "InProgress", Clusters: []string{"eu", "us"}, Of: 2},
			{Kind: problems.Drifting, Name: "Deployment.apps/shop/cart", Clusters: []string{"eu"}, Of: 1},
			{Kind: problems.Held, Name: "eu", Clusters: []string{"eu", "us"}, Loses: lost, Next: "waybill publish --release"},
		},
	}
	const verdict = "5 problems: 1 source error, 2 unhealthy objects, 1 hold, 1 drifting object (commit cccccccccccc, looked at 2026-11-21T12:00:00Z); nobody reports of ap, au\n"
	const after = `and 3 more errors of the source: waybill validate lists all

eu, us would lose ConfigMap/shop/a, ConfigMap/shop/b, ConfigMap/shop/c, ConfigMap/shop/d, ConfigMap/shop/e, ConfigMap/shop/f, ConfigMap/shop/g, ConfigMap/shop/h, ConfigMap/shop/i, ConfigMap/shop/j and 2 more
to let it happen: waybill publish --release
`
	for _, tt := range []struct {
		name string
		list *problems.List
		as   report.Format
		want string
	}{
		{"nothing", &problems.List{Checked: at}, report.Table, "nothing is broken (commit -, looked at 2026-11-21T12:00:00Z)\n"},
		{"nothing since", &problems.List{Commit: commit, Checked: at, Since: at.Add(-time.Hour)}, report.Table, "nothing is broken, as it is since 2026-11-21T11:00:00Z (commit cccccccccccc, looked at 2026-11-21T12:00:00Z)\n"},
		{"names", all, Name, "a.yaml\nDeployment.apps/shop/web\\x1b[1m\nDeployment.apps/shop/api\nDeployment.apps/shop/cart\neu\n"},
	} {
		var b strings.Builder
		if err := Write(&b, tt.list, tt.as); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, b.String()); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	var table, wide strings.Builder
	if err := errors.Join(Write(&table, all, report.Table), Write(&wide, all, report.Wide)); err != nil {
		t.Fatal(err)
	}
	for got, more := range map[string][]string{
		table.String(): {"", "", "", "", "", ""},
		wide.String():  {"|COMMIT|AUTHOR|NEXT", "|cccccccccccc|anna\\x1b[1m|mend it", "|-|-|-", "|-|-|-", "|-|-|-", "|-|-|waybill publish --release"},
	} {
		head, ok := strings.CutPrefix(got, verdict)
		rows, end := strings.CutSuffix(head, after)
		if !ok || !end {
			t.Errorf("it begins or ends otherwise:\n%s", got)
		}
		var cells []string
		for line := range strings.Lines(strings.TrimPrefix(rows, "\n")) {
			var row []string
			for cell := range strings.SplitSeq(strings.TrimSpace(line), "   ") {
				if cell = strings.TrimSpace(cell); cell != "" {
					row = append(row, cell)
				}
			}
			cells = append(cells, strings.Join(row, "|"))
		}
		want := []string{
			"PROBLEM|WHAT|WHERE|SINCE|WHY" + more[0],
			string(problems.SourceError) + "|a.yaml:7|-|-|no colon" + more[1],
			string(problems.Unhealthy) + "|Deployment.apps/shop/web\\x1b[1m|2 of 3: eu, us|120m|CrashLoopBackOff: 1 of 2" + more[2],
			string(problems.Unhealthy) + "|Deployment.apps/shop/api|all 2: eu, us|-|InProgress" + more[3],
			string(problems.Drifting) + "|Deployment.apps/shop/cart|eu|-" + more[4],
			string(problems.Held) + "|eu|all 2: eu, us|-" + more[5],
		}
		if d := cmp.Diff(want, cells); d != "" {
			t.Error(d)
		}
	}
	for as, want := range map[report.Format]string{report.JSON: `"kind": "` + string(problems.Held) + `"`, report.YAML: "kind: " + string(problems.Held) + "\n"} {
		var b strings.Builder
		if err := Write(&b, all, as); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s, %v:\n%s", as, err, b.String())
		}
		if err := Write(closed{}, all, as); !errors.Is(err, errClosed) {
			t.Errorf("%s: that nobody reads it is not said: %v", as, err)
		}
	}
}

var errClosed = errors.New("closed")

// closed takes nothing.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }
