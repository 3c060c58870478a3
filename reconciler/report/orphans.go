package report

import (
	"io"

	"github.com/waybill-dev/waybill/render/object"
)

// Orphans is what cluster orphans prints.
func Orphans(orphans []object.Ref) Report {
	if orphans == nil {
		orphans = []object.Ref{}
	}
	value := struct {
		Orphans []object.Ref `json:"orphans"`
	}{orphans}
	return Report{value: value, text: func(w io.Writer) error {
		p := printer{w: w}
		for _, r := range orphans {
			p.line("%s", r)
		}
		return p.err
	}}
}
