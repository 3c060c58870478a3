package staged

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/object"
)

// What the target of a run does not have leaves with it, unless the source has it for another unit, with which it goes out when this run is over,
// or for this unit, of which no version that clusters show had it.
func TestWhatWaitsForTheEndOfARun(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	version := func(isThere, isWanted bool) *laid {
		v := Version{Rows: func(object.Ref) (row manifest.Row, ok bool) {
			if isWanted {
				row.Wants = []manifest.Want{{}}
			}
			return row, isWanted
		}}
		if isThere {
			v.Refs = []object.Ref{ref}
		}
		return lay(v)
	}
	for _, tt := range []struct {
		name                    string
		base, target            bool // have it
		stays, wanted, released bool
		want                    bool
	}{
		{"it stays, and another unit has it by the target", true, false, true, true, false, true},
		{"it stays, and the unit has it by the target", true, true, true, true, false, false},
		{"it stays, and the source sends it nowhere", true, false, true, false, false, false},
		{"the target removes it, and the source has it again", true, false, false, true, false, false},
		{"the source brings it", false, false, false, true, false, true},
		{"the source brings it, and is the target", false, false, true, true, true, false},
	} {
		u := &Unit{}
		if tt.stays {
			u.Stays = []object.Ref{ref}
		}
		base, target := version(tt.base, tt.base), version(tt.target, tt.target)
		target.isNow = tt.released
		c := &comparison{
			in: &Input{Revision: "c"}, unit: u, versions: map[string]*laid{"a": base, "b": target, "c": version(true, tt.wanted)},
		}
		if got := isWaiting(c, ref, []string{"a", "b"}, target); got != tt.want {
			t.Errorf("%s: it waits: %t", tt.name, got)
		}
	}
}
