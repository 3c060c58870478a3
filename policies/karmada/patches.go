package karmada

import (
	"encoding/json"
)

// PlaintextOverrider is one operation of an RFC 6902 patch.
type PlaintextOverrider struct {
	Path     string            `json:"path"`
	Operator OverriderOperator `json:"operator"`
	Value    json.RawMessage   `json:"value,omitempty"`
}

// FieldOverrider patches the JSON or YAML document inside a string field.
type FieldOverrider struct {
	FieldPath string           `json:"fieldPath"`
	JSON      []FieldOperation `json:"json,omitempty"`
	YAML      []FieldOperation `json:"yaml,omitempty"`
}

// FieldOperation is one operation of the patch inside the field.
type FieldOperation struct {
	SubPath  string            `json:"subPath"`
	Operator OverriderOperator `json:"operator"`
	Value    json.RawMessage   `json:"value,omitempty"`
}
