package reconciler

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
)

// approved lists what maintainers approved by comments on pull requests that the source commit of an observation contains.
// What cannot be read allows nothing.
func approved(ctx context.Context, source, target published.Repository, heads map[string]files.ID, obs *Observation) ([]guard.Approval, error) {
	head, err := commands.Head(ctx, target, heads)
	if err != nil {
		return nil, err
	}
	all, _ := commands.Decode(head.Tree)
	commit := obs.Snapshot.Revision().Commit
	return commands.Approved(all, obs.Input.Now, func(merged string) bool {
		return source != nil && commands.Contains(ctx, source, commit, merged)
	}), nil
}
