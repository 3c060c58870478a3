package pulls

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
)

// CommitStatuses has a forge show at the source commit what became of it, by what is published and
// what the status branches say. What cannot be sent is sent at a later turn.
type CommitStatuses struct {
	Reconciler *reconciler.Reconciler // which publishes
	Rev        string                 // branch that is followed
	Forge      announce.Forge
	Log        *slog.Logger

	publication announce.Publication
	heads       map[string]files.ID // of the branches that the last statuses were decided by
	sent        []announce.Status
}

// Turned looks whether a turn of the loop made news.
func (a *CommitStatuses) Turned(ctx context.Context, s *reconciler.Sync) {
	if s.Err != nil {
		return
	}
	if !s.UpToDate {
		a.publication = announce.Publication{Commit: s.Result.Plan.Revision.Commit, Errors: errorsOf(s.Result.Diags), Held: heldOf(s)}
	}
	statuses := map[string]files.ID{}
	for name, id := range s.Heads {
		if _, ok := status.ClusterOf(name); ok {
			statuses[name] = id
		}
	}
	if a.publication.Commit == "" || s.UpToDate && a.heads != nil && maps.Equal(a.heads, statuses) {
		return
	}
	if err := a.announce(ctx); err != nil {
		a.Log.WarnContext(ctx, "commit status not sent", "commit", a.publication.Commit, "err", err)
		a.heads = nil // it is tried again
		return
	}
	a.heads = statuses
}

// announce sends what is news.
func (a *CommitStatuses) announce(ctx context.Context) error {
	snapshot, err := a.Reconciler.Source.Snapshot(ctx, a.Rev, a.Reconciler.Subdir)
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	fleet, err := a.Reconciler.Reports().Fleet(ctx, snapshot, reports.Query{Lasting: reports.Lasting})
	if err != nil {
		return err
	}
	standings := make([]status.ClusterHealth, len(fleet.Clusters))
	for i := range fleet.Clusters {
		standings[i] = fleet.Clusters[i].ClusterHealth
	}
	staged, _ := state.Rollouts(fleet.State.Tree)
	now := slices.Concat(announce.Decide(a.publication, standings), announce.Rollouts(staged, a.Reconciler.Now()))
	for _, s := range announce.News(a.sent, slices.Concat(announce.Replaced(a.sent, now), now)) {
		if err := a.Forge.SetStatus(ctx, s); err != nil {
			return fmt.Errorf("sending the status %s: %w", s.Fact, err)
		}
		a.sent = append(a.sent, s)
	}
	a.sent = announce.Latest(a.sent)
	return nil
}

func errorsOf(ds []diag.Diagnostic) (n int) {
	for _, d := range ds {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

func heldOf(s *reconciler.Sync) (n int) {
	for _, c := range s.Result.Plan.Clusters {
		if c.Held != nil {
			n++
		}
	}
	return n
}
