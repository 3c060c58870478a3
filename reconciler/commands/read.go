package commands

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Head reads the branch of commands; the zero head where there is none.
func Head(ctx context.Context, at published.Repository, heads map[string]files.ID) (git.Head, error) {
	if _, ok := heads[Branch]; !ok {
		return git.Head{}, nil
	}
	if err := at.Fetch(ctx, Branch); err != nil {
		return git.Head{}, err
	}
	head, _, err := at.Branch(ctx, Branch)
	return head, err
}

// Contains reports whether a commit of a source is, or comes after, another one. What cannot be told is not.
func Contains(ctx context.Context, source published.Repository, commit, other string) bool {
	of, err := files.ParseID(commit)
	if err != nil {
		return false
	}
	earlier, err := files.ParseID(other)
	if err != nil {
		return false
	}
	is, err := source.IsAncestor(ctx, earlier, of)
	return of == earlier || err == nil && is
}
