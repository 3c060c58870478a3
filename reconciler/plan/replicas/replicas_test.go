package replicas

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
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
