package stage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// starved is after how many restarts in a row somebody is told.
const starved = 3

// report says what somebody has to know of a unit.
func report(v *view, r run, unsoaked []string) (diags []diag.Diagnostic) {
	say := func(code diag.Code, message, hint string) {
		diags = append(diags, diag.Diagnostic{Code: code, Severity: diag.Warning, Pos: v.Pos, Message: message, Hint: hint})
	}
	s := r.Status
	if d := failure(v, s); d.Code != "" {
		diags = append(diags, d)
	}
	if names := inState(v, r, rollouts.Late); len(names) > 0 {
		say(diag.RolloutLate, fmt.Sprintf("%s: %s does not answer, and nobody waits for it", v.Unit, words.List(names)),
			"it is released by the strategy when it answers again; waybill status shows since when it does not")
	}
	if s.Restarts >= starved {
		say(diag.RolloutStarved, fmt.Sprintf("%s: %d runs in a row were replaced by a newer version before they were done", v.Unit, s.Restarts),
			"waybill.dev/newer: Wait on the strategy lets a run end first")
	}
	if len(unsoaked) > 0 {
		say(diag.RolloutUnsoaked, fmt.Sprintf("%s: %s takes over what other clusters lost, and gets the new version before its turn: the old one cannot be read",
			v.Unit, words.List(unsoaked)), "clone the source with its history (fetch-depth: 0)")
	}
	if isLost(v, r) {
		say(diag.RolloutLost, fmt.Sprintf("%s: nothing is recorded of its run, and clusters have the new version already: they count as released, and the rest begins at the first stage",
			v.Unit), "nobody should delete the state branch while a run is open")
	}
	if isOpen(s.Phase) && slices.Contains(v.Unreadable, s.Target.Commit) {
		say(diag.RolloutUnreadable, fmt.Sprintf("%s: what the run is to carry out cannot be read from commit %.10s: clusters that wait for it get nothing", v.Unit, s.Target.Commit),
			fmt.Sprintf("waybill validate says why where that commit is checked out; or waybill rollout return %s, and push it once more", v.Unit))
	}
	if late := v.now.Sub(v.Now); late >= time.Second {
		say(diag.RolloutClock, fmt.Sprintf("%s: the clock is %s before the last time that was recorded: for the run it stands still until then", v.Unit, late.Truncate(time.Second)),
			"look at the clock of whoever plans")
	}
	for _, c := range s.Commands {
		isIdle := c.Verb == rollouts.Bypass && c.Run == "" // of a trailer about every unit, also those that do not change
		if c.Refused && v.isGiven(c) && !isIdle {
			say(diag.RolloutStaleCommand, fmt.Sprintf("%s: %s (%s) did nothing: it came for another run, or too early or late", v.Unit, spelt(c), c.Ref),
				fmt.Sprintf("waybill rollout status %s shows the run, and what it waits for", v.Unit))
		}
	}
	return append(diags, unspoken(v, r)...)
}

// failure is that of a run that stopped or goes back.
func failure(v *view, s rollouts.Status) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.RolloutStopped, Severity: diag.Error, Pos: v.Pos, Message: fmt.Sprintf("%s: %s", v.Unit, s.Message)}
	switch isStopped := s.Phase == rollouts.Stopped; {
	case s.IsKeptBack():
		d.Hint = fmt.Sprintf("push a version that is mended; waybill rollout resume %s tries this one again", v.Unit)
	case isStopped && waits(&v.Input) && !s.Base.IsKnown():
		d.Hint = fmt.Sprintf("waybill rollout skip %s STAGE, and the newest version follows when no stage is left; or waybill rollout resume %s", v.Unit, v.Unit)
	case isStopped && waits(&v.Input):
		d.Hint = fmt.Sprintf("waybill rollout return %s, and the newest version follows; or waybill rollout resume %s", v.Unit, v.Unit)
	case isStopped:
		d.Hint = fmt.Sprintf("push a version that is mended, or waybill rollout return %s, or waybill rollout resume %s", v.Unit, v.Unit)
	case s.Phase == rollouts.Returning && (s.Reason == rollouts.TooManyFailed || s.Reason == rollouts.NoneHealthy):
		d.Hint = "every cluster goes back to the version before"
	default:
		return diag.Diagnostic{}
	}
	if s.Reason == rollouts.Commanded {
		d.Severity = diag.Warning
	}
	return d
}

// isLost reports a run of which the record was lost: it begins with clusters that have its target.
func isLost(v *view, r run) bool {
	if v.Before != nil || r.Status.Base.IsKnown() || !isOpen(r.Status.Phase) || v.strategy.IsNone() {
		return false
	}
	for n := range v.Clusters {
		if c := &v.Clusters[n]; c.Has && c.IsTarget && !c.IsBase {
			return true
		}
	}
	return false
}

// inState are the clusters in a state.
func inState(v *view, r run, s rollouts.State) (names []string) {
	for n := range v.Clusters {
		if r.clusters[n].State == s {
			names = append(names, v.Clusters[n].Name)
		}
	}
	return names
}

// spelt is a command as it is written.
func spelt(c rollouts.Command) string {
	return strings.Join(strings.Fields(strings.Join([]string{string(c.Verb), c.Stage, c.Cluster}, " ")), " ")
}

// unspoken reports clusters of an open run for which nothing speaks, so that it cannot go on, and those of which
// it cannot be told whether they answer.
func unspoken(v *view, r run) (diags []diag.Diagnostic) {
	if !isOpen(r.Status.Phase) || v.strategy.IsNone() {
		return nil
	}
	var mute, unwatched []string
	for n := range v.Clusters {
		c := &v.Clusters[n]
		e := &r.clusters[n]
		isIn := e.State == rollouts.Pending || isAwaited(e)
		if isIn && c.Evidence.Health == Unknown {
			mute = append(mute, c.Name)
		}
		if isIn && c.Unwatched {
			unwatched = append(unwatched, c.Name)
		}
	}
	if len(mute) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.RolloutNoEvidence, Severity: diag.Warning, Pos: v.Pos,
			Message: fmt.Sprintf("%s: nothing says of %s whether it is healthy there, and without that a stage does not end", v.Unit, words.List(mute)),
			Hint:    "have Waybill apply the clusters, by waybill controller --apply or an agent, or have Flux or Argo CD set commit statuses: docs/rollouts-evidence.md",
		})
	}
	if len(unwatched) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.RolloutUnwatched, Severity: diag.Notice, Pos: v.Pos,
			Message: fmt.Sprintf("%s: nobody watches whether %s answers: old evidence counts as fresh", v.Unit, words.List(unwatched)),
			Hint:    "have an agent or the controller watch the clusters",
		})
	}
	return diags
}
