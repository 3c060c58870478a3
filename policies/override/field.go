package override

import (
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// field patches the JSON or YAML document in a string of the object (section B.7).
func (a *applier) field(o *karmada.FieldOverrider) error {
	tokens, err := pointerTokens(o.FieldPath)
	if err != nil {
		return err
	}
	before, after, err := a.edit(tokens, func(s string) (string, error) { return a.patchText(s, o) })
	if err != nil {
		return located(o.FieldPath, err)
	}
	if after != before {
		a.record(o.FieldPath, before, after)
	}
	return nil
}

func (a *applier) patchText(s string, o *karmada.FieldOverrider) (string, error) {
	switch {
	case len(o.YAML) > 0:
		if err := a.spend(yamlWork * len(s)); err != nil {
			return "", err
		}
		return a.patchYAML(s, o.YAML)
	case len(o.JSON) > 0:
		if err := a.spend(jsonWork * len(s)); err != nil {
			return "", err
		}
		return patchJSON(s, o.JSON)
	default:
		return "", errors.New("neither json nor yaml has an operation")
	}
}

// patchJSON keeps the order of keys, and takes out the space between tokens. The
// empty text stays empty.
func patchJSON(s string, ops []karmada.FieldOperation) (string, error) {
	if s != "" && !json.Valid([]byte(s)) {
		return "", errors.New("the text is no valid JSON")
	}
	patched, err := patchDocument([]byte(s), "json", ops)
	return string(patched), err
}

// patchYAML sorts keys, and loses comments, anchors and all documents after the
// first.
func (a *applier) patchYAML(s string, ops []karmada.FieldOperation) (string, error) {
	doc, err := yaml.YAMLToJSON([]byte(s))
	if err != nil {
		if a.secret { // what the parser says may quote the text
			return "", errors.New("the text is no valid YAML")
		}
		return "", fmt.Errorf("parsing the text as YAML: %w", err)
	}
	patched, err := patchDocument(doc, "yaml", ops)
	if err != nil {
		return "", err
	}
	out, err := yaml.JSONToYAML(patched)
	if err != nil {
		return "", fmt.Errorf("writing the patched text as YAML: %w", err)
	}
	return string(out), nil
}

func patchDocument(doc []byte, list string, entries []karmada.FieldOperation) ([]byte, error) {
	ops := make([]operation, len(entries))
	for i, e := range entries {
		ops[i] = operation{operator: e.Operator, path: e.SubPath, value: e.Value}
	}
	patched, failed, err := patch(doc, ops)
	if err != nil {
		return nil, fmt.Errorf("patching by %s[%d] at %q: %w", list, failed, ops[failed].path, err)
	}
	return patched, nil
}
