package reconciler

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// A publishedError says that what was named as a source is what Waybill published.
type publishedError struct{ name string }

func (e *publishedError) Error() string {
	return e.name + " is what Waybill published, and no source; check out the source's branch, or name it with --rev"
}

// isPublished reports a snapshot of what Waybill published: to a cluster's branch, or to the one that
// clusters share.
func isPublished(s sources.Snapshot) bool {
	return slices.ContainsFunc(s.Files(), func(f sources.File) bool {
		if f.Path != tree.SharedFile || f.Kind != sources.Regular {
			return f.Path == tree.MetadataFile
		}
		data, err := s.ReadFile(f.Path)
		return err == nil && files.Sum("blob", data) == tree.Shared().ID()
	})
}

// Plan plans a snapshot of the source. If it is for branches, the plan's diagnostics are
// those of publishing the snapshot, as far as the target knows what is published.
func Plan(ctx context.Context, r *Reconciler, s sources.Snapshot, m plan.Medium) (plan.Plan, error) {
	if m == plan.Branch && isPublished(s) {
		return plan.Plan{}, &publishedError{cmp.Or(s.Revision().Commit, "the directory")}
	}
	obs, err := r.Look(ctx, s, m)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := r.Planner().Build(ctx, &obs.Observation)
	if err != nil || m != plan.Branch {
		return p, err
	}
	_, diags, err := publish.Changes(&p, obs.base(), obs.Heads, r.Version)
	p.Diags = diag.Sort(append(slices.Clone(p.Diags), diags...))
	return p, err
}
