package replicas_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/replicas"
)

// Who works for something else holds other Leases, whatever the name.
func TestGroups(t *testing.T) {
	seen := map[string]replicas.Group{}
	for _, g := range []replicas.Group{
		{"waybill", "main of a to b"}, {"waybill", "main of a to c"}, {"waybill", "other of a to b"}, {"fleet", "main of a to b"}, {"waybill", ""},
	} {
		lease := g.Lease()
		if other, ok := seen[lease]; ok {
			t.Errorf("%v and %v hold one Lease, %s", g, other, lease)
		}
		if seen[lease] = g; !strings.HasPrefix(lease, g.Name+"-") || lease != g.Lease() {
			t.Errorf("the Lease of %v is %s", g, lease)
		}
	}
}
