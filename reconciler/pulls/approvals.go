package pulls

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

// approve adds to an approval the removals that it names; why says that it names others.
func (c *CommandHandler) approve(ctx context.Context, o *commands.Command, pr forge.PullRequest) (why string, err error) {
	if o.Verb != commands.ApprovePrune {
		return "", nil
	}
	adds, why, err := c.Adds(ctx, pr)
	if err != nil || why != "" {
		return why, err
	}
	switch digest := adds.Digest(); digest {
	case o.Digest:
		o.Removals = adds
		return "", nil
	case "":
		return "the pull request adds no removals that would be held", nil
	default:
		return fmt.Sprintf("the removals that the pull request adds are other ones, with the digest %s; look at them", digest), nil
	}
}

// carriedOut reports an approval that is used up: what was published last contains its merge, and holds none
// of its clusters.
func (c *CommandHandler) carriedOut(ctx context.Context, o *commands.Command, published git.Head) bool {
	if o.Merged == "" || published.Tree == nil {
		return false
	}
	last, err := state.Published(published.Tree)
	if err != nil || !commands.Contains(ctx, c.Source, last.Commit, o.Merged) {
		return false
	}
	registered, err := state.Clusters(published.Tree)
	if err != nil {
		return false
	}
	for _, cluster := range registered {
		ofCluster := func(g guard.Group) bool { return slices.Contains(g.Clusters, cluster.Name) }
		if state.HeldBy(cluster) != "" && slices.ContainsFunc(o.Removals, ofCluster) {
			return false
		}
	}
	return true
}

// published is what was published last, where any approval waits for that; the zero head otherwise.
func (c *CommandHandler) published(ctx context.Context, known []commands.Command) (git.Head, error) {
	if !slices.ContainsFunc(known, func(o commands.Command) bool { return o.Merged != "" }) {
		return git.Head{}, nil
	}
	if err := c.Target.Fetch(ctx, state.Branch); err != nil {
		return git.Head{}, err
	}
	head, _, err := c.Target.Branch(ctx, state.Branch)
	return head, err
}
