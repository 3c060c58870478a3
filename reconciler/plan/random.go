package plan

import (
	"cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/flux"
)

// random is what releases draw from, and what seals are keyed with.
func (in *Input) random() flux.Random {
	was := &in.State.Random
	wrong := ""
	if !in.Random.Rotate {
		wrong = was.Wrong(in.Random.Key)
	}
	return flux.Random{Key: in.Random.Key, Source: cmp.Or(was.Source, in.Random.Source), Disguised: in.Random.Disguised, Wrong: wrong}
}

// usedKey is the fingerprint of the random key, if a plan depends on it; empty if it does
// not.
func (in *Input) usedKey(written *manifest.Result) string {
	if isUsed := in.Expanded.Drew || written.Keyed; !isUsed || in.Random.Key.IsThrowaway() {
		return ""
	}
	return in.Random.Key.Fingerprint()
}
