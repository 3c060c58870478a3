package cache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/render/cache"
)

// shelf is a disk in memory.
type shelf map[string][]byte

func (s shelf) Get(key string) ([]byte, bool) {
	data, ok := s[key]
	return data, ok
}

func (s shelf) Put(key string, data []byte, _ time.Time) { s[key] = data }

func TestRecipesOnADiskOutliveTheProcess(t *testing.T) {
	disk := shelf{}
	process := func() *cache.Recipes[string] {
		c := cache.NewRecipes[string](10)
		c.On(disk, func(data []byte, reads map[string]string) (string, error) {
			if string(data) == "broken" {
				return "", errors.New("it cannot be decoded")
			}
			return string(data) + " of " + reads["file"], nil
		}, func() time.Time { return time.Unix(0, 0) })
		return c
	}
	now := map[string]string{"file": "1"}
	digest := func(read string) string { return now[read] }
	first := process()
	first.Keep("a", map[string]string{"file": "1"}, "value of 1", []byte("value"))
	first.Keep("b", map[string]string{"file": "1"}, "value of 1", nil)
	disk["c"] = []byte(`{"reads": {"fi`)
	disk["d"] = []byte(`{"reads": {}, "output": "YnJva2Vu"}`)
	disk["f"] = []byte(`{"reads": {"file": "1", "other": "2"}, "output": "dmFsdWU="}`)
	for name, c := range map[string]*cache.Recipes[string]{"the process that made it": first, "the next one": process()} {
		for key, want := range map[string]bool{"a": true, "b": c == first, "c": false, "d": false, "e": false, "f": false} {
			for range 2 {
				if got, ok := c.Get(key, digest); ok != want || ok && got != "value of 1" {
					t.Errorf("%s has of %s %q, %t", name, key, got, ok)
				}
			}
		}
	}
	next := process()
	if _, ok := next.Get("a", digest); !ok {
		t.Error("the disk does not have a")
	}
	delete(disk, "a")
	if got, ok := next.Get("a", digest); !ok || got != "value of 1" {
		t.Errorf("what was read of the disk is asked for again: %q, %t", got, ok)
	}
	first.Keep("a", map[string]string{"file": "1"}, "value of 1", []byte("value"))
	now["file"] = "2"
	for _, c := range []*cache.Recipes[string]{first, process()} {
		if got, ok := c.Get("a", digest); ok {
			t.Errorf("what was made of another file is %q", got)
		}
	}
}
