package pages

import (
	"net/url"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// RolloutsPath is the page of all units that go out in stages.
const RolloutsPath = "/rollouts"

// Phases are all of a run, those that need somebody first.
var Phases = []Kind[rollouts.Phase]{
	phase(rollouts.Stopped, "✕", "bad"),
	phase(rollouts.Returning, "✕", "bad"),
	phase(rollouts.Approving, "?", "warn"),
	phase(rollouts.Waiting, "‖", "warn"),
	phase(rollouts.Updating, "↓", "warn"),
	phase(rollouts.Soaking, "↓", "warn"),
	phase(rollouts.Finishing, "↓", "warn"),
	phase(rollouts.Done, "✓", "good"),
}

func phase(p rollouts.Phase, sign, tone string) Kind[rollouts.Phase] {
	return Kind[rollouts.Phase]{p, Mark{string(p), sign, tone}}
}

// PhaseRank is the place of a phase of a run among all of them; before all for one that is not known.
func PhaseRank(p rollouts.Phase) int {
	return slices.IndexFunc(Phases, func(k Kind[rollouts.Phase]) bool { return k.Kind == p })
}

// PhaseMark shows a phase of a run, or of a stage.
func PhaseMark(p rollouts.Phase) Mark {
	if at := PhaseRank(p); at >= 0 {
		return Phases[at].Mark
	}
	return phase(p, "↓", "warn").Mark
}

// RolloutURL is the page of a unit.
func RolloutURL(u rollouts.Unit) string {
	return RolloutsPath + "/" + url.PathEscape(u.Folder()) + "/" + url.PathEscape(u.Name)
}
