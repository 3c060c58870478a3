package pages

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// difference is something that differs between two decisions, or two moments of a run.
type difference struct {
	mark Mark
	text string
}

// says puts the difference of two decisions into words. Either may be nil.
func says(was, is *facts.Template) (all []string) {
	for _, d := range differences(was, is) {
		all = append(all, d.text)
	}
	return all
}

// moved are the clusters in which decisions differ.
type moved struct {
	added, removed, held, left []string
	scaled                     map[string][]string // by from and to
}

// differences says in what two decisions differ. Either may be nil.
func differences(was, is *facts.Template) (all []difference) {
	switch {
	case was == nil && is == nil:
		return nil
	case is == nil:
		return []difference{{Mark{"Gone", "✕", "bad"}, "it is gone"}}
	case was == nil:
		was = &facts.Template{}
	}
	m := movedBetween(was, is)
	isMove := len(m.added) > 0 && len(m.removed) > 0
	for _, part := range []struct {
		mark Mark
		does string
		who  []string
	}{
		{Mark{"Placed", "+", "good"}, "added to ", m.added},
		{Mark{"Removed", "−", "bad"}, "removed from ", m.removed},
		{Mark{"Held", "‖", "warn"}, "not carried out in ", m.held},
		{Mark{"Not carried out", "‖", "warn"}, "not carried out in ", m.left},
	} {
		if len(part.who) == 0 {
			continue
		}
		if isMove && (part.mark.Word == "Placed" || part.mark.Word == "Removed") {
			part.mark = Mark{"Moved", "→", "warn"}
		}
		all = append(all, difference{part.mark, part.does + words.First(part.who, 8)})
	}
	for _, span := range slices.Sorted(maps.Keys(m.scaled)) {
		all = append(all, difference{Mark{"Scaled", "↕", "warn"}, "replicas " + span + " in " + words.First(m.scaled[span], 8)})
	}
	if was.Policy != is.Policy {
		all = append(all, difference{Mark{}, "placed by " + cmp.Or(is.Policy, "no policy")})
	}
	for _, task := range is.Leaving {
		if !slices.ContainsFunc(was.Leaving, func(t karmada.GracefulEvictionTask) bool { return t.FromCluster == task.FromCluster }) {
			all = append(all, difference{Mark{"Fails over", "→", "warn"}, "leaves " + task.FromCluster + ": " + cmp.Or(task.Message, task.Reason)})
		}
	}
	if was.Scheduled.Message != is.Scheduled.Message && !is.Placed() {
		all = append(all, difference{Mark{"Not placed", "✕", "bad"}, is.Scheduled.Message})
	}
	if len(all) == 0 && !isCarriedOut(was, is) {
		all = append(all, difference{Mark{}, "placed the same, for other reasons"})
	}
	return all
}

// movedBetween are the clusters in which decisions differ.
func movedBetween(was, is *facts.Template) (m moved) {
	m.scaled = map[string][]string{}
	for _, t := range is.Targets {
		before, had := was.Target(t.Cluster)
		switch a, b := seats(was, before), seats(is, t); {
		case !had:
			m.added = append(m.added, t.Cluster+counted(b))
		case a != b:
			span := strconv.Itoa(int(a)) + " → " + strconv.Itoa(int(b))
			m.scaled[span] = append(m.scaled[span], t.Cluster)
		}
		switch {
		case t.Left == before.Left || t.Left == "":
		case t.Left == reason.Held.Message():
			m.held = append(m.held, t.Cluster+" ("+t.Left+")")
		default:
			m.left = append(m.left, t.Cluster+" ("+t.Left+")")
		}
	}
	for _, t := range was.Targets {
		if _, has := is.Target(t.Cluster); !has {
			m.removed = append(m.removed, t.Cluster+counted(seats(was, t)))
		}
	}
	return m
}

// isCarriedOut reports that something which waited is carried out.
func isCarriedOut(was, is *facts.Template) bool {
	return slices.ContainsFunc(was.Targets, func(t facts.Target) bool { return t.Left != "" && !isLeft(is, t.Cluster) })
}

func counted(n int32) string {
	if n == 0 {
		return ""
	}
	return " (" + strconv.Itoa(int(n)) + ")"
}

// wentOn says how the run of a unit went on. Either moment may be nil.
func wentOn(was, is *rollouts.Rollout) (all []difference) {
	if is == nil {
		return nil
	}
	if was == nil {
		was = &rollouts.Rollout{}
	}
	s, before := &is.Status, &was.Status
	mark := PhaseMark(s.Phase)
	mark.Word = "Roll-out: " + mark.Word
	if s.Run != before.Run && s.Run != "" {
		all = append(all, difference{mark, "run " + short(s.Run) + " of " + is.Unit.String() + " takes it from " + short(s.Base.Commit) + " to " + short(s.Target.Commit)})
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		n := slices.IndexFunc(before.Stages, func(o rollouts.StageStatus) bool { return o.Name == st.Name })
		if st.Phase != rollouts.Waiting && (n < 0 || before.Run != s.Run || before.Stages[n].Phase != st.Phase) {
			all = append(all, difference{mark, "stage " + st.Name + ": " + string(st.Phase)})
		}
	}
	for i := range s.Commands {
		c := &s.Commands[i]
		if slices.ContainsFunc(before.Commands, func(o rollouts.Command) bool { return o.Ref == c.Ref && o.Verb == c.Verb }) {
			continue
		}
		who := cmp.Or(c.By, "somebody who says to be "+c.Says)
		text := strings.Join(strings.Fields(string(c.Verb)+" "+c.Stage+" "+c.Cluster), " ") + ", by " + who + " (" + c.Via + ", " + c.Ref + ")"
		if c.Refused {
			all = append(all, difference{Mark{"Command refused", "✕", "bad"}, text})
			continue
		}
		all = append(all, difference{Mark{"Commanded", "▸", "good"}, text})
	}
	if s.Phase != before.Phase && (s.Phase == rollouts.Stopped || s.Phase == rollouts.Done || s.Phase == rollouts.Returning) {
		all = append(all, difference{mark, strings.TrimSuffix("the run is "+string(s.Phase)+": "+s.Message, ": ")})
	}
	return all
}
