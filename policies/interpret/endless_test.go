package interpret_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// TestAQuantityWithoutEndIsRefused: computing with 1e2147483647 takes the
// quantity's library longer than anybody waits.
func TestAQuantityWithoutEndIsRefused(t *testing.T) {
	for _, q := range []string{"1e2147483647", "1e-2147483647", "1E+9999"} {
		obj := of(t, "apps/v1 Deployment", "spec: {replicas: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: '"+q+"'}}}]}}}")
		if _, _, _, err := interpret.New().Replicas(obj); err == nil || !strings.Contains(err.Error(), "exponent") {
			t.Errorf("%s: %v", q, err)
		}
	}
}
