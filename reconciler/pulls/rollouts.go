package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/forge"
)

// staged is what goes out in stages, as the state branch has it, and what the forge says of it.
type staged struct {
	all []rollouts.Rollout
	// targets are the pull requests that were merged as the target of an open run, by that commit. What is not there is not
	// known yet.
	targets map[string][]forge.PullRequest
	isRead  bool
}

// mostAsked is how many targets of open runs the forge is asked about in one look, and mergeTime how long after its run began
// a commit may turn out to be one as which something was merged.
const (
	mostAsked = 50
	mergeTime = 10 * time.Minute
)

// staged reads what goes out in stages, and asks the forge which pull requests became the targets of open runs, about each
// until it is known. With an error come those that are known.
func (c *CommandHandler) staged(ctx context.Context) (s staged, err error) {
	s.targets = map[string][]forge.PullRequest{}
	heads, err := c.Target.Heads(ctx)
	if err != nil {
		return s, err
	}
	if _, ok := heads[state.Branch]; !ok {
		s.isRead = true
		return s, nil
	}
	if err := c.Target.Fetch(ctx, state.Branch); err != nil {
		return s, err
	}
	head, _, err := c.Target.Branch(ctx, state.Branch)
	if err != nil || head.Tree == nil {
		return s, err
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	s.all, _ = rollouts.Decode(e.Dir)
	s.isRead = true
	return s, c.findTargets(ctx, &s)
}

// findTargets asks the forge which pull requests became the targets of open runs.
func (c *CommandHandler) findTargets(ctx context.Context, s *staged) (failed error) {
	asked, kept := 0, map[string][]forge.PullRequest{}
	for i := range s.all {
		st := &s.all[i].Status
		commit := st.Target.Commit
		if _, known := s.targets[commit]; st.Phase == rollouts.Done || known {
			continue
		}
		found, known := c.mergedAs[commit]
		if !known {
			if asked == mostAsked {
				continue
			}
			asked++
			var err error
			if found, err = c.Forge.PullRequestsMergedAs(ctx, commit); err != nil {
				failed = errors.Join(failed, fmt.Errorf("roll-out of %s: %w", s.all[i].Unit, err))
				continue
			}
		}
		if s.targets[commit] = found; len(found) > 0 || c.Now().Sub(st.StartTime.Time) > mergeTime {
			kept[commit] = found
		}
	}
	c.mergedAs = kept // of the runs that are open, and no others
	return failed
}

// knows reports that it is known which pull requests became the target of the run that a command is about, if one is open.
func (s *staged) knows(said *commands.Spoken) bool {
	r, why := s.run(said)
	if why != "" {
		return s.isRead
	}
	_, known := s.targets[r.Status.Target.Commit]
	return known
}

// merged are the pull requests that became targets of open runs, in the order of their numbers.
func (s *staged) merged() (all []forge.PullRequest) {
	for _, found := range s.targets {
		for _, p := range found {
			if !slices.ContainsFunc(all, func(o forge.PullRequest) bool { return o.Number == p.Number }) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b forge.PullRequest) int { return a.Number - b.Number })
	return all
}

// run is the open run that a command is about, or why there is none.
func (s *staged) run(said *commands.Spoken) (*rollouts.Rollout, string) {
	i := slices.IndexFunc(s.all, func(r rollouts.Rollout) bool { return r.Unit.String() == said.Unit })
	switch {
	case i < 0:
		return nil, said.Unit + " does not go out in stages"
	case s.all[i].Status.Run != said.Run || s.all[i].Status.Phase == rollouts.Done:
		return nil, fmt.Sprintf("it is about the run %s, which is not the open one of %s; look at that", said.Run, said.Unit)
	}
	return &s.all[i], ""
}

// judgeRollout makes a command of a comment, or says why it is none. A comment on a pull request that is closed counts if that
// became the target of the run.
func (c *CommandHandler) judgeRollout(w *written, l *look) (o commands.RolloutCommand, why string) {
	if w.wrong != nil {
		return o, w.wrong.Error()
	}
	if why := commands.JudgeComment(&w.comment, w.may); why != "" {
		return o, why
	}
	r, why := l.goes.run(&w.said)
	if why != "" {
		return o, why
	}
	isSame := func(p forge.PullRequest) bool { return p.Number == l.pull.Number }
	isAuthor := func(p forge.PullRequest) bool { return p.Author.ID == w.comment.Author.ID }
	targets := l.goes.targets[r.Status.Target.Commit]
	if !l.pull.Open && !slices.ContainsFunc(targets, isSame) {
		return o, "the pull request is closed, and is not the one that became what goes out"
	}
	o = commands.RolloutCommand{
		Verb: w.said.Verb, Unit: w.said.Unit, Run: w.said.Run, By: w.comment.Author.Login, Via: commands.ViaComment,
		At: c.Now().UTC().Truncate(time.Second), PullRequest: l.pull.Number, Comment: w.comment.ID,
		IsAuthor: slices.ContainsFunc(targets, isAuthor),
	}
	if w.said.Of != "" {
		o.Stage, o.Cluster = w.said.Aim(r.Status.Stages)
	}
	if _, err := commands.Foresee(r, &o); err != nil {
		return o, err.Error()
	}
	if c.Rules.NotAuthor && o.IsAuthor && o.Verb == rollouts.Approve {
		return o, "whoever made the change may not approve it; ask somebody else"
	}
	return o, ""
}

// ended are the commands about roll-outs that count no more: old ones, and those about a run that another one replaced.
func (c *CommandHandler) ended(all []commands.RolloutCommand, s *staged) (ended []commands.RolloutCommand) {
	for i := range all {
		o := &all[i]
		isReplaced := func(r rollouts.Rollout) bool { return r.Unit.String() == o.Unit && r.Status.Run != o.Run }
		if !o.Counts(c.Now()) || slices.ContainsFunc(s.all, isReplaced) {
			ended = append(ended, *o)
		}
	}
	return ended
}

// answerRollouts says what became of commands about roll-outs.
func (c *CommandHandler) answerRollouts(ctx context.Context, change *commands.Change, heads map[int64]string) {
	for i := range change.Given {
		o := &change.Given[i]
		c.judged[o.Comment] = true
		c.Log.InfoContext(ctx, "command taken", "command", o.String(), "pull_request", o.PullRequest, "by", o.By)
		c.answer(ctx, heads[o.Comment], forge.Success, fmt.Sprintf("%s, by %s", strings.TrimPrefix(o.String(), "rollout "), o.By))
	}
	for i := range change.Ended {
		o := &change.Ended[i]
		c.Log.InfoContext(ctx, "command ended", "command", o.String(), "by", o.By)
	}
}
