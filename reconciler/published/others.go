package published

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// What agents write is read with care: nobody else vouches for it.

// FetchEach fetches a branch a cluster, by one request. Where that is more than is fetched at once, it
// fetches one after the other, and returns those clusters whose branch alone is too much.
func FetchEach(ctx context.Context, from Repository, branches map[string]string) (refused map[string]error, err error) {
	if err = from.Fetch(ctx, slices.Sorted(maps.Values(branches))...); !isLimit(err) {
		return nil, err
	}
	refused = map[string]error{}
	for cluster, branch := range branches {
		switch err := from.Fetch(ctx, branch); {
		case isLimit(err):
			refused[cluster] = err
		case err != nil:
			return nil, err
		}
	}
	return refused, nil
}

func isLimit(err error) bool {
	_, is := errors.AsType[*git.LimitError](err)
	return is
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
			return git.Head{}, err
		}
	}
	return from.Commit(ctx, id)
}
