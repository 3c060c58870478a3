package images

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/subscribe"
)

// ReadSchedule reads when pull requests may be opened, and says which of the lines cannot be read.
func ReadSchedule(u *subscribe.Updates) (all []window.Schedule, wrong []diag.Diagnostic) {
	for i, line := range u.Schedule {
		s, err := window.Parse(line, u.TimeZone)
		if err != nil {
			wrong = append(wrong, diag.Diagnostic{
				Code: diag.BadConfig, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile, Line: u.Lines[i]},
				Message: fmt.Sprintf("spec.updates.schedule[%d]: %v", i, err), Hint: "the options are listed in docs/config.md",
			})
			continue
		}
		all = append(all, s)
	}
	return all, wrong
}
