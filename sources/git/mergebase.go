package git

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/waybill-dev/waybill/sources/files"
)

// MergeBase returns the commit from which two others went apart, as git merge-base does: of
// several the first; false where they have none in common. The second may be one that only a ref
// of a pull request leads to.
func (r *Repo) MergeBase(ctx context.Context, a, b files.ID) (files.ID, bool, error) {
	var commits []*object.Commit
	for _, id := range []files.ID{a, b} {
		c, err := r.obtained(ctx, id)
		if err != nil {
			return files.ID{}, false, fmt.Errorf("reading commit %s of %s: %w", id, r.shown, err)
		}
		commits = append(commits, c)
	}
	bases, err := commits[0].MergeBase(commits[1])
	if err != nil {
		return files.ID{}, false, fmt.Errorf("looking for where %s and %s of %s went apart: %w", a, b, r.shown, err)
	}
	if len(bases) == 0 {
		return files.ID{}, false, nil
	}
	return files.ID(bases[0].Hash), true, nil
}
