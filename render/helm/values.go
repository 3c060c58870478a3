package helm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Values are values for a chart. Their numbers keep their types: to a template,
// float64(1000000) is 1e+06 and int64(1000000) is 1000000. Helm gives the former to
// whatever was read from YAML or JSON, and the latter to what was --set. In JSON, the
// former are written with a point or an exponent, and only they.
type Values map[string]any

// NewValues returns what Helm makes of values that were decoded from YAML: all of
// their numbers become float64. It copies what it changes and shares nothing.
func NewValues(decoded map[string]any) Values {
	return convert(decoded, func(scalar any) any {
		switch n := scalar.(type) {
		case int64:
			return float64(n)
		case int:
			return float64(n)
		case uint64:
			return float64(n)
		default:
			return n
		}
	}).(map[string]any)
}

// MarshalJSON writes the values as said at Values.
func (v Values) MarshalJSON() ([]byte, error) {
	marked := convert(map[string]any(v), func(scalar any) any {
		n, ok := scalar.(float64)
		if !ok {
			return scalar
		}
		s := strconv.FormatFloat(n, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eNI") {
			s += ".0"
		}
		return json.Number(s)
	})
	return json.Marshal(marked)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Values) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var decoded map[string]any
	if err := decoder.Decode(&decoded); err != nil {
		return fmt.Errorf("reading values: %w", err)
	}
	*v = convert(decoded, func(scalar any) any {
		n, ok := scalar.(json.Number)
		if !ok {
			return scalar
		}
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, err := n.Float64()
		if err != nil {
			return n.String() // too large for any number
		}
		return f
	}).(map[string]any)
	return nil
}

// convert copies a tree of values, its scalars converted.
func convert(v any, scalar func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = convert(value, scalar)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = convert(value, scalar)
		}
		return out
	default:
		return scalar(v)
	}
}

// Clone copies values.
func (v Values) Clone() Values {
	return convert(map[string]any(v), func(scalar any) any { return scalar }).(map[string]any)
}

// With lays values over these, as merged does.
func (v Values) With(over Values) Values { return merged(v, over) }

// merged lays values over others, as helm does with several -f: mappings are merged,
// all else is replaced. A null stays, to remove what the chart has there.
func merged(under, over map[string]any) map[string]any {
	out := make(map[string]any, len(under)+len(over))
	maps.Copy(out, under)
	for key, value := range over {
		upper, isMap := value.(map[string]any)
		lower, wasMap := out[key].(map[string]any)
		if isMap && wasMap {
			value = merged(lower, upper)
		}
		out[key] = value
	}
	return out
}

// DecodeValues reads a file of values as Helm does.
func DecodeValues(data []byte) (Values, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	if values == nil {
		values = map[string]any{}
	}
	return values, nil
}
