package build

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

	"github.com/waybill-dev/waybill/render/helm"
)

// schemaURL is where the schema of a chart is taken to be; nothing is read from there.
const schemaURL = "file:///values.schema.json"

// maxViolations is how many violations an error names.
const maxViolations = 20

// sealed is a loader that loads nothing. Helm would follow a reference to the network and
// to the disk.
type sealed struct{}

// Load refuses a reference.
func (sealed) Load(string) (any, error) { return nil, errors.New("nothing is fetched") }

// checked is what came of holding values against schemas.
type checked struct {
	violations []string
	notices    []string // what was left out
}

// validate holds the merged values of a chart, and those of the sub-charts that take
// part, against their schemas. It returns what it left out. The values are not in the
// error, only where they are.
func validate(root *chart.Chart, values map[string]any) (notices []string, err error) {
	var c checked
	if err := c.chart(root, values, root.Name()); err != nil {
		return nil, err
	}
	found := slices.Compact(slices.Sorted(slices.Values(c.violations)))
	if len(found) == 0 {
		return c.notices, nil
	}
	if more := len(found) - maxViolations; more > 0 {
		found = append(found[:maxViolations], fmt.Sprintf("and %d more", more))
	}
	return nil, errors.New("the values do not meet the schema of the chart:\n- " + strings.Join(found, "\n- "))
}

// chart appends what is wrong, as "chart: at '/path': what".
func (c *checked) chart(of *chart.Chart, values map[string]any, name string) error {
	if of.Schema != nil {
		file := of.ChartFullPath() + "/values.schema.json"
		left, err := against(of.Schema, values)
		var violation *jsonschema.ValidationError
		var other *jsonschema.LoadURLError
		switch {
		case errors.As(err, &violation):
			describe(violation, name, &c.violations)
		case errors.As(err, &other):
			c.notices = append(c.notices, fmt.Sprintf("the values are not held against %s: it refers to %s, which is not fetched", file, other.URL))
		case err != nil:
			return &helm.Error{File: file, Message: err.Error()}
		}
		for _, ref := range left {
			c.notices = append(c.notices, fmt.Sprintf("the values are not held against the part of %s that is at %s, which is not fetched", file, ref))
		}
	}
	for _, sub := range of.Dependencies() {
		path := name + "/" + sub.Name()
		switch v := values[sub.Name()].(type) {
		case nil:
		case map[string]any:
			if err := c.chart(sub, v, path); err != nil {
				return err
			}
		default:
			c.violations = append(c.violations, path+": the values are no mapping")
		}
	}
	return nil
}

// against holds values against a schema, and returns the references that it left out.
func against(schema []byte, values map[string]any) (left []string, err error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	left = loosen(document)
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(sealed{})
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return left, compiled.Validate(values)
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
