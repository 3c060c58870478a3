package published

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/publish"
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
		if r.isRecorded(head.Message) {
			isRecorded[head.Message] = true
			continue
		}
		u, ok, err := r.onTop(ctx, r.at.Of(cluster), head)
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return err
		}
		if is := r.Clusters[cluster].Built; ok && is != nil && is.ID() != u.Known.ID() {
			r.Unrecorded[cluster] = u
		}
	}
	return nil
}

// isRecorded reports a commit that the state knows. What a person wrote says nothing of that.
func (r *reading) isRecorded(message string) bool {
	return isPublication(message) && !isOnTop(&r.State, message)
}

// isPublication reports a commit that something was published with.
func isPublication(message string) bool { return publish.Trailer(message, publish.TrailerCommit) != "" }

// onTop walks from a commit of the branch of an address to the first one that the state knows; false if nothing was published on
// top of that.
func (r *reading) onTop(ctx context.Context, at render.Address, head git.Head) (u *staged.Unrecorded, ok bool, err error) {
	u = &staged.Unrecorded{Known: files.NewFolder(nil)}
	for len(u.Commits) < mostUnrecorded {
		u.Commits = append(u.Commits, head.Commit)
		ok = ok || isPublication(head.Message)
		if head.Parent.IsZero() {
			return u, ok, nil
		}
		var there bool
		if head, there, err = r.CommitAt(ctx, at, head.Parent); err != nil {
			return nil, false, err
		}
		if !r.isRecorded(head.Message) {
			continue
		}
		if there {
			was, err := tree.Read(head.Tree)
			if err != nil || was.Built == nil {
				return nil, false, git.ErrMissing
			}
			u.Known = was.Built
		}
		return u, ok, nil
	}
	return nil, false, git.ErrMissing
}
