package published

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// edit says of an address that somebody edited which files these are, and in which commit that began;
// nothing where that is not known.
func (b *Branches) edit(ctx context.Context, a render.Address, head git.Head) string {
	const most = 1000
	first := head
	for range most {
		before, ok, err := b.earlier(ctx, &a, first)
		if err != nil || !ok {
			return ""
		}
		was, err := tree.Read(before.Tree)
		if err != nil {
			return ""
		}
		if was.Built != nil && !was.Edited {
			return fmt.Sprintf(": %s, in commit %.12s", words.List(differing(was.Built, head.Tree)), first.Commit.String())
		}
		first = before
	}
	return ""
}

// earlier reads the commit before another one, and notes the address where that is.
func (b *Branches) earlier(ctx context.Context, a *render.Address, head git.Head) (git.Head, bool, error) {
	c, ok := publish.ParseContinued(head.Message, a.Cluster())
	if !ok {
		return b.Before(ctx, *a, head)
	}
	*a = c.From
	id, err := b.Newest(ctx, c.From, c.Commit)
	if err != nil {
		return git.Head{}, false, err
	}
	return b.CommitAt(ctx, c.From, id)
}

// differing lists the files of a folder that are otherwise in another one, or not there.
func differing(ours, now *files.Folder) []string {
	is := maps.Collect(now.All())
	var names []string
	for path, was := range ours.All() {
		if e, ok := is[path]; !ok || e.ID != was.ID {
			names = append(names, path)
		}
	}
	slices.Sort(names)
	return names
}
