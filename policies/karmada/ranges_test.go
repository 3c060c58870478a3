package karmada

import (
	"fmt"
	"testing"
)

// TestRanges reads the annotation of a Cluster.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
		err  string
	}{
		{"", 0, ""},
		{"10.101.0.0/16", 1, ""},
		{"10.101.0.0/16, fd00:101::/48", 2, ""},
		{"10.101.0.0", 0, `"10.101.0.0" is no range of addresses, as 10.0.0.0/8`},
	} {
		got, err := Ranges(c.text)
		if len(got) != c.want || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
