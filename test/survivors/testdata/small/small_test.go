package small

import "testing"

func TestPrice(t *testing.T) {
	for _, tt := range []struct {
		name        string
		count, each int
		isGift      Gift
		want        int
		fails       bool
	}{
		{name: "a few", count: 2, each: 3, want: 6},
		{name: "one of ten is free", count: 12, each: 3, want: 33},
		{name: "no count", count: -1, each: 3, fails: true},
	} {
		if got, err := Price(tt.count, tt.each, tt.isGift); got != tt.want || err != nil != tt.fails {
			t.Errorf("%s: %d (%v), want %d", tt.name, got, err, tt.want)
		}
	}
}
