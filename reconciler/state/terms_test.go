package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
)

// Who has no source goes by what the state branch says of the config.
func TestTerms(t *testing.T) {
	stated, diags := render.ParseConfig([]byte(`apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  publish: {branchPrefix: fleet/, formerly: [https://old.example.com/fleet]}
  guard: {maxRemoved: 3}
  apply:
    serviceAccountName: deployer
    ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]
    syncWindows: [{kind: deny, schedule: "0 0 * * *", duration: 1h, clusters: ["*"]}]
`))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	none := render.DefaultConfig()
	for name, config := range map[string]*render.ConfigSpec{"stated": &stated, "none": &none} {
		want := state.TermsOf(config)
		root, err := state.Encode(state.Content{Terms: want}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, written := root.Lookup("apply.json"); written != (name == "stated") {
			t.Errorf("%s: a file is written: %v", name, written)
		}
		got, err := state.ReadTerms(root)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
