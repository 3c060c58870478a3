package cache_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/cache"
)

// TestGeneration plays orders: "a" asks for a, which is made where it is not known, and "|"
// turns.
func TestGeneration(t *testing.T) {
	for _, tt := range []struct{ orders, made string }{
		{"a b a b", "a b"},
		{"a | a | a", "a"},
		{"a | | a", "a a"},
		{"a b | a | a b", "a b b"},
	} {
		var g cache.Generation[string, string]
		var made []string
		for order := range strings.FieldsSeq(tt.orders) {
			if order == "|" {
				g.Turn()
				continue
			}
			got := g.Or(order, func() string {
				made = append(made, order)
				return "value of " + order
			})
			if again, ok := g.Get(order); !ok || again != got || got != "value of "+order {
				t.Errorf("%s: %s is %q, then %q", tt.orders, order, got, again)
			}
		}
		if got := strings.Join(made, " "); got != tt.made {
			t.Errorf("%s: made are %s, want %s", tt.orders, got, tt.made)
		}
	}
}
