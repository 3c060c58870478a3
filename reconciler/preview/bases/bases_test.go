package bases_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview/bases"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestCache(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := bases.At(noon, files.ID{1}, files.ID{2})
	key := bases.Key{Base: files.ID{9}, Moment: now}
	for name, other := range map[string]bases.Key{
		"another base":           {Base: files.ID{8}, Moment: now},
		"a stranger's":           {Base: files.ID{9}, Tip: files.ID{7}, Moment: now},
		"another state":          {Base: files.ID{9}, Moment: bases.At(noon, files.ID{3}, files.ID{2})},
		"other orders":           {Base: files.ID{9}, Moment: bases.At(noon, files.ID{1}, files.ID{3})},
		"the next hour":          {Base: files.ID{9}, Moment: bases.At(noon.Add(time.Hour), files.ID{1}, files.ID{2})},
		"the hour before it was": {Base: files.ID{9}, Moment: bases.At(noon.Add(-time.Second), files.ID{1}, files.ID{2})},
	} {
		var c bases.Cache[string]
		c.Keep(key, "mine")
		if value, ok := c.Find(other); ok {
			t.Errorf("%s: it is %q", name, value)
		}
		if _, ok := c.Find(key); ok != (other.Moment == now) {
			t.Errorf("%s: what was there is remembered: %v", name, ok)
		}
	}
	var c bases.Cache[string]
	c.Keep(key, "mine")
	if value, ok := c.Find(bases.Key{Base: files.ID{9}, Moment: bases.At(noon.Add(59*time.Minute), files.ID{1}, files.ID{2})}); !ok || value != "mine" {
		t.Errorf("within the hour it is %q, %v", value, ok)
	}
	c.Forget()
	if _, ok := c.Find(key); ok {
		t.Error("it is remembered")
	}
}

// However many bases there are, few are remembered: those that were used last.
func TestCacheIsBounded(t *testing.T) {
	var c bases.Cache[int]
	moment := bases.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), files.ID{1}, files.ID{})
	of := func(i int) bases.Key { return bases.Key{Base: files.ID{byte(i)}, Moment: moment} }
	for i := range 100 {
		c.Keep(of(i), i)
		c.Find(of(0)) // which is used all the time
	}
	known := 0
	for i := range 100 {
		if value, ok := c.Find(of(i)); ok && value == i {
			known++
		}
	}
	if _, ok := c.Find(of(0)); known != 4 || !ok {
		t.Errorf("%d are remembered, and the first %v", known, ok)
	}
}
