package reconciler

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// Earlier finds what a rollback goes from and to: the source commit that was published last, and
// the one that rev names; with no rev the one that was published before. It has to come before
// the other one.
func Earlier(ctx context.Context, r *Reconciler, rev string) (last, earlier files.ID, err error) {
	if err := r.Target.Fetch(ctx, state.Branch); err != nil {
		return last, earlier, fmt.Errorf("reading what was published: %w", err)
	}
	head, ok, err := r.Target.Branch(ctx, state.Branch)
	if err != nil {
		return last, earlier, fmt.Errorf("reading what was published: %w", err)
	}
	if !ok {
		return last, earlier, fmt.Errorf("nothing was published to %s yet, so that there is nothing to go back to", r.Target.Name())
	}
	if last, err = files.ParseID(publish.Trailer(head.Message, publish.TrailerCommit)); err != nil {
		return last, earlier, fmt.Errorf("the head of %s names no source commit", state.Branch)
	}
	if rev != "" {
		if earlier, err = r.Source.Resolve(ctx, rev); err != nil {
			return last, earlier, err
		}
		return last, earlier, comesBefore(ctx, r.Source, earlier, last)
	}
	for !head.Parent.IsZero() {
		if head, err = r.Target.Commit(ctx, head.Parent); err != nil {
			return last, earlier, fmt.Errorf("reading what was published earlier: %w", err)
		}
		if id, err := files.ParseID(publish.Trailer(head.Message, publish.TrailerCommit)); err == nil && id != last {
			return last, id, comesBefore(ctx, r.Source, id, last)
		}
	}
	return last, earlier, errors.New("no other source commit was published before; name one")
}

// comesBefore is an error unless one source commit comes before another.
func comesBefore(ctx context.Context, source published.Repository, earlier, last files.ID) error {
	before, err := source.IsAncestor(ctx, earlier, last)
	if err != nil {
		return fmt.Errorf("whether %.12s comes before %.12s, which was published last, is not known: %w", earlier, last, err)
	}
	if !before || earlier == last {
		return fmt.Errorf("%.12s does not come before %.12s, which was published last; `waybill publish --rev %.12s` publishes it", earlier, last, earlier)
	}
	return nil
}
