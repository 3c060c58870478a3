package published

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// moved finds the clusters that were published at another address than the config gives them now,
// which the state knows: there is what they hold. What is at the new address may be of long ago, when
// they were published there before.
func (r *reading) moved(ctx context.Context) error {
	if err := r.otherLayout(ctx); err != nil || r.State.Root() == nil {
		return err
	}
	terms, err := state.ReadTerms(r.State.Root())
	if err != nil {
		return err
	}
	was := terms.Addresses()
	if was == r.at {
		return nil
	}
	found, err := r.placed(ctx, was)
	if err != nil || len(found) == 0 {
		return err
	}
	r.Moved = map[string]publish.Moved{}
	arrived := r.arrived()
	for _, cluster := range slices.Sorted(maps.Keys(found)) {
		b, from := found[cluster], was.Of(cluster)
		r.leave(from)
		if arrived[cluster] {
			continue
		}
		b.Published.Foreign = Foreign(b.Published, r.Clusters[cluster])
		r.Clusters[cluster] = b.Published
		r.Moved[cluster] = publish.Moved{From: from, Commit: b.Head.Commit, Root: b.Head.Tree}
	}
	return nil
}

// placed reads what is at addresses.
func (r *reading) placed(ctx context.Context, at render.Addresses) (map[string]Branch, error) {
	var branches []string
	for _, name := range slices.Sorted(maps.Keys(r.heads)) {
		if at.Has(name) {
			branches = append(branches, name)
		}
	}
	if err := r.Target.Fetch(ctx, branches...); err != nil {
		return nil, err
	}
	all := map[string]Branch{}
	for _, name := range branches {
		b, ok, err := r.readBranch(ctx, name)
		if err != nil {
			return nil, err
		}
		if !ok { // it went since the heads were read
			continue
		}
		if err := r.isOurs(name, b.Head); err != nil {
			return nil, err
		}
		r.published = append(r.published, b.Head)
		if at.Shared == "" {
			cluster, _ := at.Cluster(name)
			all[cluster] = b
		} else if all, err = r.folders(ctx, name, b.Head); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// arrived tells which clusters were published at their new addresses on top of the state: a server
// took that, and not the state.
func (r *reading) arrived() map[string]bool {
	there := map[string]bool{}
	for _, h := range r.published {
		if !isOnTop(&r.State, h.Message) || len(sources.Trailers(h.Message, publish.TrailerContinued)) == 0 {
			continue
		}
		for _, cluster := range sources.Trailers(h.Message, publish.TrailerCluster) {
			there[cluster] = true
		}
	}
	return there
}

// Foreign is what others put where a cluster was published, and what they put where it is to be.
func Foreign(was, is tree.Published) map[string]files.Entry {
	all := map[string]files.Entry{}
	maps.Copy(all, is.Foreign)
	maps.Copy(all, was.Foreign)
	return all
}

// otherLayout finds the branches that the other layout of the config publishes to.
func (r *reading) otherLayout(ctx context.Context) error {
	config := r.asked.Publish
	if r.at.Shared != "" {
		for _, name := range slices.Sorted(maps.Keys(r.heads)) {
			if strings.HasPrefix(name, config.BranchPrefix) {
				r.leave(render.Address{Branch: name})
			}
		}
		return nil
	}
	id, ok := r.heads[config.Branch]
	if !ok || r.at.Has(config.Branch) {
		return nil
	}
	if err := r.Target.Fetch(ctx, config.Branch); err != nil {
		return err
	}
	h, _, err := r.Target.Root(ctx, id)
	if err == nil && len(sources.Trailers(h.Message, publish.TrailerCluster)) > 0 {
		r.leave(render.Address{Branch: config.Branch})
	}
	return err
}

// leave notes an address at which nothing is published now.
func (r *reading) leave(a render.Address) {
	if !slices.Contains(r.Left, a) {
		r.Left = append(r.Left, a)
	}
}
