package cell

import (
	"strings"
	"testing"
)

func TestShortFitsAColumn(t *testing.T) {
	for _, tt := range []struct {
		names, want string
	}{{"", ""}, {"a b", "a,b"}, {"a b c", "a,b,+1"}, {"a b c d", "a,b,+2"}} {
		if got := Short(strings.Fields(tt.names), 2); got != tt.want {
			t.Errorf("Short(%q) is %q, want %q", tt.names, got, tt.want)
		}
	}
}
