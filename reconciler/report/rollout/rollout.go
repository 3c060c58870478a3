// Package rollout writes what `rollout status` prints: how far the run of a unit is that goes out in stages.
package rollout

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Write writes how far the run of a unit is: its phase and why, its stages with their clusters, when something happens next by
// itself, and what somebody may command.
func Write(w io.Writer, r *rollouts.Rollout, now time.Time) error {
	var b strings.Builder
	s := &r.Status
	fmt.Fprintf(&b, "%s  %s  %s\n", r.Unit, r.Strategy.Name, s.Phase)
	if s.Message != "" {
		fmt.Fprintf(&b, "  %s\n", s.Message)
	}
	if s.Phase == rollouts.Done {
		fmt.Fprintf(&b, "  it is at %.12s\n", s.Target.Commit)
	} else {
		fmt.Fprintf(&b, "  run %s, from %.12s to %.12s, since %s\n", s.Run, s.Base.Commit, s.Target.Commit, s.StartTime.UTC().Format(time.RFC3339))
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		fmt.Fprintf(&b, "\n%s  %s%s\n", st.Name, st.Phase, map[bool]string{true: ", skipped"}[st.Skipped])
		writeClusters(&b, r, st.Name)
	}
	if hasClusters(r, "") {
		b.WriteString("\nloses it at the end\n")
		writeClusters(&b, r, "")
	}
	for _, c := range s.Commands {
		by := cmp.Or(c.By, "who says to be "+c.Says)
		did := "acted"
		if c.Refused {
			did = "did nothing: it came for another run, or too early or late"
		}
		fmt.Fprintf(&b, "\ncommand: %s, by %s (%s, %s): %s\n", joinedWords(string(c.Verb), c.Stage, c.Cluster), by, c.Via, c.Ref, did)
	}
	writeNext(&b, r, now)
	_, err := io.WriteString(w, b.String())
	return err
}

func joinedWords(all ...string) string {
	return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
}

func hasClusters(r *rollouts.Rollout, stage string) bool {
	for _, e := range r.Clusters {
		if e.Stage == stage {
			return true
		}
	}
	return false
}

// writeClusters writes the clusters of a stage, in the order of their names.
func writeClusters(b *strings.Builder, r *rollouts.Rollout, stage string) {
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		e := r.Clusters[name]
		if e.Stage != stage {
			continue
		}
		fmt.Fprintf(b, "  %s  %s", name, e.State)
		if e.Shows != "" {
			fmt.Fprintf(b, "  shows %.12s", e.Shows)
		}
		if why := joinedWords(string(e.Reason), words.Printable(e.Message)); why != "" {
			fmt.Fprintf(b, "  %s", why)
		}
		if e.Evidence != "" {
			fmt.Fprintf(b, "  (%s)", e.Evidence)
		}
		b.WriteByte('\n')
	}
}

// writeNext writes when something happens by itself, and the command that helps.
func writeNext(b *strings.Builder, r *rollouts.Rollout, now time.Time) {
	if r.Status.Phase == rollouts.Done {
		return
	}
	if at, what := nextTime(r, now); what != "" {
		fmt.Fprintf(b, "\nnext: %s, at %s\n", what, at.UTC().Format(time.RFC3339))
	}
	if verbs := helps(r); len(verbs) > 0 {
		b.WriteByte('\n')
		for _, v := range verbs {
			fmt.Fprintf(b, "waybill rollout %s\n", v)
		}
	}
}

// nextTime is the first time at which something happens by itself.
func nextTime(r *rollouts.Rollout, now time.Time) (at time.Time, what string) {
	by := func(t time.Time, is string) {
		if t.After(now) && (what == "" || t.Before(at)) {
			at, what = t, is
		}
	}
	i := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
	if i < 0 || r.Status.Phase == rollouts.Stopped {
		return at, what
	}
	st := &r.Status.Stages[i]
	by(st.Deadline.Time, st.Name+" stops if none of its clusters is healthy")
	n := slices.IndexFunc(st.After, func(is rollouts.Task) bool { return is.Type == rollouts.WaitTask && !is.Since.IsZero() })
	of := slices.IndexFunc(r.Strategy.Stages, func(s rollouts.Stage) bool { return s.Name == st.Name })
	if n >= 0 && of >= 0 {
		by(st.After[n].Ends(&r.Strategy.Stages[of]).Time, st.Name+" has soaked")
	}
	return at, what
}

// helps are the commands that somebody may want to give about an open run, without "waybill rollout", the likeliest first. A
// comment gives one by "/waybill rollout" before it.
func helps(r *rollouts.Rollout) (all []string) {
	at := fmt.Sprintf("%s@%s", r.Unit, r.Status.Run)
	i := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
	switch s := &r.Status; {
	case s.IsKeptBack():
		return []string{"resume " + at}
	case s.Phase == rollouts.Stopped:
		return []string{"return " + at, "resume " + at}
	case i >= 0 && (s.Phase == rollouts.Approving || s.Reason == rollouts.ApprovalMissing):
		return []string{"approve " + at + " " + s.Stages[i].Name, "stop " + at}
	case s.Phase == rollouts.Waiting || s.Phase == rollouts.Updating || s.Phase == rollouts.Soaking:
		return []string{"stop " + at}
	}
	return nil
}
