package apply

import (
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// Hold says why nothing may be done in a cluster.
type Hold struct {
	Reason   string       `json:"reason"`
	Removals []object.Ref `json:"removals"`
}

// hold judges what would be deleted since the commit that was applied last. What was judged
// before, and is still there, is not judged again; what stays in the cluster is no loss.
func (m *maker) hold(absent []object.Ref) *Hold {
	var lost []object.Ref
	for _, r := range absent {
		if e := m.in.Inventory.Entries[r]; !stays(r, e) && !e.Leaving && !m.in.Options.FailedOver[tree.Path(r)] {
			lost = append(lost, r)
		}
	}
	had := 0
	for r, e := range m.in.Inventory.Entries {
		if !stays(r, e) && !e.Leaving {
			had++
		}
	}
	reason := guard.Exceeded(m.in.Options.Guard, lost, had)
	if reason == "" || m.in.Options.Allowed {
		return nil
	}
	return &Hold{Reason: reason, Removals: lost}
}
