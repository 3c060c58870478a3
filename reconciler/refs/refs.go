// Package refs writes to refs of a Git host that are no branches, and for a while to branches in their place, where the host
// takes no others.
package refs

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/waybill-dev/waybill/sources/git"
)

// Host is where something is written. Several may write at once.
type Host struct {
	What string // is written, for the log
	Now  func() time.Time
	Log  *slog.Logger

	taken atomic.Pointer[taken] // nil: no ref was refused
}

// Write writes to other refs than branches, or to branches, by what the host takes now. What fails otherwise than by a refusal changes
// nothing in that.
func (h *Host) Write(ctx context.Context, others, branches func() error) error {
	was := h.taken.Load()
	if was != nil && was.branchesOnly(h.Now()) {
		return branches()
	}
	err := others()
	refused, ok := errors.AsType[*git.RefusedError](err)
	if !ok {
		if err == nil && was != nil && h.taken.CompareAndSwap(was, nil) {
			h.Log.InfoContext(ctx, "refs that are no branches are taken again", "of", h.What)
		}
		return err
	}
	if branchErr := branches(); branchErr != nil { // it refuses more than a ref
		return errors.Join(err, branchErr)
	}
	var is taken
	if was != nil {
		is = *was
	}
	is = is.refused(refused.Why, h.Now())
	if h.taken.CompareAndSwap(was, &is) && was == nil { // else another writer told so at the same time
		h.Log.WarnContext(ctx, "a branch is written, because the server does not take another ref", "of", h.What, "ref", refused.Ref, "err", refused, "again", is.again)
	}
	return nil
}
