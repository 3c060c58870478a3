package apply

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
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
		if e := m.in.Inventory.Entries[r]; !stays(r, e) && !e.Leaving {
			lost = append(lost, r)
		}
	}
	had := 0
	for r, e := range m.in.Inventory.Entries {
		if !stays(r, e) && !e.Leaving {
			had++
		}
	}
	if len(lost) == 0 || m.in.Options.Allowed {
		return nil
	}
	rules := m.in.Options.Guard
	limit := max(rules.MaxRemoved, had*rules.MaxRemovedPercent/100)
	at := slices.IndexFunc(lost, func(r object.Ref) bool { return slices.Contains(rules.Protect, r.Kind) })
	var reason string
	switch {
	case len(lost) == had:
		reason = fmt.Sprintf("it would lose all it holds, %d objects", had)
	case at >= 0:
		reason = fmt.Sprintf("it would lose %s, of a protected kind", lost[at])
	case len(lost) > limit:
		reason = fmt.Sprintf("it would lose %d of %d objects; the guard allows %d", len(lost), had, limit)
	default:
		return nil
	}
	return &Hold{Reason: reason, Removals: lost}
}
