package schedule

import (
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
)

// Memo remembers decisions, and what they go by, from one plan to the next.
type Memo struct {
	sizes     cache.Generation[sizing, interpret.Size]
	decisions cache.Generation[placing, place.Decision]
	same      cache.Generation[repetition, struct{}]
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.sizes.Turn()
	m.decisions.Turn()
	m.same.Turn()
}

// sizing is all that a size follows from.
type sizing struct {
	object      *object.Object
	interpreter string // which customizations there are
	scaled      string // see template.Variant
}

// placing is all that a decision follows from. The previous one is known by the list that
// it is in.
type placing struct {
	object, policy *object.Object
	fleet          string // its digest
	interpreter    string // which customizations there are
	scaled         string // see template.Variant
	most           int32  // see place.Request
	group          string // that it is in
	only           string // where its release has it, a byte a cluster; empty where it has none
	evicting       string // the clusters that it leaves
	onward         bool
	fresh          bool
	first          *Target
	clusters       int
}

// repetition is a decision after which a binding is what it was.
type repetition struct {
	placing placing
	old     *karmada.ResourceBinding
}

// place returns the decision about a placing, which is from unless it is known. Nobody
// may modify its targets.
func (m *Memo) place(p placing, from func() place.Decision) place.Decision {
	if p == (placing{}) {
		return from()
	}
	return m.decisions.Or(p, from)
}
