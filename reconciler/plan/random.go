package plan

import (
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/state"
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

// source is what the source is known by where something is drawn.
func (in *Input) source() string {
	if in.State.Random.Source != "" {
		return in.State.Random.Source
	}
	return in.Random.Source
}

// wrongKey says why nothing may be drawn or sealed; empty if it may. With another key than
// the one that was used last, or without one, every password would be another, and what is
// sealed could be guessed. A throwaway key serves reports, which show neither.
func (in *Input) wrongKey() string {
	last, key := in.State.Random.Key, in.Random.Key
	switch {
	case last == "" || last == key.Fingerprint() || in.Random.Rotate || key.IsThrowaway():
		return ""
	case key.IsZero():
		return fmt.Sprintf("the random key that was used last is %s, and none is given", last)
	}
	return fmt.Sprintf("the random key that was used last is %s, and this one is %s", last, key.Fingerprint())
}

// random is what releases draw from, and what seals are keyed with.
func (in *Input) random() flux.Random {
	return flux.Random{Key: in.Random.Key, Source: in.source(), Wrong: in.wrongKey()}
}

// randomKey is the fingerprint of the random key, if a plan depends on it; empty if it does
// not.
func (in *Input) randomKey(written *manifest.Result) string {
	if isUsed := in.Expanded.Drew || written.Keyed; !isUsed || in.Random.Key.IsThrowaway() {
		return ""
	}
	return in.Random.Key.Fingerprint()
}

// rememberedKey is what the next state says of a random key on which the plan depends. Once
// there was one, it stays.
func (in *Input) rememberedKey(fingerprint string) state.Random {
	if fingerprint == "" {
		return in.State.Random
	}
	return state.Random{Key: fingerprint, Source: in.source()}
}
