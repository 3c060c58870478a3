package report_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/object"
)

func TestOrphans(t *testing.T) {
	golden(t, "orphans", report.Orphans([]object.Ref{{Kind: "Namespace", Name: "shop"}, deployment("web")}))
	golden(t, "orphans-none", report.Orphans(nil))
}
