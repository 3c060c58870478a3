package staged

import (
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
)

// decide says which version each cluster shows. Of a plan that is made again that is what was recorded.
func (c *comparison) decide() stage.Output {
	if c.unit.Recorded == nil {
		return stage.Decide(c.asked)
	}
	return stage.Recorded(c.asked, c.unit.Recorded)
}
