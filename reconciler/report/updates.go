package report

import (
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
)

// Updates is what get updates and update print.
func Updates(all []updates.Verdict, now time.Time) Report {
	list := make([]update.Update, 0, len(all))
	var rows [][]string
	for i := range all {
		u := update.Of(&all[i])
		list = append(list, u)
		seen := ""
		if !u.FirstSeen.IsZero() {
			seen = cell.Age(&u.FirstSeen, now)
		}
		rows = append(rows, []string{
			u.Name, u.Image + u.Chart, cell.Dash(u.Current), cell.Dash(u.Next), cell.Dash(u.Newest),
			cell.Dash(seen), cell.Dash(u.Last.String()), cell.Dash(u.Message),
		})
	}
	return table(list, []string{"NAME", "IMAGE OR CHART", "CURRENT", "NEXT", "NEWEST", "SEEN", "LAST UPDATE", "WHY NOT"}, rows)
}

// Proposals is what update --pull-request prints.
func Proposals(all []propose.Outcome) Report {
	var rows [][]string
	for _, o := range all {
		rows = append(rows, []string{o.Branch, strings.ToLower(string(o.Did)), cell.Dash(o.URL), cell.Dash(o.Why)})
	}
	return table(all, []string{"BRANCH", "DONE", "PULL REQUEST", "WHY"}, rows)
}
