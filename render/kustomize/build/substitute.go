package build

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
)

// substituteKey is the label or annotation whose value "disabled" keeps an object as
// it is.
const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// variable is what the name of a variable looks like.
var variable = regexp.MustCompile(kustomize.VariableName)

// maxNesting bounds how deep the default of a variable may hold others: the parser
// recurses.
const maxNesting = 100

// nesting is how deep variables stand in each other.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			depth++
			most = max(most, depth)
		case text[i] == '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// substitute replaces the variables in an object, written as YAML: a value may thus
// become a number or a mapping. Variables that are not set are empty. Line breaks in
// values are dropped.
func substitute(o *kustomize.Overlay, r *resource.Resource) error {
	if len(o.Substitute)+len(o.Sealed) == 0 && !o.SubstituteAlways || r.GetLabels()[substituteKey] == "disabled" || r.GetAnnotations()[substituteKey] == "disabled" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Substitute)) {
		if !variable.MatchString(name) {
			return fmt.Errorf("the name of the variable %q does not match %s", name, variable)
		}
	}
	written, err := r.AsYAML()
	if err != nil {
		return err
	}
	if nesting(string(written)) > maxNesting {
		return fmt.Errorf("variables are nested over %d levels deep", maxNesting)
	}
	var sealed string
	out, err := envsubst.Eval(string(written), func(name string) (string, bool) {
		if holder, ok := o.Sealed[name]; ok {
			sealed = fmt.Sprintf("the variable %s is in the %s, which is encrypted, and only what applies it to a cluster can read it", name, holder)
		}
		return strings.ReplaceAll(o.Substitute[name], "\n", ""), true
	})
	if err != nil {
		return err
	}
	if sealed != "" {
		return errors.New(sealed)
	}
	for _, d := range object.Scan("", []byte(out)) {
		return fmt.Errorf("the object as substituted cannot be read: %s", d.Message)
	}
	asJSON, err := yaml.YAMLToJSON([]byte(out))
	if err != nil {
		return fmt.Errorf("reading the object as substituted: %w", err)
	}
	return r.UnmarshalJSON(asJSON)
}
