package helm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/helm"
)

func TestAReleaseTravelsAsJSON(t *testing.T) {
	want := helm.Release{Name: "r", Namespace: "n", CRDs: helm.Skip, Values: helm.Values{
		"f": float64(1000000), "i": int64(1000000), "big": 1e300, "half": 0.5, "neg": float64(-3),
		"list": []any{float64(1), int64(1), nil, "1", true}, "map": map[string]any{"f": float64(0)},
	}}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got helm.Release
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
