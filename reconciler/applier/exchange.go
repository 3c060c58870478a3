package applier

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/status"
)

// exchange says which services a cluster exchanges, if a round applied what its branch says.
func (f *Follower) exchange(ctx context.Context, res *Result) {
	if f.Exchange == nil || res.Err != nil || res.Suspension.Why != "" || res.Report.Plan.Hold != nil {
		return
	}
	f.Exchange.Applied(ctx, push.Applied{
		Cluster: res.Cluster, UID: res.Report.Inventory.UID, Owner: res.owner, Formerly: res.formerly, File: res.services,
	})
}

// tellRefused has the statuses of clusters say which endpoints of others they do not take. What another cluster calls a slice is said only
// if it may be called so.
func (f *Follower) tellRefused() {
	if f.Exchange == nil || f.Status == nil {
		return
	}
	const longest = 300 // bytes
	f.Exchange.Refused = func(cluster string, all []endpoints.Refusal) {
		refused := make([]status.Refusal, 0, len(all))
		for _, r := range all {
			is := status.Refusal{From: r.Provider, Service: r.Named(), Message: strings.ToValidUTF8(r.Why[:min(len(r.Why), longest)], "")}
			if len(validation.IsDNS1123Subdomain(r.Slice)) == 0 {
				is.Slice = r.Slice
			}
			refused = append(refused, is)
		}
		f.Status.Refused(cluster, refused)
	}
}
