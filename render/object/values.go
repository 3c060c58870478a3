package object

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// values returns what a document says, as kubectl reads it: plain scalars are those
// of YAML 1.1, keys become strings, and numbers are int64 where JSON would write
// them without a fraction. Only y, Y, n and N are read otherwise, as strings: nobody
// writes a boolean of a manifest that way, YAML 1.2 reads strings, and where an
// annotation is n Karmada delivers n.
//
// The document was held against the limits, so that its aliases end.
func values(root *yaml.Node) (map[string]any, error) {
	v, err := value(root)
	if err != nil {
		return nil, err
	}
	m, _ := v.(map[string]any)
	return m, nil
}

// Values returns what a mapping says that another package has read or made, as kubectl reads
// it. It has no aliases.
func Values(root *yaml.Node) (map[string]any, error) { return values(root) }

// valueError says what cannot be read, and in which line.
type valueError struct {
	line    int
	message string
}

func (e *valueError) Error() string { return e.message }

func unreadable(n *yaml.Node, format string, args ...any) error {
	return &valueError{line: n.Line, message: fmt.Sprintf(format, args...)}
}

// value returns what a node says. Every alias is a copy of its own.
func value(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias)
	case yaml.ScalarNode:
		v, err := scalarValue(n)
		if err != nil {
			return nil, err
		}
		return number(n, v)
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		return m, mapping(m, n)
	case yaml.SequenceNode:
		s := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := value(c)
			if err != nil {
				return nil, err
			}
			s = append(s, v)
		}
		return s, nil
	case yaml.DocumentNode:
		return value(n.Content[0])
	}
	return nil, unreadable(n, "the document holds what is no YAML")
}

// mapping adds the entries of a mapping to m. Later ones replace earlier ones, merged
// ones too, whatever YAML says of those: so it is with kubectl.
func mapping(m map[string]any, n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			if err := merge(m, v); err != nil {
				return err
			}
			continue
		}
		key, err := keyOf(k)
		if err != nil {
			return err
		}
		if m[key], err = value(v); err != nil {
			return err
		}
	}
	return nil
}

// merge adds what a merge key names: a mapping, or several, of which the first
// counts most.
func merge(m map[string]any, n *yaml.Node) error {
	from := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		from = n.Content
	}
	for _, f := range slices.Backward(from) {
		if f.Kind == yaml.AliasNode {
			f = f.Alias
		}
		if f.Kind != yaml.MappingNode {
			return unreadable(f, "the merge key << names what is no mapping")
		}
		if err := mapping(m, f); err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns a key as JSON has it.
func keyOf(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", unreadable(n, "a key of a mapping is no string")
	}
	v, err := scalarValue(n)
	if err == nil {
		_, err = number(n, v)
	}
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int64:
		return fmt.Sprint(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 32), nil
	}
	return "", unreadable(n, "a key of a mapping is no string")
}

// scalarValue returns what a scalar says by its tag or, where it has none and stands
// in no quotes, by its looks: see implied.
func scalarValue(n *yaml.Node) (any, error) {
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return tagged(n)
	case n.Style != 0 || len(n.Value) == 1 && strings.Contains("yYnN", n.Value):
		return n.Value, nil
	}
	return implied(n.Value), nil
}

// tagged returns a scalar whose tag stands before it. A tag that only a program
// knows says nothing here.
func tagged(n *yaml.Node) (any, error) {
	tag, v := n.ShortTag(), any(n.Value)
	ok := true
	switch tag {
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, unreadable(n, "a !!binary value is no base64")
		}
		return string([]rune(string(data))), nil // what is no UTF-8 is replaced, as in JSON
	case "!!bool":
		v, ok = implied(n.Value).(bool)
	case "!!null":
		v = implied(n.Value)
		ok = v == nil
	case "!!int":
		switch v = implied(n.Value); v.(type) {
		case int64, uint64:
		default:
			ok = false
		}
	case "!!float":
		switch v = implied(n.Value); v.(type) {
		case int64, float64:
		default:
			ok = false
		}
	}
	if !ok {
		return nil, unreadable(n, "a value with the tag %s is none", tag)
	}
	return v, nil
}

// number turns numbers into what JSON makes of them.
func number(n *yaml.Node, v any) (any, error) {
	switch v := v.(type) {
	case uint64:
		return float64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, unreadable(n, "a value is no number in JSON: it is infinite, or .nan")
		}
		if whole, err := strconv.ParseInt(strconv.FormatFloat(v, 'f', -1, 64), 10, 64); err == nil {
			return whole, nil
		}
	}
	return v, nil
}

var yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// implied resolves a plain scalar: nil, bool, int64, uint64 beyond that, float64 or
// string. Dates are strings, and so are numbers to the base 60.
func implied(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	}
	if strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return s
	}
	if s[0] == '.' {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
		return s
	}
	digits := strings.ReplaceAll(s, "_", "")
	if n, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && yamlFloat.MatchString(digits) {
		return f
	}
	return s
}
