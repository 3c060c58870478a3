package reports

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Seen reads what the status branches of clusters say of all of their objects, as evidence for what goes out in
// stages. A cluster is left out of which no branch counts. While the repository of the agents is away, what was heard
// last counts.
func (r *Reader) Seen(
	ctx context.Context, heads map[string]files.ID, registered func() ([]*karmada.Cluster, error),
) (map[string]*staged.Seen, error) {
	if r.isSilent(heads) {
		return nil, nil
	}
	of, err := registered()
	if err != nil {
		return nil, err
	}
	said, err := r.hear(ctx, heads, of)
	if err != nil {
		return nil, err
	}
	all, trees := map[string]*staged.Seen{}, appliedTrees{from: r.Published.Target, trees: map[appliedAt]*files.Folder{}}
	for _, c := range of {
		m := virtual.Of(c)
		is, err := said.report(ctx, c.Name, m)
		if err != nil {
			return nil, err
		}
		if is.report == nil {
			continue
		}
		if is.seen == nil {
			trees.isMissing = false
			if is.seen, err = seen(ctx, is.report, c.Name, m, &trees); err != nil {
				return nil, err
			}
			is.seen.Ref = fmt.Sprintf("%s%s@%.12s", status.Prefix, c.Name, is.head.Commit.String())
			if !trees.isMissing { // what is not there may come
				r.Cache.keep(c.Name, is)
			}
		}
		all[c.Name] = is.seen
	}
	return all, nil
}

// seen is what a report says of the objects of a cluster.
func seen(ctx context.Context, w *status.Report, cluster string, m *virtual.Mapping, trees *appliedTrees) (*staged.Seen, error) {
	s := &staged.Seen{Commit: w.Commit, Objects: make(map[object.Ref]staged.Object, len(w.Objects))}
	if s.IsSilent = !w.Verdict.Looked() && w.Verdict.Reason != status.Suspended; s.IsSilent {
		return s, nil
	}
	for r, o := range w.Objects {
		path := tree.Path(m.Ref(r))
		applied, err := trees.fileAt(ctx, appliedAt{cluster, o.Applied.Commit}, path)
		if err != nil {
			return nil, err
		}
		is := staged.Object{Health: healthOf(&o.Health), Since: o.Health.Since, Message: o.Health.Message}
		if is.Since.Before(o.Applied.Since) {
			is.Since = o.Applied.Since // what is new has its health since it is there at the earliest
		}
		if applied != nil {
			is.Applied = applied.ID()
		}
		switch o.Applied.Phase {
		case status.PhaseApplied, status.PhaseLeaving:
		case status.PhaseFailed:
			tried, err := trees.fileAt(ctx, appliedAt{cluster, w.Commit}, path)
			if err != nil {
				return nil, err
			}
			if tried != nil {
				is.Tried, is.Refused, is.Since = tried.ID(), o.Applied.Message, o.Applied.Since
			}
		case status.PhasePending:
			is.Applied = files.ID{} // its turn has not come
		}
		s.Objects[r] = is
	}
	return s, nil
}

// healthOf is the health of an object. One that waits for somebody is neither healthy nor failed.
func healthOf(h *status.Health) stage.Health {
	switch {
	case h.State == karmada.ResourceHealthy:
		return stage.Healthy
	case h.Reason == health.Failed:
		return stage.Failed
	}
	return stage.Progressing
}
