package listing

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
)

func ofRollouts(*Lists) []column {
	return columnsOf("UNIT", "STRATEGY", "PHASE", "STAGE", "CLUSTERS", "NEXT", "REASON", "-", "RUN", "SINCE", "TARGET", "THEN")
}

// rolloutItems lists what goes out in stages, or did, as it is recorded.
func rolloutItems(l *Lists) (items []item, err error) {
	for n := range l.Rollouts {
		r := &l.Rollouts[n]
		p := progress.Of(r)
		i, err := made(r.Head(), p.Unit.String(), cell.Dash(p.Strategy), string(p.Phase), cell.Dash(p.Stage), cell.Dash(p.Clusters()),
			instant(p.Next), cell.Dash(p.Message), cell.Dash(progress.Short(p.Run)), instant(p.Since),
			cell.Dash(cell.Commit(p.Target)), cell.Dash(p.Then))
		if err != nil {
			return nil, err
		}
		i.alias, i.whole = p.Unit.String(), func() any { return r.Document() }
		items = append(items, i)
	}
	return items, nil
}

// instant is a time in a column.
func instant(t time.Time) string {
	if t.IsZero() {
		return cell.Dash("")
	}
	return t.UTC().Format(time.RFC3339)
}
