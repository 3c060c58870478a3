package reconciler

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/commands/given"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/sources/files"
)

// commanded reads what maintainers approved by comments on pull requests that the source commit of an observation contains, and
// what is commanded of roll-outs. What cannot be read allows nothing.
func commanded(ctx context.Context, r *Reconciler, heads map[string]files.ID, obs *Observation) error {
	in, stages := &obs.Input, plan.Stages(&obs.Input.State, &obs.Source)
	if in.Allow.All() && !stages {
		return nil
	}
	head, err := commands.Head(ctx, r.Target, heads)
	if err != nil {
		return err
	}
	commit := obs.Snapshot.Revision().Commit
	if !in.Allow.All() {
		all, _ := commands.Decode(head.Tree)
		in.Allow.Approved = commands.Approved(all, in.Now, func(merged string) bool {
			return r.Source != nil && commands.Contains(ctx, r.Source, commit, merged)
		})
	}
	if stages {
		reader := given.Reader{Source: r.Source, Target: r.Target, Subdir: r.Subdir, Now: in.Now}
		in.Staging.Commands, in.Staging.Ignored = reader.Read(ctx, &given.Asked{
			Branch: head, State: &in.State, Revision: commit, Config: obs.Source.Config.Rollout,
		})
	}
	return nil
}
