package verify

import (
	"context"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// others reads what clusters had when a commit was written for others. What it says follows from that rarely, and where it does not nobody
// asks for it: an older version of the source is where clusters have it, where nothing else says so, a cluster had a version before its
// turn, or has what belonged to another unit.
func others(ctx context.Context, v *Verifier, obs *planner.Observation, s *subject) error {
	before := obs.Input.State.Commit
	if before == "" || !s.readsClusters {
		return nil
	}
	none := render.DefaultConfig()
	at, err := published.AddressesOf(obs.Input.State.Root(), none.Publish.Addresses())
	if err != nil {
		return err
	}
	heads, err := v.branches.at(ctx)
	if err != nil {
		return err
	}
	later, err := sinceThen(ctx, v, heads[state.Branch], before)
	if err != nil {
		return err
	}
	of := map[string]render.Address{} // by cluster
	var branches []string
	for _, c := range obs.Input.Expanded.Policies.Fleet.Clusters() {
		a := at.Of(c.Name)
		_, isThere := heads[a.Branch]
		if isThere && !slices.ContainsFunc(s.parts, func(p part) bool { return p.cluster == c.Name }) {
			of[c.Name], branches = a, append(branches, a.Branch)
		}
	}
	if err := v.branches.fetch(ctx, branches...); err != nil {
		return err
	}
	for cluster, a := range of {
		is, there, err := hadThen(ctx, v, heads, a, later)
		if err != nil {
			return err
		}
		if there {
			obs.Input.Published[cluster] = is
		}
	}
	return nil
}

// sinceThen is a commit of the state branch with all that came after it.
func sinceThen(ctx context.Context, v *Verifier, head files.ID, then string) (map[string]bool, error) {
	later := map[string]bool{then: true}
	for id := head; !id.IsZero() && id.String() != then; {
		later[id.String()] = true
		h, err := v.Published.Target.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		id = h.Parent
	}
	return later, nil
}

// hadThen is what was at an address before everything that was made from commits of the state branch; false for nothing.
func hadThen(
	ctx context.Context, v *Verifier, heads map[string]files.ID, a render.Address, later map[string]bool,
) (is tree.Published, there bool, err error) {
	id, err := v.Published.Head(ctx, heads, a)
	if err != nil || id.IsZero() {
		return is, false, err
	}
	h, there, err := v.Published.CommitAt(ctx, a, id)
	last, wasThere := h, there
	for there && err == nil {
		made := publish.Trailer(h.Message, publish.TrailerState)
		var next git.Head
		next, there, err = v.Published.Before(ctx, a, h)
		if later[made] {
			last, wasThere = next, there
		} else if made != "" {
			break
		}
		h = next
	}
	if err != nil || !wasThere {
		return is, false, err
	}
	is, err = tree.Read(last.Tree)
	return is, err == nil, err
}
