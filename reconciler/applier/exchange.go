package applier

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
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
