package state

import (
	"cmp"
	"fmt"

	"github.com/waybill-dev/waybill/render/draw"
)

// Random says of a random key what is no secret.
type Random struct {
	Key    string `json:"key"`    // its fingerprint; empty for no key
	Source string `json:"source"` // where the source was when it was used first
}

// Wrong says why nothing may be drawn from a key, or sealed with it, after the one that was
// used last; empty if it may. With another key, or without one, every password would be
// another, and what is sealed could be guessed. A throwaway key serves reports, which show
// neither.
func (r *Random) Wrong(key draw.Key) string {
	switch {
	case r.Key == "" || r.Key == key.Fingerprint() || key.IsThrowaway():
		return ""
	case key.IsZero():
		return fmt.Sprintf("the random key that was used last is %s, and none is given", r.Key)
	}
	return fmt.Sprintf("the random key that was used last is %s, and this one is %s", r.Key, key.Fingerprint())
}

// After returns what is to be remembered of a key, by its fingerprint, on which a plan of a
// source depends. Once there was one, it stays where there is none.
func (r *Random) After(fingerprint, source string) Random {
	if fingerprint == "" {
		return *r
	}
	return Random{Key: fingerprint, Source: cmp.Or(r.Source, source)}
}
