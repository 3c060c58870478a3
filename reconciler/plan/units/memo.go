package units

import (
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
)

// Memo remembers digests from one plan to the next: of templates and of what policies say, by their identity. Nothing
// modifies them.
type Memo struct {
	templates cache.Generation[*object.Object, string]
	policies  cache.Generation[*karmada.PropagationSpec, string]
	overrides cache.Generation[*karmada.OverrideSpec, string]
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.templates.Turn()
	m.policies.Turn()
	m.overrides.Turn()
}
