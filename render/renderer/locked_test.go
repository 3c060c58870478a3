package renderer_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/sources/lock"
)

// everything gives any chart, and counts how often it was asked.
type everything struct{ asked int }

func (c *everything) Resolve(context.Context, lock.Ref) (lock.Entry, error) {
	c.asked++
	return lock.Entry{}, nil
}

func (c *everything) Fetch(context.Context, lock.Entry) (fs.FS, error) {
	c.asked++
	return fstest.MapFS{}, nil
}

// TestLocked: what no lock names is not asked for anywhere.
func TestLocked(t *testing.T) {
	entry := func(name, digit string) lock.Entry {
		ref := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: name, Constraint: "1.x"}
		return lock.Entry{Ref: ref, Version: "1.0.0", URL: "https://charts.example.com/" + name + ".tgz", Digest: "sha256:" + strings.Repeat(digit, 64)}
	}
	from := &everything{}
	charts := renderer.Locked{Charts: from, Locks: []lock.Lock{lock.Lock{}.With(entry("a", "1")), lock.Lock{}.With(entry("b", "2"))}}
	for _, e := range []lock.Entry{entry("a", "1"), entry("b", "2")} {
		if _, err := charts.Fetch(t.Context(), e); err != nil {
			t.Error(err)
		}
		if got, err := charts.Resolve(t.Context(), e.Ref); err != nil || got != e {
			t.Errorf("%v is settled as %v, %v", e.Ref, got, err)
		}
	}
	if from.asked != 2 {
		t.Errorf("charts were asked for %d times", from.asked)
	}
	for _, e := range []lock.Entry{entry("evil", "1"), entry("a", "3")} {
		if _, err := charts.Fetch(t.Context(), e); err == nil || !strings.Contains(err.Error(), "fetches nothing") {
			t.Errorf("%v: %v", e, err)
		}
	}
	// The branch and where the change left it may name other digests of one chart: both are to be had.
	moved := renderer.Locked{Charts: &everything{}, Locks: []lock.Lock{lock.Lock{}.With(entry("a", "1")), lock.Lock{}.With(entry("a", "2"))}}
	for _, e := range []lock.Entry{entry("a", "1"), entry("a", "2")} {
		if _, err := moved.Fetch(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	if _, err := charts.Resolve(t.Context(), entry("evil", "1").Ref); err == nil {
		t.Error("what no lock names is resolved")
	}
	if from.asked != 2 {
		t.Error("the network is asked")
	}
}
