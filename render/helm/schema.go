package helm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"helm.sh/helm/v3/pkg/chart"
)

// schemaURL is where the schema of a chart is taken to be; nothing is read from there.
const schemaURL = "file:///values.schema.json"

// maxViolations is how many violations an error names.
const maxViolations = 20

// sealed is a loader that loads nothing: a schema refers to itself alone. Helm would
// follow a reference to the network and to the disk.
type sealed struct{}

// Load refuses a reference.
func (sealed) Load(url string) (any, error) {
	return nil, fmt.Errorf("the reference %q leaves the schema, and is not followed", url)
}

// validate holds the merged values of a chart, and those of the sub-charts that take
// part, against their schemas. The values are not in the error, only where they are.
func validate(root *chart.Chart, values map[string]any) error {
	var found []string
	if err := violations(root, values, root.Name(), &found); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if more := len(found) - maxViolations; more > 0 {
		found = append(found[:maxViolations], fmt.Sprintf("and %d more", more))
	}
	return errors.New("the values do not meet the schema of the chart:\n- " + strings.Join(found, "\n- "))
}

// violations appends what is wrong, as "chart: at '/path': what".
func violations(c *chart.Chart, values map[string]any, name string, found *[]string) error {
	if c.Schema != nil {
		err := against(c.Schema, values)
		var violation *jsonschema.ValidationError
		switch {
		case errors.As(err, &violation):
			describe(violation, name, found)
		case err != nil:
			return &Error{File: c.ChartFullPath() + "/values.schema.json", Message: err.Error()}
		}
	}
	for _, sub := range c.Dependencies() {
		path := name + "/" + sub.Name()
		switch v := values[sub.Name()].(type) {
		case nil:
		case map[string]any:
			if err := violations(sub, v, path, found); err != nil {
				return err
			}
		default:
			*found = append(*found, path+": the values are no mapping")
		}
	}
	return nil
}

func against(schema []byte, values map[string]any) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(sealed{})
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	return compiled.Validate(values)
}

// describe appends the innermost causes of a violation.
func describe(v *jsonschema.ValidationError, chart string, found *[]string) {
	for _, cause := range v.Causes {
		describe(cause, chart, found)
	}
	if len(v.Causes) == 0 {
		*found = append(*found, fmt.Sprintf("%s: at '/%s': %s", chart, strings.Join(v.InstanceLocation, "/"), what(v.ErrorKind)))
	}
}

// what says what a violation is, without the value that is there.
func what(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Pattern:
		return fmt.Sprintf("does not match the pattern %q", k.Want)
	case *kind.Format:
		return "is not a valid " + k.Want
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		return "is out of range: " + strings.Join(k.KeywordPath(), "/")
	default:
		return k.LocalizedString(message.NewPrinter(language.English))
	}
}
