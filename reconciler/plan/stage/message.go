package stage

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// message says why a run is in its phase. That of one that stopped or goes back was said when it did.
func message(v *view, r run) string {
	s := r.Status
	n := current(s.Stages)
	switch {
	case s.Phase == rollouts.Stopped || s.Phase == rollouts.Returning:
		return s.Message
	case s.Phase == rollouts.Finishing:
		return inFinishing(v, r)
	case s.Phase == rollouts.Done:
		return behind(v, r)
	case n < 0:
		return ""
	}
	st := s.Stages[n]
	switch s.Phase {
	case rollouts.Soaking:
		return st.Name + inSoak(v, st, s.Reason)
	case rollouts.Waiting, rollouts.Approving:
		return st.Name + " waits: " + reasons[s.Reason] + v.until(st.Name, s.Reason)
	default:
	}
	text := st.Name + " waits for " + words.List(v.names(awaited(v, r, st.Name))) + " to be healthy"
	if why := reasons[s.Reason]; why != "" {
		text = st.Name + ": " + why + v.until(st.Name, s.Reason)
	}
	return text
}

// until says when a window opens for which a stage waits.
func (v *view) until(stage string, why rollouts.Reason) string {
	w := v.Windows[stage]
	if why != rollouts.WindowClosed || w.Edge.IsZero() {
		return ""
	}
	return ", until " + w.Edge.UTC().Format(time.RFC3339)
}

// reasons say of codes why a stage waits.
var reasons = map[rollouts.Reason]string{
	rollouts.ApprovalMissing:   "nobody approved it yet",
	rollouts.SourceRefused:     "the source allows no release",
	rollouts.WindowClosed:      "no window is open",
	rollouts.ClustersSuspended: "its clusters are suspended",
	rollouts.ClusterHeld:       "the guard holds a cluster of it",
	rollouts.NoneAnswers:       "none of its clusters is healthy",
	rollouts.NotHealthy:        "a cluster of an earlier stage has its turn when others there are healthy", // of the last stage; see notLast
}

// inSoak says why a stage is soaking.
func inSoak(v *view, st rollouts.StageStatus, why rollouts.Reason) string {
	if n := waiting(st.After); n >= 0 && why == rollouts.TimedWait {
		return " has to stay healthy until " + st.After[n].Ends(v.stage(st.Name)).UTC().Format(time.RFC3339)
	}
	return " has to be healthy again: a cluster is not, or does not say so"
}

// inFinishing says for what a run waits whose stages are over.
func inFinishing(v *view, r run) string {
	text := "every stage is over"
	if r.Status.Reason == rollouts.Bypassed {
		text = "the stages were bypassed"
	}
	if left := unpublished(v, r); len(left) > 0 {
		return text + "; to be published: " + words.List(v.names(left))
	}
	return text
}

// behind says which clusters do not show the version of a run that is done.
func behind(v *view, r run) string {
	var names []string
	for n := range v.Clusters {
		if e := &r.clusters[n]; r.known[n] && !isReleased(e) {
			names = append(names, fmt.Sprintf("%s (%s)", v.Clusters[n].Name, strings.ToLower(string(e.State))))
		}
	}
	switch {
	case len(names) > 0:
		return "done without " + words.List(names)
	case v.Refused != "" && !r.Status.Target.Is(v.Source):
		return v.Refused
	}
	return ""
}

// tooManyFailed says which clusters of a stage failed.
func tooManyFailed(v *view, r run, s *rollouts.Stage) cause {
	names := v.names(failures(v, r, s.Name))
	return cause{rollouts.TooManyFailed, fmt.Sprintf("%s: %s failed, %d of %d; %d are tolerated",
		s.Name, words.List(names), len(names), len(v.members[s.Name]), v.amount(s.MaxFailures, s.Name))}
}

// commanded says who gave a command.
func commanded(c rollouts.Command) cause {
	text := string(c.Verb) + " was commanded"
	switch {
	case c.By != "":
		text += " by " + c.By
	case c.Says != "":
		text += " by who says to be " + c.Says
	}
	return cause{rollouts.Commanded, text}
}

// keptBack says why a version is not tried again.
func keptBack(s rollouts.Status) string {
	return s.Message + "; the clusters went back, and this version is not tried again"
}
