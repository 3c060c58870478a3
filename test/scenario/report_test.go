package scenario

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// report has who applies to a cluster report that its branch is applied, and that all is healthy, or some objects are
// not: "healthy", "unhealthy" or "healthy but Deployment/shop/web ...".
func report(ctx context.Context, repo *twin.Repo, cluster string, how []string) error {
	h, ok, err := repo.Branch(ctx, "waybill/cluster/"+cluster)
	if err != nil || !ok {
		return errors.Join(errors.New("there is no such branch"), err)
	}
	objects, err := twin.Manifests(h.Tree)
	if err != nil {
		return err
	}
	c := status.Cluster{
		Summary: status.Summary{Name: cluster, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}}, Objects: map[object.Ref]*status.Object{},
	}
	for _, o := range objects {
		is := karmada.ResourceHealthy
		if how[0] != "healthy" || slices.Contains(how[1:], o.String()) {
			is = karmada.ResourceUnhealthy
		}
		group, _ := object.GroupVersion(o.APIVersion)
		r := object.Ref{Group: group, Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
		c.Objects[r] = &status.Object{
			Applied: status.Application{Phase: status.PhaseApplied, Commit: h.Commit}, Health: status.Health{State: is, Since: repo.Now},
		}
	}
	repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
	return nil
}
