package fields

import (
	"regexp"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// redactor hides values of Secrets.
type redactor struct{ known *strings.Replacer }

func newRedactor(secrets []string) redactor {
	if len(secrets) == 0 {
		return redactor{}
	}
	return redactor{known: object.Redactor(secrets)}
}

// hiddenValue stands for a value that is not shown.
const hiddenValue = "(not shown)"

// telltale are texts that hold a Secret, or a key that no text should hold.
var telltale = regexp.MustCompile(`(?m)kind["']?:\s*["']?Secret\b|-----BEGIN [A-Z ]*PRIVATE KEY`)

// redacted is a text without what is known to be secret.
func (c redactor) redacted(text string) string {
	if c.known == nil {
		return text
	}
	return c.known.Replace(text)
}

// shown returns what may be shown of a value at a place; nil if none of it may.
func (c redactor) shown(at place, v any) any {
	if at.secret || len(at.steps) > 0 && at.steps[len(at.steps)-1] == object.LastApplied {
		return nil
	}
	return c.value(v)
}

// value returns a value without what may not be shown.
func (c redactor) value(v any) any {
	switch v := v.(type) {
	case veiled:
		return hiddenValue
	case string:
		if telltale.MatchString(v) {
			return hiddenValue
		}
		return c.redacted(v)
	case map[string]any:
		return c.object(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = c.value(item)
		}
		return out
	}
	return v
}

func (c redactor) object(m map[string]any) any {
	if isSecret(m) {
		return hiddenValue
	}
	out := make(map[string]any, len(m))
	for key, v := range m {
		if key == object.LastApplied {
			out[key] = hiddenValue
			continue
		}
		out[c.redacted(key)] = c.value(v)
	}
	return out
}
