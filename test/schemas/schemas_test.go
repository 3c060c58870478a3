package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	kyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/karmada/validate"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

var update = flag.Bool("update", false, "write docs/schemas anew")

const (
	root   = "../.."
	folder = root + "/docs/schemas"
)

func encoded(t *testing.T, s Schema) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSchemasAreThoseOfTheCode holds docs/schemas to the Go types; make docs writes it.
func TestSchemasAreThoseOfTheCode(t *testing.T) {
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range all {
		path, want := filepath.Join(folder, name+".json"), encoded(t, s)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the code says; make docs writes it (%v)", path, err)
		}
	}
	written, err := filepath.Glob(folder + "/*.json")
	if err != nil || len(written) != len(all) {
		t.Errorf("%s has %d schemas; there are %d (%v)", folder, len(written), len(all), err)
	}
}

// compiled is the schema for any document.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	s, err := c.Compile(filepath.Join(folder, "source.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document is a file that is read, and whether the program finds nothing wrong with it.
type document struct {
	from  string
	data  []byte
	sound bool
}

// documents are the YAML documents of examples and scenarios of the kinds that have a schema.
func documents(t *testing.T) []document {
	t.Helper()
	entry := lock.Entry{
		Ref:     lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: "web", Constraint: "^1.0"},
		Version: "1.2.0", URL: "https://charts.example.com/web-1.2.0.tgz", Digest: "sha256:" + strings.Repeat("0", 64),
	}
	found := []document{{"a lock", lock.Lock{}.With(entry).Encode(), true}}
	add := func(from, name string, data []byte) {
		switch base := filepath.Base(name); {
		case base == render.ConfigFile:
			_, ds := render.ParseConfig(data)
			found = append(found, document{from, data, len(ds) == 0})
		case base == lock.FileName:
			_, err := lock.Parse(data)
			found = append(found, document{from, data, err == nil})
		case filepath.Ext(base) == ".yaml":
			for part := range strings.SplitSeq(string(data), "\n---\n") {
				if asJSON, ok := policyOf(part); ok && !hasNull(asJSON) {
					found = append(found, document{from, []byte(part), sound(asJSON)})
				}
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(path, root+"/examples/"):
			add(path, path, data)
		case filepath.Ext(path) == ".txtar" || strings.Contains(path, "/testdata/") && filepath.Ext(path) == ".txt":
			for _, f := range txtar.Parse(data).Files {
				add(path+":"+f.Name, f.Name, f.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// policyOf is a document as JSON, if a schema is for it.
func policyOf(part string) (map[string]any, bool) {
	var doc map[string]any
	if kyaml.UnmarshalStrict([]byte(part), &doc) != nil {
		return nil, false
	}
	for _, f := range files {
		version, _ := doc["apiVersion"].(string)
		if f.apiVersion != own && version != "" && (version == f.apiVersion || version == equal[f.apiVersion]) && doc["kind"] == f.kind {
			return doc, true
		}
	}
	return nil, false
}

// hasNull says whether a document says null somewhere, which the program takes for nothing, and a
// schema for a mistake.
func hasNull(x any) bool {
	switch x := x.(type) {
	case nil:
		return true
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(x)), hasNull)
	case []any:
		return slices.ContainsFunc(x, hasNull)
	}
	return false
}

// sound says whether the program reads it without an error.
func sound(doc map[string]any) bool {
	data, err := json.Marshal(doc)
	if err != nil {
		return false
	}
	if o, _ := object.Single("s.json", data); o != nil && kubefleet.IsStrategy(o.Ref()) {
		s, wrong := kubefleet.Read(o)
		return s != nil && len(wrong) == 0 // a status is only a warning, and no schema has it
	}
	apiVersion, kind := doc["apiVersion"].(string), doc["kind"].(string)
	x, errs := karmada.Decode(apiVersion, kind, data)
	if x == nil || len(errs) > 0 {
		return false
	}
	return !slices.ContainsFunc(validate.Object(x), func(e karmada.FieldError) bool { return !e.Warning })
}

func instance(data []byte) (any, error) {
	asJSON, err := kyaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
}

// TestWhatIsReadValidates holds that an editor finds nothing wrong with what the program takes.
func TestWhatIsReadValidates(t *testing.T) {
	s := compiled(t)
	kinds := map[any]int{}
	for _, d := range documents(t) {
		if !d.sound {
			continue
		}
		x, err := instance(d.data)
		if err != nil {
			t.Errorf("%s: %v", d.from, err)
			continue
		}
		if m, ok := x.(map[string]any); ok {
			kinds[m["kind"]]++
		}
		if err := s.Validate(x); err != nil {
			t.Errorf("%s: %v", d.from, err)
		}
	}
	for _, f := range files {
		if kinds[f.kind] == 0 {
			t.Errorf("no example or scenario has a %s", f.kind)
		}
	}
}

// TestUnknownFieldsDoNotValidate adds a field that nobody has to a document of each kind.
func TestUnknownFieldsDoNotValidate(t *testing.T) {
	s := compiled(t)
	seen := map[any]bool{}
	for _, d := range documents(t) {
		x, err := instance(d.data)
		m, ok := x.(map[string]any)
		if err != nil || !ok || !d.sound || seen[m["kind"]] {
			continue
		}
		spec, ok := m["spec"].(map[string]any)
		if !ok {
			spec = m // as in the lock
		}
		seen[m["kind"]] = true
		spec["noSuchField"] = true
		if s.Validate(m) == nil {
			t.Errorf("%s: a %s with a field that nobody has validates", d.from, m["kind"])
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d kinds were tried", len(seen))
	}
}

// TestWrongWordsDoNotValidate tries a word that a field does not take.
func TestWrongWordsDoNotValidate(t *testing.T) {
	s := compiled(t)
	for _, text := range []string{
		"{apiVersion: waybill.dev/v1alpha1, kind: Config, spec: {secrets: alow}}",
		"{apiVersion: waybill.dev/v1alpha1, kind: Config, spec: {guard: {maxRemoved: many}}}",
		"{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Pul}}",
		"{apiVersion: waybill.dev/v1alpha1, kind: Lock}",
		"{apiVersion: waybill.dev/v1alpha1, kind: Config, spec: {rollout: {bypass: always}}}",
		"{apiVersion: placement.kubernetes-fleet.io/v1, kind: ClusterStagedUpdateStrategy, metadata: {name: a}, spec: {stages: [{name: a, afterStageTasks: [{type: Wait}]}]}}",
		"{apiVersion: placement.kubernetes-fleet.io/v1beta1, kind: StagedUpdateStrategy, metadata: {name: a}, spec: {}}",
	} {
		x, err := instance([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(x) == nil {
			t.Errorf("%s validates", text)
		}
	}
}
