package drift_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/render/object"
)

// TestCounts puts one object right again and again, and another one once.
func TestCounts(t *testing.T) {
	fought, calm := object.Ref{Kind: "ConfigMap", Name: "fought"}, object.Ref{Kind: "ConfigMap", Name: "calm"}
	now := time.Unix(1_000_000, 0)
	counts := drift.Counts{}
	for range 5 {
		counts.Corrected([]object.Ref{fought}, now)
		now = now.Add(time.Minute)
	}
	counts.Corrected([]object.Ref{calm}, now)
	if counts.Of(fought) != 5 || counts.Of(calm) != 1 || counts.Of(object.Ref{}) != 0 {
		t.Errorf("they are %v", counts)
	}
	now = now.Add(drift.Rest + time.Second)
	counts.Corrected([]object.Ref{calm}, now)
	if counts.Of(fought) != 0 || counts.Of(calm) != 1 {
		t.Errorf("after their rest they are %v", counts)
	}
}
