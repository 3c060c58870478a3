package reports

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// statusBranches are those in the repository of the branches, and in the one that
// agents write to, which may be the same. Of a cluster whose agent has a key nothing counts that
// this key did not sign.
type statusBranches struct {
	target, told  published.Repository
	heads, toldAt map[string]files.ID
	keys          map[string]*signing.Public // by cluster
	// refused says of clusters why nothing of them is read.
	refused map[string]error
}

// head reads the head of a cluster's status branch; nil if there is none that counts. Ignored says
// why one does not. An error is that of a context which ended.
func (h *statusBranches) head(ctx context.Context, cluster string) (_ *git.Head, ignored string, err error) {
	from, at, key := h.target, h.heads, h.keys[cluster]
	if key != nil {
		from, at = h.told, h.toldAt
	}
	id := at[status.Prefix+cluster]
	err = h.refused[cluster]
	if err == nil && id.IsZero() {
		return nil, "", nil
	}
	var head git.Head
	if err == nil {
		head, err = published.SignedBy(ctx, from, id, key)
	}
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, fmt.Sprintf("what its status branch says, %.12s, is ignored: %v", id.String(), err), nil
	}
	return &head, "", nil
}
