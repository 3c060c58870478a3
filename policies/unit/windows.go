package unit

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/diag"
)

// AllStages is the name of the one stage of a unit without a strategy, as windows name it.
const AllStages = "all"

// HoldUnstaged reports that there are windows of units without a strategy.
func HoldUnstaged(list []render.RolloutWindow) bool {
	return slices.ContainsFunc(list, func(w render.RolloutWindow) bool { return w.Covers(render.NoStrategy, AllStages) })
}

// unstaged returns the strategy of a unit that is bound to none, and that windows hold back: all clusters at once.
func unstaged() *kubefleet.Strategy {
	all := kubefleet.Amount{Value: 100, Percent: true}
	return &kubefleet.Strategy{
		Name: render.NoStrategy, OnFailure: kubefleet.Stop, Newer: kubefleet.Restart, Unmatched: kubefleet.Last,
		Stages: []kubefleet.Stage{{Name: AllStages, LabelSelector: &metav1.LabelSelector{}, MaxConcurrency: all, MaxFailures: all}},
	}
}

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
		all = append(all, covering{w, window.Window{Deny: w.Kind == applying.WindowDeny, Schedule: s, Duration: w.Duration.Duration}})
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
