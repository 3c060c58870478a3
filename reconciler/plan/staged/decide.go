package staged

import (
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// decide says which version each cluster shows. Of a plan that is made again that is what was recorded.
func (c *comparison) decide() stage.Output {
	if !c.unit.IsReplay {
		return stage.Decide(c.asked)
	}
	return stage.Recorded(c.asked, c.unit.Recorded)
}

// endsAsTheSource reports a unit that is in the end what the source says: unless nothing of that may be released, or the
// version went back.
func endsAsTheSource(u *Unit, out *stage.Output) bool {
	isTarget := out.Target.Is(out.Source)
	switch isRefused := u.Refused != "" && !isTarget || u.Unknown; {
	case isRefused:
		return false
	case out.Phase == rollouts.Returning:
		return out.Base.Is(out.Source)
	case out.Phase == rollouts.Stopped && out.After != nil:
		return out.After.Status.Reason != rollouts.KeptBack || !isTarget
	}
	return true
}
