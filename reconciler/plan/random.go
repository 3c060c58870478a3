package plan

import (
	"cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/flux"
)

// Random is what releases draw from, and what seals are keyed with.
type Random struct {
	Key draw.Key // zero: releases may not draw, and seals are not keyed
	// Source is where the source is. What was drawn first says it for good, so that a
	// source that moves draws the same.
	Source string
	// Rotate has the key take the place of another one, from which was drawn before.
	Rotate bool
}

// random is what releases draw from, and what seals are keyed with.
func (in *Input) random() flux.Random {
	was := &in.State.Random
	wrong := ""
	if !in.Random.Rotate {
		wrong = was.Wrong(in.Random.Key)
	}
	return flux.Random{Key: in.Random.Key, Source: cmp.Or(was.Source, in.Random.Source), Wrong: wrong}
}

// usedKey is the fingerprint of the random key, if a plan depends on it; empty if it does
// not.
func (in *Input) usedKey(written *manifest.Result) string {
	if isUsed := in.Expanded.Drew || written.Keyed; !isUsed || in.Random.Key.IsThrowaway() {
		return ""
	}
	return in.Random.Key.Fingerprint()
}
