// Package given reads what people command of roll-outs: files of the branch of commands, and trailers of commits of the source
// that were not planned yet. It says of each who gave it, by the signature of the commit that brought it, and whether
// the rules let it count.
//
// The rules and the signers are those of the base of the run, the commit that was published before it: a change cannot name
// its own signers. Where the source has stricter rules by now, these count, too.
//
// What cannot be read commands nothing, and is named.
package given

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/git"
)

// Reader reads commands about roll-outs.
type Reader struct {
	Source published.Repository // nil: nothing of it can be read
	Target published.Repository // which has the branch of commands
	Subdir string               // folder of the source that is read; empty for all
	Now    time.Time
}

// Asked is what commands are read for.
type Asked struct {
	Branch   git.Head // the head of the branch of commands; the zero one where there is none
	State    *state.State
	Revision string         // the commit of the source that is planned; empty for what is in no commit
	Config   render.Rollout // of that commit
}

// Read returns the commands that count, oldest first, and those that do not, with why. One that was acted on already is
// returned as it was recorded.
func (r *Reader) Read(ctx context.Context, a *Asked) (all []plan.Command, ignored []plan.Ignored) {
	s := session{Reader: r, Asked: a, bases: map[string]base{}}
	files, strange := commands.DecodeRollouts(a.Branch.Tree)
	for _, f := range strange {
		ignored = append(ignored, plan.Ignored{What: commands.Branch + " has what is no command, " + f})
	}
	list := s.fromBranch(files)
	trailers, wrong := s.fromTrailers(ctx)
	list, ignored = append(list, trailers...), append(ignored, wrong...)
	slices.SortStableFunc(list, func(a, b candidate) int { return a.At.Compare(b.At.Time) })
	for i := range list {
		c := &list[i]
		if was := s.recorded(c); was != nil {
			all = append(all, plan.Command{Command: *was, Unit: c.Unit})
			continue
		}
		if err := s.judge(ctx, c); err != nil {
			ignored = append(ignored, plan.Ignored{Unit: c.Unit, What: fmt.Sprintf("%s %s (%s) does not count: %v", c.Verb, c.Unit, c.Ref, err)})
			continue
		}
		all = append(all, c.Command)
	}
	return all, ignored
}

// session is what is read for one plan.
type session struct {
	*Reader
	*Asked

	bases map[string]base
	// brought are the commits that brought files of the branch, by path, once they are asked for.
	brought map[string]git.Head
}

// candidate is a command that may count.
type candidate struct {
	plan.Command

	isAuthor bool
	// commit has it: of a trailer. Of a file it is found when it is asked for.
	commit *git.Head
}

// fromBranch are the commands of files that may count still.
func (s *session) fromBranch(all []commands.RolloutCommand) (list []candidate) {
	for i := range all {
		if c := &all[i]; c.Counts(s.Now) {
			list = append(list, candidate{Command: plan.Command{Command: c.Given(), Unit: c.Unit}, isAuthor: c.IsAuthor})
		}
	}
	return list
}

// fromTrailers are the commands of commits of the source that were not planned yet.
func (s *session) fromTrailers(ctx context.Context) (list []candidate, wrong []plan.Ignored) {
	heads, err := s.unplanned(ctx)
	if err != nil {
		return nil, []plan.Ignored{{What: fmt.Sprintf("the trailers %s of the source command nothing: %v", commands.RolloutTrailer, err)}}
	}
	for i := range heads {
		h := &heads[i]
		all, strange := commands.ParseRolloutTrailers(h.Message)
		for _, t := range strange {
			wrong = append(wrong, plan.Ignored{What: fmt.Sprintf("the trailer %s of %.12s commands nothing, %s", commands.RolloutTrailer, h.Commit, t)})
		}
		for n := range all {
			list = append(list, s.ofTrailer(h, &all[n], n))
		}
	}
	return list, wrong
}

// ofTrailer is the command of the nth trailer of a commit.
func (s *session) ofTrailer(h *git.Head, said *commands.Spoken, n int) candidate {
	c := candidate{commit: h, Command: plan.Command{Unit: said.Unit, Command: rollouts.Command{
		Verb: said.Verb, Run: said.Run, Via: commands.ViaTrailer, Ref: h.Commit.String(), At: metav1.NewTime(h.When.UTC()),
	}}}
	if n > 0 {
		c.Ref = fmt.Sprintf("%s#%d", h.Commit, n+1)
	}
	var stages []rollouts.StageStatus
	if was := s.rollout(c.Unit); was != nil {
		stages = was.Status.Stages
	}
	c.Stage, c.Cluster = said.Aim(stages)
	return c
}

// rollout is what is recorded of a unit; nil for nothing.
func (s *session) rollout(unit string) *rollouts.Rollout {
	i := slices.IndexFunc(s.State.Rollouts, func(r rollouts.Rollout) bool { return r.Unit.String() == unit })
	if i < 0 {
		return nil
	}
	return &s.State.Rollouts[i]
}

// recorded is what was recorded of a command that was acted on, or refused, by every unit that it is about; nil if it was not.
func (s *session) recorded(c *candidate) *rollouts.Command {
	was := s.rollout(c.Unit)
	if was == nil {
		return nil
	}
	i := slices.IndexFunc(was.Status.Commands, func(o rollouts.Command) bool { return o.Ref == c.Ref })
	if i < 0 {
		return nil
	}
	return &was.Status.Commands[i]
}
