package flux

import (
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
)

// shortest is how long a value is at least that no diagnostic may show: shorter ones are
// words, and parts of words.
const shortest = 4

// hide notes a value of a Secret, and the values in it if it is YAML.
func (r *reader) hide(text string) {
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		default:
			if s := fmt.Sprint(v); len(s) >= shortest && s != "true" && s != "false" && v != nil {
				r.secrets[s] = true
			}
		}
	}
	walk(text)
	walk(valuesIn(text))
}

// valuesIn returns what a text holds if it is YAML; nil if it is not.
func valuesIn(text string) any {
	var content any
	if len(object.Scan("", []byte(text))) > 0 || sigsyaml.Unmarshal([]byte(text), &content) != nil {
		return nil
	}
	return content
}

// masked returns a text like that of a Secret with other values in it.
func masked(text string) string {
	content := valuesIn(text)
	switch content.(type) {
	case map[string]any, []any:
		if data, err := sigsyaml.Marshal(maskedValue(content)); err == nil {
			return string(data)
		}
	}
	return turned(text)
}

func maskedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = maskedValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = maskedValue(item)
		}
		return out
	case string:
		return turned(v)
	case float64:
		if n, err := strconv.ParseFloat(turned(strconv.FormatFloat(v, 'f', -1, 64)), 64); err == nil {
			return n
		}
	}
	return v
}

// turned returns a text of the same shape that shares no letter and no digit with s at any
// place; s itself if it is too short to be secret, or a word that steers.
func turned(s string) string {
	if len(s) < shortest || s == "true" || s == "false" {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r < 'z', r >= 'A' && r < 'Z', r >= '0' && r < '9':
			return r + 1
		case r == 'z', r == 'Z':
			return r - 25
		case r == '9':
			return '1'
		}
		return r
	}, s)
}

// withoutSecrets returns a release in which other values stand for the secrets that it was
// rendered with.
func withoutSecrets(o *object.Object) *object.Object {
	if len(o.Secrets()) == 0 {
		return o
	}
	var pairs []string
	for _, s := range object.LongestFirst(o.Secrets()) {
		pairs = append(pairs, s, turned(s))
	}
	hide := strings.NewReplacer(pairs...)
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(v))
			for key, item := range v {
				out[key] = walk(item)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = walk(item)
			}
			return out
		case string:
			return hide.Replace(v)
		}
		return v
	}
	content := o.Content()
	out := make(map[string]any, len(content))
	for key, v := range content {
		if out[key] = v; key == "spec" {
			out[key] = walk(v)
		}
	}
	return o.With(out)
}
