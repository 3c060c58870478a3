package reports

import (
	"context"
	"fmt"
	"maps"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
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

// branches looks where status branches are, and fetches those of clusters. What is wrong with the branch
// of one cluster is kept for that cluster.
func (r *Reader) branches(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (statusBranches, error) {
	h := statusBranches{
		target: r.Published.Target, told: r.Told, heads: heads, toldAt: heads, keys: map[string]*signing.Public{}, refused: map[string]error{},
	}
	var err error
	if h.told == nil {
		h.told = r.Published.Target
	} else if h.toldAt, err = h.told.Heads(ctx); err != nil {
		return h, fmt.Errorf("reading what agents say: %w", err)
	}
	here, there := map[string]string{}, map[string]string{} // branches, by cluster
	for _, c := range of {
		key, err := heartbeat.KeyOf(c)
		switch branch := status.Prefix + c.Name; {
		case err != nil:
			h.refused[c.Name] = err
		case key != nil:
			h.keys[c.Name], there[c.Name] = key, branch
		default:
			here[c.Name] = branch
		}
	}
	for _, from := range []struct {
		published.Repository

		branches map[string]string
	}{{h.target, here}, {h.told, there}} {
		refused, err := published.FetchEach(ctx, from, from.branches)
		if err != nil {
			return h, err
		}
		maps.Copy(h.refused, refused)
	}
	return h, nil
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
