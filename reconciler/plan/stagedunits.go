package plan

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// stagedUnits are the units that go out in stages, or did, and what is known of them.
func (s *stager) stagedUnits() (list []staged.Unit) {
	x, config := s.table.in.Expanded, &s.table.in.Source.Config
	if !Stages(&s.table.in.State, &s.table.in.Source) {
		return nil
	}
	is := map[rollouts.Unit]*unit.Unit{}
	for i := range x.Units {
		is[unitOf(x.Units[i].Name)] = &x.Units[i]
	}
	before, recorded := recordOf(s.table.in.State.Rollouts), map[rollouts.Unit]*rollouts.Rollout(nil)
	isReplay := isRecorded(s.table.in)
	if isReplay {
		recorded = recordOf(s.table.in.Replay.State.Rollouts)
	}
	of := namesOf(x.Units)
	found := units.Find(units.Input{
		Expanded: x, Decisions: s.table.decided.Decisions, Bindings: s.table.in.State.Bindings, Config: config, Of: of,
		Renderer: s.table.in.Staging.Renderer, Memo: &s.table.in.Memo.units,
		Stays: units.Staying(s.table.in.State.Bindings, before, of),
	})
	for _, u := range units.WithRecorded(found, s.table.in.State.Rollouts) {
		b, r := is[u.Unit], before[u.Unit]
		if r != nil && s.isFreed(&u, b, r) {
			r = nil
		}
		if r == nil && (b == nil || b.Strategy == nil && b.Stays == "") {
			continue
		}
		is := s.stagedUnit(u, b, r)
		is.IsReplay, is.Recorded = isReplay, recorded[u.Unit]
		list = append(list, is)
	}
	return list
}

// isFreed reports a unit that is bound to no strategy, and that was and is not to go out by the one that is recorded, because a release of
// it may give another result each time: the strategy does not go on, for it would never end.
func (s *stager) isFreed(u *units.Unit, b *unit.Unit, r *rollouts.Rollout) bool {
	isBound := b != nil && (b.Stays != "" || b.Strategy != nil && b.Strategy.Name != render.NoStrategy)
	if isBound || r.Status.Phase != rollouts.Done {
		return false
	}
	if _, isRestless := u.Restless(s.table.in.Expanded); !isRestless {
		return false
	}
	was := s.version(s.table.in.State.Published.Commit)
	if was == nil {
		return false
	}
	_, wasRestless := u.Restless(was.Expanded)
	return wasRestless
}

// uncounted says which commands do not count, and which are about no unit that goes out in stages.
func uncounted(in *Staging, list []staged.Unit) (diags []diag.Diagnostic) {
	all := slices.Clone(in.Ignored)
	for _, c := range in.Commands {
		isOf := func(u staged.Unit) bool { return c.Unit == "*" || c.Unit == u.String() }
		if !slices.ContainsFunc(list, isOf) {
			all = append(all, Ignored{What: fmt.Sprintf("%s %s (%s) does not count: nothing of this name goes out in stages", c.Verb, c.Unit, c.Ref)})
		}
	}
	for _, is := range all {
		d := diag.Diagnostic{
			Code: diag.RolloutCommandRefused, Severity: diag.Warning, Message: is.What,
			Hint: "docs/rollouts.md says which commands count; waybill rollout status UNIT says what a run waits for",
		}
		if i := slices.IndexFunc(list, func(u staged.Unit) bool { return u.String() == is.Unit }); i >= 0 {
			d.Pos = list[i].Pos
		}
		diags = append(diags, d)
	}
	return diags
}

// stagedUnit is what is known of a unit.
func (s *stager) stagedUnit(u units.Unit, b *unit.Unit, before *rollouts.Rollout) staged.Unit {
	isClaimed := func(r object.Ref) bool { return schedule.IsClaimed(s.table.decided.Decisions, r) }
	isAbsent := len(u.Policies) == 0 && !slices.ContainsFunc(u.Stays, isClaimed)
	is := staged.Unit{Unit: u, Before: before, Absent: isAbsent, Windows: map[string]stage.Window{}}
	if b != nil {
		is.Strategy, is.Refused = staged.Strategy(b.Strategy), b.Stays
	}
	if isOver := len(u.Stays) == 0 && !u.Unknown; before != nil && is.Strategy == nil && !isOver {
		is.Strategy = &before.Strategy // for what stays with it, or what it has of a release that does not render
	}
	if len(u.Policies) > 0 {
		is.Pos = u.Policies[0].Object.Origin()
	}
	if err := s.table.in.State.UnreadableRollouts[u.Unit]; err != nil {
		is.Unreadable, is.Refused = true, "what was recorded of it cannot be read: "+err.Error()
	}
	inForce := stage.InForce(is.Strategy, before)
	if inForce == nil {
		return is
	}
	if d, isRestless := u.Restless(s.table.in.Expanded); isRestless && !inForce.IsNone() && is.Refused == "" {
		is.Refused, is.Wrong = "a release of it may give another result each time", []diag.Diagnostic{d}
	}
	var refused string
	if is.Stages, is.Turns, refused = s.assigned(inForce, &u); refused != "" && is.Refused == "" {
		is.Refused = refused
	}
	for _, name := range append(stageNames(inForce), rollouts.Unmatched) {
		of := s.table.in.Expanded.Windows.Of(inForce.Name, name)
		if _, closed := of.Closed(s.table.in.Now); len(of) > 0 {
			is.Windows[name] = stage.Window{IsClosed: closed, Edge: of.Next(s.table.in.Now)}
		}
	}
	for _, c := range s.table.in.Staging.Commands {
		if c.Unit == u.String() || c.Unit == "*" {
			is.Commands = append(is.Commands, c.Command)
		}
	}
	return is
}

func stageNames(s *rollouts.Strategy) (names []string) {
	for i := range s.Stages {
		names = append(names, s.Stages[i].Name)
	}
	return names
}

// unitOf is a unit as it is recorded.
func unitOf(n unit.Name) rollouts.Unit {
	u, _ := rollouts.ParseUnit(n.String())
	return u
}

// namesOf names the unit of each policy.
func namesOf(bound []unit.Unit) map[object.Ref]rollouts.Unit {
	all := map[object.Ref]rollouts.Unit{}
	for i := range bound {
		for _, r := range bound[i].Policies {
			all[r] = unitOf(bound[i].Name)
		}
	}
	return all
}

func recordOf(list []rollouts.Rollout) map[rollouts.Unit]*rollouts.Rollout {
	all := map[rollouts.Unit]*rollouts.Rollout{}
	for i := range list {
		all[list[i].Unit] = &list[i]
	}
	return all
}
