package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
)

// branches are those of the repository in one call of Verify or Chain: their heads are asked for once, and each is fetched once.
type branches struct {
	of      published.Repository
	heads   map[string]files.ID // nil until they are asked for
	fetched map[string]bool
}

// afresh is a verifier of which a call has asked for no branch.
func (v *Verifier) afresh() *Verifier {
	is := *v
	is.branches = &branches{of: v.Published.Target, fetched: map[string]bool{}}
	return &is
}

// at returns the heads.
func (b *branches) at(ctx context.Context) (map[string]files.ID, error) {
	if b.heads != nil {
		return b.heads, nil
	}
	heads, err := b.of.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what is published: %w", err)
	}
	b.heads = heads
	return heads, nil
}

// fetch fetches those of branches that were not fetched, by one request if that is not too much for one.
func (b *branches) fetch(ctx context.Context, names ...string) error {
	wanted := map[string]string{}
	for _, name := range names {
		if !b.fetched[name] {
			wanted[name] = name
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	refused, err := published.FetchEach(ctx, b.of, wanted)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		return refused[name]
	}
	for name := range wanted {
		b.fetched[name] = true
	}
	return nil
}
