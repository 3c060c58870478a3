package writer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// Write writes what rounds came to, by cluster, once.
func Write(ctx context.Context, target published.Repository, now time.Time, rounds map[string]*status.Round) error {
	heads, err := Heads(ctx, target)
	if err != nil {
		return err
	}
	updates := map[string]git.Update{}
	for cluster, round := range rounds {
		c := open(cluster, heads)
		c.ledger.Ended(round, now)
		if due := c.ledger.Due(); !due.IsZero() && due.Before(now.Add(time.Hour)) {
			updates[cluster] = c.past.Next(cluster, c.ledger.Layout(), now)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	_, err = push(ctx, target, updates)
	return err
}

// Heads reads the heads of the status branches, by cluster, with one look and one fetch:
// those of the clusters that are named, or all.
func Heads(ctx context.Context, target published.Repository, only ...string) (map[string]git.Head, error) {
	at, err := target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for status branches: %w", err)
	}
	var branches []string
	for name := range at {
		if cluster, ok := status.ClusterOf(name); ok && (len(only) == 0 || slices.Contains(only, cluster)) {
			branches = append(branches, name)
		}
	}
	slices.Sort(branches)
	if err := target.Fetch(ctx, branches...); err != nil {
		return nil, err
	}
	heads := make(map[string]git.Head, len(branches))
	for _, name := range branches {
		cluster, _ := status.ClusterOf(name)
		switch head, err := target.Commit(ctx, at[name]); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // it is written over, and no other is
			heads[cluster] = git.Head{Commit: at[name], Tree: files.NewFolder(nil)}
		default:
			heads[cluster] = head
		}
	}
	return heads, nil
}

// push pushes updates of status branches, and returns the heads of those that are
// written, by cluster. Where another writer moved one, what it wrote is written over: one
// writes a branch, and who applied last knows best.
func push(ctx context.Context, target published.Repository, updates map[string]git.Update) (map[string]files.ID, error) {
	const tries = 5
	clusters := slices.Sorted(maps.Keys(updates))
	list := make([]git.Update, len(clusters))
	for i, name := range clusters {
		list[i] = updates[name]
	}
	for n := 0; ; n++ {
		ids, err := target.Publish(ctx, list)
		if err == nil {
			heads := make(map[string]files.ID, len(ids))
			for i, id := range ids {
				heads[clusters[i]] = id
			}
			return heads, nil
		}
		_, raced := errors.AsType[*git.RaceError](err)
		forced := slices.ContainsFunc(list, func(u git.Update) bool { return u.Anew && !u.Old.IsZero() })
		if n == tries || ctx.Err() != nil || !raced && !forced {
			return nil, fmt.Errorf("writing the status of %s: %w", words.Count(len(clusters), "cluster"), err)
		}
		at, lookErr := target.Heads(ctx)
		if lookErr != nil {
			return nil, fmt.Errorf("writing the status of %s: %w", words.Count(len(clusters), "cluster"), lookErr)
		}
		for i := range list {
			list[i].Old = at[list[i].Branch]
			list[i].Anew = list[i].Anew && raced // a server may refuse to rewrite a branch
		}
	}
}
