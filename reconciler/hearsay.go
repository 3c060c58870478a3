package reconciler

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// hearsay is what status branches say: in the repository of the branches, and in the one that
// agents write to, which may be the same. Of a cluster whose agent has a key nothing counts that
// this key did not sign.
type hearsay struct {
	target, told  Repository
	heads, toldAt map[string]files.ID
	keys          map[string]*signing.Public // by cluster
}

// hearsay looks where status branches are, and fetches those of clusters.
func (r *Reconciler) hearsay(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (hearsay, error) {
	h := hearsay{target: r.Target, told: r.Told, heads: heads, toldAt: heads, keys: map[string]*signing.Public{}}
	var err error
	if h.told == nil {
		h.told = r.Target
	} else if h.toldAt, err = h.told.Heads(ctx); err != nil {
		return h, fmt.Errorf("reading what agents say: %w", err)
	}
	var here, there []string
	for _, c := range of {
		key, err := AgentKey(c)
		if err != nil {
			return h, err
		}
		branch := status.Prefix + c.Name
		if h.keys[c.Name] = key; key != nil {
			there = append(there, branch)
		} else {
			here = append(here, branch)
		}
	}
	if err := h.target.Fetch(ctx, here...); err != nil {
		return h, err //nolint:wrapcheck // it names the branches
	}
	return h, h.told.Fetch(ctx, there...) //nolint:wrapcheck // it names the branches
}

// head reads the head of a cluster's status branch; nil if there is none that counts. Ignored says
// why one does not.
func (h *hearsay) head(ctx context.Context, cluster string) (_ *git.Head, ignored string, err error) {
	from, at, key := h.target, h.heads, h.keys[cluster]
	if key != nil {
		from, at = h.told, h.toldAt
	}
	id := at[status.Prefix+cluster]
	if id.IsZero() {
		return nil, "", nil
	}
	head, err := from.Commit(ctx, id)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // it names the commit
	}
	if key != nil {
		if err := key.Verify(signing.Git, head.Signed, head.Signature); err != nil {
			return nil, fmt.Sprintf("what its status branch says, %.12s, is ignored: %v", id.String(), err), nil
		}
	}
	return &head, "", nil
}

// lost says of a cluster that nobody hears of its agent any more; empty if somebody does.
func lost(seen *karmada.ClusterStatus) string {
	if seen == nil {
		return ""
	}
	c := meta.FindStatusCondition(seen.Conditions, observation.ConditionHeartbeat)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	return "no heartbeat of its agent came since " + c.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z")
}
