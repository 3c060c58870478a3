package unit

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// waitsForNothing finds a stage that would be over at once: where time alone may be evidence, each stage needs a TimedWait or an
// Approval after it.
func waitsForNothing(o *object.Object, s *kubefleet.Strategy, evidence []string) (d diag.Diagnostic, found bool) {
	if !slices.Contains(evidence, render.EvidenceTimed) {
		return d, false
	}
	i := slices.IndexFunc(s.Stages, func(st kubefleet.Stage) bool { return len(st.After) == 0 })
	if i < 0 {
		return d, false
	}
	return diag.Diagnostic{
		Code: diag.BadStrategy, Severity: diag.Error, Pos: o.FieldPos([]any{"spec", "stages", i, "name"}),
		Message: fmt.Sprintf("%s: spec.rollout.evidence has timed, and nothing is waited for after the stage %s", policies.Name(o), s.Stages[i].Name),
		Hint:    "give the stage afterStageTasks: a TimedWait or an Approval; or leave timed out of spec.rollout.evidence of " + render.ConfigFile,
	}, true
}
