package cache_test

import (
	"strconv"
	"testing"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
)

// TestDecodedForgetsWhatAGenerationDidNotAskFor: of as many files as a generation has, and as many again, those stay that were asked for.
func TestDecodedForgetsWhatAGenerationDidNotAskFor(t *testing.T) {
	const generation = 20_000
	c := cache.Memory()
	keep := func(from, to int) {
		for i := from; i < to; i++ {
			c.Keep(strconv.Itoa(i), object.Decoded{NotManifests: i})
		}
	}
	has := func(key string, want bool) {
		t.Helper()
		d, ok := c.Decoded(key)
		if ok != want || ok && strconv.Itoa(d.NotManifests) != key {
			t.Errorf("%s is there: %t, %+v", key, ok, d)
		}
	}
	has("1", false)
	has("1", false) // nor because it was asked for
	keep(0, generation)
	has("0", true)
	keep(generation, generation+1) // the next generation begins
	has("1", true)                 // and keeps what it asks for
	keep(generation+1, 2*generation)
	has("1", true)
	has("2", false)
	has(strconv.Itoa(2*generation-1), true)
}

// TestRecipesForgetWhatWasNotUsedForTheLongestTime, each by itself where several are of one key.
func TestRecipesForgetWhatWasNotUsedForTheLongestTime(t *testing.T) {
	c := cache.NewRecipes[string](3)
	keep := func(key, file string) { c.Keep(key, map[string]string{"file": file}, key+file, nil) }
	has := func(key, file string, want bool) {
		t.Helper()
		if got, ok := c.Get(key, func(string) string { return file }); ok != want || ok && got != key+file {
			t.Errorf("of %s there is with %s %q, %t", key, file, got, ok)
		}
	}
	keep("a", "1")
	keep("a", "2")
	keep("b", "1")
	has("a", "1", true) // which is used now
	keep("c", "1")
	has("a", "2", false)
	has("a", "1", true)
	has("b", "1", true)
	has("c", "1", true)
	keep("d", "1")
	keep("e", "1")
	has("a", "1", false)
	has("b", "1", false)
	has("c", "1", true)
}
