package reconciler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// horizon is how far the dates of commits may be from the order in which they came.
const horizon = 24 * time.Hour

// forward refuses to publish a commit that comes before one that was published: a slow job,
// or a mirror that lags behind, would undo what came after it. Where that one is nowhere, as
// after its branch was rewritten, their dates decide. Where it cannot be had, because the
// source is a shallow clone, only dates that are far apart do.
func forward(ctx context.Context, source published.Repository, now sources.Revision, published []state.Publication) error {
	commit, err := files.ParseID(now.Commit)
	if err != nil {
		return nil // a directory has no history
	}
	for _, p := range published {
		last, err := files.ParseID(p.Commit)
		if err != nil || p.Commit == now.Commit || !p.When.IsZero() && now.When.After(p.When.Add(horizon)) {
			continue // nothing was, or somebody else wrote the branch
		}
		older := now.When.Before(p.When)
		if _, err := source.Commit(ctx, last); err == nil || errors.Is(err, git.ErrShallow) {
			if older, err = source.IsAncestor(ctx, commit, last); err != nil {
				return fmt.Errorf("whether %.12s comes before %.12s, which was published last, is not known, and nothing is published: %w", now.Commit, p.Commit, err)
			}
		}
		if older {
			return fmt.Errorf("%.12s comes before %.12s, which was published last, and would undo what came after it; revert in the source, or publish with --rollback if that is what you want", now.Commit, p.Commit)
		}
	}
	return nil
}
