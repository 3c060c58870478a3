package report

import (
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Pin is a chart that the lock file pins otherwise than before.
type Pin struct {
	lock.Ref

	Was lock.Entry `json:"was,omitzero"` // zero: there is none
	Is  lock.Entry `json:"is,omitzero"`
}

// Pins is what update prints.
func Pins(pins []Pin) Report {
	var rows [][]string
	for _, p := range pins {
		rows = append(rows, []string{p.Name, p.Constraint, cell.Dash(p.Was.Version), cell.Dash(p.became()), p.Repository})
	}
	return table(pins, []string{"CHART", "WANTED", "FROM", "TO", "REPOSITORY"}, rows)
}

// became says what a chart is now. One version with two archives is how a repository
// that somebody took over looks, so it is not passed over.
func (p *Pin) became() string {
	switch {
	case p.Was.Version != p.Is.Version:
		return p.Is.Version
	case p.Was.Digest != p.Is.Digest:
		return p.Is.Version + " (another archive)"
	}
	return p.Is.Version + " (moved)"
}
