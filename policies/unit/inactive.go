package unit

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// Inactive says, as long as no plan acts on them, that strategies and what waybill.yaml says of roll-outs and moves are
// only read. It goes when plans do.
func Inactive(set *policies.Set, config render.ConfigSpec) []diag.Diagnostic {
	var idle []string
	pos := diag.Pos{File: render.ConfigFile}
	switch n := len(set.Strategies) + len(set.BadStrategies); n {
	case 0:
	case 1:
		idle = append(idle, "a strategy for roll-outs")
	default:
		idle = append(idle, strconv.Itoa(n)+" strategies for roll-outs")
	}
	if len(set.Strategies) > 0 {
		pos = set.Strategies[0].Object.Origin()
	}
	usual := render.DefaultConfig()
	if !reflect.DeepEqual(config.Rollout, usual.Rollout) {
		idle = append(idle, "spec.rollout of "+render.ConfigFile)
	}
	if config.Publish.Moves != usual.Publish.Moves {
		idle = append(idle, "spec.publish.moves of "+render.ConfigFile)
	}
	if len(idle) == 0 {
		return nil
	}
	return []diag.Diagnostic{{
		Code: diag.RolloutInactive, Severity: diag.Notice, Pos: pos,
		Message: "this version reads and checks what is said of roll-outs, and does not act on it: every change reaches all clusters at once (" + strings.Join(idle, ", ") + ")",
		Hint:    "see docs/rollouts.md",
	}}
}
