// Package references tells what a kustomization names: files, folders and charts. It reads nothing but its text.
package references

import (
	"path"
	"slices"
	"strings"
	"unicode"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
)

// Named is what a kustomization may use.
type Named struct {
	Component bool // it is a Component, which is built only as part of others
	Files     []string
	Folders   []string // of other kustomizations
}

// plainFields are the fields of a kustomization whose strings name no file, whatever files
// are called as they say: an annotation, say. Those of fileFields may name files, and no
// folders. Those of resources, bases, components, generators, transformers and validators
// may name either, and so may those of a field that is none: it was meant to be one of
// these, and nothing is built until it is.
var (
	plainFields = []string{
		"apiVersion", "kind", "metadata", "namePrefix", "nameSuffix", "namespace", "commonLabels", "labels", "commonAnnotations",
		"images", "imageTags", "replicas", "vars", "sortOptions", "generatorOptions", "buildMetadata", "inventory",
	}
	fileFields = []string{
		"openapi", "patchesStrategicMerge", "patchesJson6902", "patches", "replacements", "crds", "configurations",
		"configMapGenerator", "secretGenerator", "configMapGeneratorOptions", "helmGlobals", "helmCharts", "helmChartInflationGenerator",
	}
)

// Of returns the strings of a kustomization that may name a file or a
// folder: for a file those of every list and map in it. A string that names nothing there
// is no matter. It reports false if the file cannot be read, or says nothing.
func Of(file string, data []byte) (Named, bool) {
	var content map[string]any
	if len(data) > object.MaxFile || len(object.Scan(file, data)) > 0 || sigsyaml.Unmarshal(data, &content) != nil || len(content) == 0 {
		return Named{}, false
	}
	out := Named{Component: content["kind"] == "Component"}
	for field, v := range content {
		if slices.Contains(plainFields, field) {
			continue
		}
		in := stringsIn(v, nil)
		out.Files = append(out.Files, in...)
		if !slices.Contains(fileFields, field) {
			out.Folders = append(out.Folders, in...)
		}
	}
	return out, true
}

// stringsIn adds the strings in a value that may be a path to those given. Generators
// write key=file.
func stringsIn(v any, to []string) []string {
	switch v := v.(type) {
	case string:
		const longest = 4096
		if len(v) >= longest || strings.Contains(v, "\n") {
			return to
		}
		_, behind, _ := strings.Cut(v, "=")
		for _, p := range []string{v, behind} {
			if p != "" && !path.IsAbs(p) {
				to = append(to, p)
			}
		}
	case []any:
		for _, e := range v {
			to = stringsIn(e, to)
		}
	case map[string]any:
		for _, e := range v {
			to = stringsIn(e, to)
		}
	}
	return to
}

// Words returns what may be a path in a text that cannot be read.
func Words(data []byte) []string {
	var to []string
	between := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'[]{},;", r)
	}
	for word := range strings.FieldsFuncSeq(string(data), between) {
		to = stringsIn(strings.Trim(word, ":"), to)
	}
	return to
}
