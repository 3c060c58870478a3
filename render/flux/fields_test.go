package flux_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	generatorv1 "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// specs are the types of Flux whose fields the table has.
var specs = map[string]reflect.Type{
	"Kustomization":     reflect.TypeFor[kustomizev1.KustomizationSpec](),
	"HelmRelease":       reflect.TypeFor[helmv2.HelmReleaseSpec](),
	"GitRepository":     reflect.TypeFor[sourcev1.GitRepositorySpec](),
	"OCIRepository":     reflect.TypeFor[sourcev1.OCIRepositorySpec](),
	"Bucket":            reflect.TypeFor[sourcev1.BucketSpec](),
	"HelmRepository":    reflect.TypeFor[sourcev1.HelmRepositorySpec](),
	"HelmChart":         reflect.TypeFor[sourcev1.HelmChartSpec](),
	"ArtifactGenerator": reflect.TypeFor[generatorv1.ArtifactGeneratorSpec](),
}

// row is a row of the table: what becomes of fields of a kind.
var row = regexp.MustCompile(`(?m)^\| ([A-Z]\w+) \| (acts|refused|told|ignored) \| ([^|]*) \|`)

// table reads docs/from-flux.md: what becomes of each field.
func table(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/from-flux.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(m[3], ", ") {
			field := m[1] + "." + strings.Trim(name, "`")
			if fields[field] != "" {
				t.Errorf("%s is in the table twice", field)
			}
			fields[field] = m[2]
		}
	}
	return fields
}

// TestTheTableHasTheFieldsOfFlux: every field of Flux's types is in the table, or is made of fields that
// are, and the table has no others.
func TestTheTableHasTheFieldsOfFlux(t *testing.T) {
	fields := table(t)
	known := map[string]bool{}
	var walk func(prefix string, of reflect.Type)
	walk = func(prefix string, of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), "github.com/fluxcd/") {
			t.Errorf("%s is a field of Flux, and not in the table of docs/from-flux.md", prefix)
			return
		}
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if field := prefix + "." + name; fields[field] == "" {
				walk(strings.TrimSuffix(field, "."), of.Field(i).Type)
			} else {
				known[field] = true
			}
		}
	}
	for kind, spec := range specs {
		walk(kind, spec)
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !known[field] {
			t.Errorf("%s is in the table of docs/from-flux.md, and no field of Flux", field)
		}
	}
}

// TestTheTableIsTrue: a field that acts changes what comes out, if only to an error, one that is refused is an error, one that
// is told changes only what is said, and one that is ignored changes nothing.
func TestTheTableIsTrue(t *testing.T) {
	fields := table(t)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		t.Run(field, func(t *testing.T) {
			f, ok := fixtures[field]
			if !ok && fields[field] != "ignored" {
				t.Fatal("no fixture gives it a value")
			}
			if !ok {
				f.value = sample(field)
			}
			before, after := outcomeOf(t, field, f, false), outcomeOf(t, field, f, true)
			if got := after.than(before); got != fields[field] && (got != "refused" || fields[field] != "acts") {
				t.Errorf("it is said to be %s, and is %s:\n%+v\n%+v", fields[field], got, before, after)
			}
		})
	}
	for field := range fixtures {
		if fields[field] == "" {
			t.Errorf("a fixture is of %s, which the table does not have", field)
		}
	}
}

// sample returns a value for a field that is ignored, whatever it is.
func sample(field string) string {
	kind, path, _ := strings.Cut(field, ".")
	of := specs[kind]
	for name := range strings.SplitSeq(path, ".") {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		for f := range of.Fields() {
			if json, _, _ := strings.Cut(f.Tag.Get("json"), ","); json == name {
				of = f.Type
				break
			}
		}
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return map[reflect.Kind]string{reflect.Bool: "true", reflect.String: "x", reflect.Int: "3", reflect.Slice: "[{}]", reflect.Struct: "{}"}[of.Kind()]
}

// outcome is what comes of a release: what is said of it, and what it renders to.
type outcome struct {
	said, rendered string
	failed         bool
}

// than says what an outcome makes of the one before.
func (o outcome) than(before outcome) string {
	switch {
	case o.failed && !before.failed && before.said != o.said:
		return "refused"
	case o.rendered != before.rendered || o.failed != before.failed:
		return "acts"
	case o.said != before.said:
		return "told"
	}
	return "ignored"
}

// outcomeOf is what comes of the subject of a field, with the field or without it.
func outcomeOf(t *testing.T, field string, f fixture, with bool) outcome {
	t.Helper()
	kind, path, _ := strings.Cut(field, ".")
	var objs []*object.Object
	for doc := range strings.SplitSeq(world, "---\n") {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(doc), &content); err != nil {
			t.Fatal(err)
		}
		if metadata := content["metadata"].(map[string]any); content["kind"] == kind && metadata["name"] == "subject" {
			spec := content["spec"].(map[string]any)
			maps.Copy(spec, decoded[map[string]any](t, f.beside))
			if with {
				set(spec, strings.Split(path, "."), decoded[any](t, f.value))
			}
		}
		objs = append(objs, parsed(t, content))
	}
	repository := flux.Identify([]string{"Bucket/flux-system/subject"}, objs, nil)
	release := objs[slices.IndexFunc(objs, func(o *object.Object) bool {
		return o.Ref().Name == "subject" && o.Ref().Kind == kind && flux.IsRelease(o) || o.Ref().Name == "by-"+strings.ToLower(kind)
	})]
	job, ds := flux.Read(release, flux.NewIndex(objs), flux.Setting{Repository: &repository})
	out := outcome{failed: diag.HasErrors(ds)}
	for _, d := range ds {
		out.said += string(d.Code) + " "
	}
	if job == nil {
		return out
	}
	asJSON, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if job.Helm != nil && job.Helm.Chart.Path == "" {
		out.rendered = string(asJSON) // a chart that would have to be fetched
		return out
	}
	data, err := engines.Run(asJSON, sources.Tree(files))
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range result.Manifests {
		out.rendered += string(m.Object.YAML())
	}
	for _, d := range result.Diags {
		out.rendered += d.String() + "\n"
	}
	return out
}

func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// set sets a field; of a list that of its first item.
func set(in any, path []string, value any) {
	if list, ok := in.([]any); ok {
		in = list[0]
	}
	m := in.(map[string]any)
	if len(path) == 1 {
		m[path[0]] = value
		return
	}
	if m[path[0]] == nil {
		m[path[0]] = map[string]any{}
	}
	set(m[path[0]], path[1:], value)
}

// parsed returns a manifest that stands in the folder of a cluster.
func parsed(t *testing.T, content map[string]any) *object.Object {
	t.Helper()
	data, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	d := object.Decode("clusters/eu/all.yaml", data)
	if len(d.Objects) != 1 {
		t.Fatalf("%s: %v", data, d.Diags)
	}
	return d.Objects[0]
}
