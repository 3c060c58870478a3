package docs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render"
)

// TestConfigShowsEveryDefault holds the first block of docs/config.md to what a source without a file
// has: every option, and its value.
func TestConfigShowsEveryDefault(t *testing.T) {
	t.Parallel()
	blocks, _ := Read(read(t, root+"/docs/config.md"))
	i := slices.IndexFunc(blocks, func(b Block) bool { return b.Language == "yaml" && strings.Contains(b.Text, "kind: Config") })
	if i < 0 {
		t.Fatal("the page shows no waybill.yaml")
	}
	got, ds := render.ParseConfig([]byte(blocks[i].Text))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if diff := cmp.Diff(render.DefaultConfig(), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the page says other defaults (-code +page):\n%s", diff)
	}
	var shown struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(blocks[i].Text), &shown); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(render.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	lacks(t, "spec", all, shown.Spec)
}

// lacks names the options that the page does not show.
func lacks(t *testing.T, at string, all, shown map[string]any) {
	t.Helper()
	for name, v := range all {
		s, ok := shown[name]
		if !ok {
			t.Errorf("the page does not show %s.%s", at, name)
		}
		if below, ok := v.(map[string]any); ok {
			inner, _ := s.(map[string]any)
			lacks(t, at+"."+name, below, inner)
		}
	}
}
