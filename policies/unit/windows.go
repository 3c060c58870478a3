package unit

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// AllStages is the name of the one stage of a unit without a strategy, as windows name it.
const AllStages = "all"

// Windows are when clusters may get changes.
type Windows []covering

// covering is a window, and what it is of.
type covering struct {
	config render.RolloutWindow
	window window.Window
}

// ReadWindows reads the windows of a config, and says which of their schedules cannot be read.
func ReadWindows(list []render.RolloutWindow) (all Windows, wrong []diag.Diagnostic) {
	for i, w := range list {
		s, err := window.Parse(w.Schedule, w.TimeZone)
		if err != nil {
			wrong = append(wrong, diag.Diagnostic{
				Code: diag.BadConfig, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile, Line: w.Line},
				Message: fmt.Sprintf("spec.rollout.windows[%d]: %v", i, err), Hint: "the options are listed in docs/config.md",
			})
			continue
		}
		all = append(all, covering{w, window.Window{Deny: w.Kind == render.WindowDeny, Schedule: s, Duration: w.Duration.Duration}})
	}
	return all, wrong
}

// Of returns the windows of a stage of a strategy. Those of a unit without one are of the strategy
// render.NoStrategy and the stage AllStages.
func (ws Windows) Of(strategy, stage string) (of window.Windows) {
	for i := range ws {
		if ws[i].config.Covers(strategy, stage) {
			of = append(of, ws[i].window)
		}
	}
	return of
}
