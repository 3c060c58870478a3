package githost_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/reconciler/report/githost"
	"github.com/waybill-dev/waybill/render/exchange"
)

// TestWhatFollows says by what books go, and what is left.
func TestWhatFollows(t *testing.T) {
	taken := []probe.Try{{Ref: probe.Refs + "x", Do: probe.Write}}
	for want, h := range map[string]probe.Host{
		"go by refs (services.bus: refs":                       {Tries: taken, Bus: exchange.Refs, Unasked: true},
		"go by branches, because other refs are refused":       {Tries: taken, Bus: exchange.Branch, Unasked: true},
		"need services.bus: branch in waybill.yaml":            {Tries: taken, Bus: exchange.Branch},
		"no books of endpoints and no heartbeats go there":     {Tries: taken},
		"refs/waybill/doctor/x is there still, and yours to d": {Bus: exchange.Refs, Tries: []probe.Try{{Ref: probe.Refs + "x", Do: probe.Delete, Why: "deletion prohibited"}}},
	} {
		var b strings.Builder
		if err := githost.Write(&b, &h); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v\n%s\nlacks %q", err, b.String(), want)
		}
	}
}
