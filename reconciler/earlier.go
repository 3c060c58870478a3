package reconciler

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
)

// readAgain reads a source with broken parts again, with what those parts said of other
// files when they were sound.
func (r *Reconciler) readAgain(ctx context.Context, obs *Observation) error {
	if len(obs.Input.Source.Broken) == 0 || obs.Snapshot == nil {
		return nil
	}
	src, err := r.load(ctx, obs.Snapshot, r.earlier(ctx, obs.Input.State))
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	obs.Input.Source = src
	return nil
}

// earlier returns how to find the snapshot in which a path was sound last, by a state.
func (r *Reconciler) earlier(ctx context.Context, s state.State) func(path string) (sources.Snapshot, bool) {
	read := map[string]sources.Snapshot{}
	return func(path string) (sources.Snapshot, bool) {
		commit, ok := s.LastGood[path]
		if !ok {
			if commit, ok = s.LastGood[path+"/"]; !ok { // a folder
				commit = s.SourceCommit
			}
		}
		if commit == "" {
			return nil, false
		}
		if _, known := read[commit]; !known {
			snapshot, err := r.Source.Snapshot(ctx, commit, r.Subdir)
			if err != nil {
				snapshot = nil // the plan goes on without it, and removes nothing
			}
			read[commit] = snapshot
		}
		return read[commit], read[commit] != nil
	}
}

// readMissing reads the earlier commits that a plan asks for; false if none could
// be read, so that asking again leads nowhere.
func (r *Reconciler) readMissing(ctx context.Context, obs *Observation, missing []string) bool {
	found := false
	for _, commit := range missing {
		snapshot, err := r.Source.Snapshot(ctx, commit, r.Subdir)
		if err != nil {
			continue // the plan goes on without it, and removes nothing
		}
		src, err := r.load(ctx, snapshot, r.earlier(ctx, obs.Input.State))
		if err != nil {
			continue
		}
		obs.Input.LastGood[commit] = src
		found = true
	}
	return found
}
