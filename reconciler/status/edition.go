package status

import (
	"maps"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// flip counts an object that is not healthy by other rules than it was healthy by before.
func (l *Ledger) flip(r object.Ref, before, now *Health) {
	if l.flipped != nil && before.State == karmada.ResourceHealthy && now.State != karmada.ResourceHealthy && before.Generation == now.Generation {
		l.flipped[kindText(r)]++
	}
}

// review has a round that looked at objects count what flips, if it is the first by these rules. The
// function that it returns ends the round.
func (l *Ledger) review() (end func()) {
	if l.cluster.Edition != health.Edition {
		l.flipped = map[string]int{}
		return func() {
			l.cluster.Edition, l.cluster.Flipped, l.flipped = health.Edition, l.flipped, nil
		}
	}
	return func() {
		still := map[string]bool{}
		for r, o := range l.cluster.Objects {
			if o.Health.State != karmada.ResourceHealthy {
				still[kindText(r)] = true
			}
		}
		maps.DeleteFunc(l.cluster.Flipped, func(kind string, _ int) bool { return !still[kind] })
	}
}

// kindText is a kind as status says it.
func kindText(r object.Ref) string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}
