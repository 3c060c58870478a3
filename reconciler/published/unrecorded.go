package published

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// mostUnrecorded is how many commits of a branch may be on top of what the state knows: who dies after each push leaves one.
const mostUnrecorded = 100

// unrecorded finds what clusters have on top of what the state knows: whoever published that died before the state was. Where it
// cannot be told what the state knows, nothing is said of the cluster.
func (r *reading) unrecorded(ctx context.Context) error {
	if r.State.Published.Commit == "" { // nothing is known of any of them
		return nil
	}
	isRecorded := map[string]bool{} // messages: clusters that changed alike share one
	for _, cluster := range slices.Sorted(maps.Keys(r.Clusters)) {
		head, ok := r.newest[cluster]
		if r.at.Shared != "" {
			head, ok = r.tip, true
		}
		if !ok || isRecorded[head.Message] {
			continue
		}
		if !isOnTop(&r.State, head.Message) {
			isRecorded[head.Message] = true
			continue
		}
		u, err := r.onTop(ctx, r.at.Of(cluster), head)
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return err
		}
		if is := r.Clusters[cluster].Built; is != nil && is.ID() != u.Known.ID() {
			r.Unrecorded[cluster] = u
		}
	}
	return nil
}

// onTop walks from a commit of the branch of an address to the first one that the state knows.
func (r *reading) onTop(ctx context.Context, at render.Address, head git.Head) (*staged.Unrecorded, error) {
	u := staged.Unrecorded{Known: files.NewFolder(nil)}
	for len(u.Commits) < mostUnrecorded {
		u.Commits = append(u.Commits, head.Commit)
		if head.Parent.IsZero() {
			return &u, nil
		}
		parent, ok, err := r.CommitAt(ctx, at, head.Parent)
		if err != nil {
			return nil, err
		}
		if head = parent; isOnTop(&r.State, head.Message) {
			continue
		}
		if ok {
			was, err := tree.Read(head.Tree)
			if err != nil || was.Built == nil {
				return nil, git.ErrMissing
			}
			u.Known = was.Built
		}
		return &u, nil
	}
	return nil, git.ErrMissing
}
