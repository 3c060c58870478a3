package replicas

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/sources/files"
)

// Somebody may have edited what Waybill wrote: a comment hides no replicas.
func TestReplicas(t *testing.T) {
	const manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n"
	for _, tt := range []struct {
		name, text string
		want       Count
	}{
		{"as written", manifest, Count{3, true}},
		{"edited", manifest + "# a hot fix\n", Count{3, true}},
		{"of no workload", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n", Count{}},
		{"broken", "apiVersion: [\n", Count{}},
		{"two manifests", manifest + "---\n" + manifest, Count{}},
	} {
		c := new(Memo).Counter(interpret.New(), "")
		if got := c.Of(files.NewBlob([]byte(tt.text))); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// What was counted is remembered as long as customizations are what they were.
func TestOtherCustomizationsCountAnew(t *testing.T) {
	says := func(replicas string) *interpret.Interpreter {
		c := &karmada.ResourceInterpreterCustomization{Spec: karmada.ResourceInterpreterCustomizationSpec{
			Target:         karmada.CustomizationTarget{APIVersion: "apps/v1", Kind: "Deployment"},
			Customizations: karmada.CustomizationRules{ReplicaResource: &karmada.LuaScript{LuaScript: "function GetReplicas(o) return " + replicas + " end"}},
		}}
		c.Name = "mine"
		return interpret.New(c)
	}
	b := files.NewBlob([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n"))
	var m Memo
	for _, tt := range []struct {
		by     *interpret.Interpreter
		digest string
		want   int32
	}{
		{says("5"), "five", 5},
		{says("7"), "five", 5}, // by its digest it is the same, so that nothing is asked
		{says("7"), "seven", 7},
		{interpret.New(), "", 3},
	} {
		c := m.Counter(tt.by, tt.digest)
		if got := c.Of(b); got != (Count{tt.want, true}) {
			t.Errorf("by %q it has %+v, want %d", tt.digest, got, tt.want)
		}
		m.Keep(c)
	}
}
