package rollouts_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

func TestUnitsAreNamed(t *testing.T) {
	for text, want := range map[string]rollouts.Unit{
		"team/web":     {Namespace: "team", Name: "web"},
		"_cluster/web": {Name: "web"},
		"_group/web":   {Name: "web", IsGroup: true},
	} {
		if got, ok := rollouts.ParseUnit(text); !ok || got != want || got.String() != text {
			t.Errorf("%s is read as %+v, %t, which is written as %s", text, got, ok, got)
		}
	}
	for _, text := range []string{"", "web", "/web", "team/", "team/web/canary"} {
		if got, ok := rollouts.ParseUnit(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
