package preview_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
)

// schema is the one that is published.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../docs/preview.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate holds a value against the schema as JSON.
func validate(t *testing.T, s *jsonschema.Schema, v any) error {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(read)
}

func TestComparisonsAreAsTheSchemaSays(t *testing.T) {
	s := schema(t)
	all := []preview.Comparison{previewtest.Everything(), {APIVersion: preview.APIVersion, Kind: preview.Kind, Changes: []preview.Change{}, Clusters: []preview.Cluster{}}}
	for _, text := range previewtest.Hostile() {
		all = append(all, previewtest.Filled(text))
	}
	for _, c := range all {
		if err := validate(t, s, c); err != nil {
			t.Error(err)
		}
	}
}

// TestTheSchemaHasEveryField takes the schema's word for what there is: a field that it does not
// name, and a verb that it does not know, is refused.
func TestTheSchemaHasEveryField(t *testing.T) {
	s := schema(t)
	wrong := previewtest.Everything()
	wrong.Changes[0].Verb = "explodes"
	if err := validate(t, s, wrong); err == nil || !strings.Contains(err.Error(), "/changes/0/verb") {
		t.Errorf("a verb that there is not: %v", err)
	}
	type more struct {
		preview.Comparison

		More string `json:"more"`
	}
	if err := validate(t, s, more{previewtest.Everything(), "x"}); err == nil {
		t.Error("a field that there is not is taken")
	}
}
