package staged

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
)

// That a cluster waits takes the place of what was in the way before, but not of why it keeps what failed over from it: nothing else
// remembers that.
func TestWhyAClusterWaits(t *testing.T) {
	careful, none := &rollouts.Strategy{Name: "careful"}, &rollouts.Strategy{Name: render.NoStrategy}
	for _, tt := range []struct {
		before   reason.Reason
		strategy *rollouts.Strategy
		want     reason.Reason
	}{
		{"", careful, reason.WaitsForStage},
		{"", none, reason.WaitsToGoOut},
		{reason.Suspended, careful, reason.WaitsForStage},
		{reason.Moving, careful, reason.WaitsForStage},
		{reason.Lost, careful, reason.Lost},
		{reason.HoldsData, careful, reason.HoldsData},
		{reason.LastCopy, none, reason.LastCopy},
	} {
		if got := (&Unit{Strategy: tt.strategy}).waits(tt.before); got != tt.want {
			t.Errorf("after %q under %s it waits because of %s, want %s", tt.before, tt.strategy.Name, got, tt.want)
		}
	}
}
