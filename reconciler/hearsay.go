package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	// refused says of clusters why nothing of them is read.
	refused map[string]error
}

// hearsay looks where status branches are, and fetches those of clusters. What is wrong with the branch
// of one cluster is kept for that cluster.
func (r *Reconciler) hearsay(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (hearsay, error) {
	h := hearsay{target: r.Target, told: r.Told, heads: heads, toldAt: heads, keys: map[string]*signing.Public{}, refused: map[string]error{}}
	var err error
	if h.told == nil {
		h.told = r.Target
	} else if h.toldAt, err = h.told.Heads(ctx); err != nil {
		return h, fmt.Errorf("reading what agents say: %w", err)
	}
	here, there := map[string]string{}, map[string]string{} // branches, by cluster
	for _, c := range of {
		key, err := AgentKey(c)
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
		Repository

		branches map[string]string
	}{{h.target, here}, {h.told, there}} {
		refused, err := fetchEach(ctx, from, from.branches)
		if err != nil {
			return h, err
		}
		maps.Copy(h.refused, refused)
	}
	return h, nil
}

// fetchEach fetches a branch a cluster, by one request. Where that is more than is fetched at once, it
// fetches one after the other, and returns those clusters whose branch alone is too much.
func fetchEach(ctx context.Context, from Repository, branches map[string]string) (refused map[string]error, err error) {
	if err = from.Fetch(ctx, slices.Sorted(maps.Values(branches))...); !isLimit(err) {
		return nil, err //nolint:wrapcheck // it names the branches
	}
	refused = map[string]error{}
	for cluster, branch := range branches {
		switch err := from.Fetch(ctx, branch); {
		case isLimit(err):
			refused[cluster] = err
		case err != nil:
			return nil, err //nolint:wrapcheck // it names the branches
		}
	}
	return refused, nil
}

func isLimit(err error) bool {
	_, is := errors.AsType[*git.LimitError](err)
	return is
}

// head reads the head of a cluster's status branch; nil if there is none that counts. Ignored says
// why one does not. An error is that of a context which ended.
func (h *hearsay) head(ctx context.Context, cluster string) (_ *git.Head, ignored string, err error) {
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
		head, err = SignedBy(ctx, from, id, key)
	}
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, fmt.Sprintf("what its status branch says, %.12s, is ignored: %v", id.String(), err), nil
	}
	return &head, "", nil
}

// SignedBy reads a commit that somebody else wrote. Its files are not looked at before a key was found to
// have signed it; nil: it need not be signed.
func SignedBy(ctx context.Context, from Repository, id files.ID, key *signing.Public) (git.Head, error) {
	if key != nil {
		head, _, err := from.Root(ctx, id)
		if err == nil {
			err = key.Verify(signing.Git, head.Signed, head.Signature)
		}
		if err != nil {
			return git.Head{}, err //nolint:wrapcheck // it says what
		}
	}
	return from.Commit(ctx, id) //nolint:wrapcheck // it names the commit
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
