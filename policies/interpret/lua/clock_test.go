package lua

import (
	"strings"
	"testing"
	"time"
)

// TestTheClockIsBehindTheBudget: comparing long strings is one step and may take
// long.
func TestTheClockIsBehindTheBudget(t *testing.T) {
	s, err := Compile("function F() local a = ('x'):rep(1e6) local b = a .. 'y' while true do local c = a < b end; end")
	if err != nil {
		t.Fatal(err)
	}
	m, stop := newMeter(50 * time.Millisecond)
	defer stop()
	start := time.Now()
	if _, err := s.within(m, Kube{}, "F", nil); err == nil || !strings.Contains(err.Error(), "the script takes too long") {
		t.Error(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
