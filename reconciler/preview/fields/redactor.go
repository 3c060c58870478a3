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

// shown returns what may be shown of a value at a place; nil if none of it may. Hid reports that
// something of it may not.
func (c redactor) shown(at place, v any) (shown any, hid bool) {
	if v == nil {
		return nil, false
	}
	if at.secret || len(at.steps) > 0 && at.steps[len(at.steps)-1] == object.LastApplied {
		return nil, true
	}
	return c.value(v)
}

// value returns a value without what may not be shown.
func (c redactor) value(v any) (shown any, hid bool) {
	switch v := v.(type) {
	case veiled:
		return hiddenValue, true
	case string:
		if telltale.MatchString(v) {
			return hiddenValue, true
		}
		text := c.redacted(v)
		return text, text != v
	case map[string]any:
		return c.object(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			kept, hides := c.value(item)
			out[i], hid = kept, hid || hides
		}
		return out, hid
	}
	return v, false
}

func (c redactor) object(m map[string]any) (shown any, hid bool) {
	if isSecret(m) {
		return hiddenValue, true
	}
	out := make(map[string]any, len(m))
	for key, v := range m {
		name := c.redacted(key)
		if key == object.LastApplied {
			out[key], hid = hiddenValue, true
			continue
		}
		kept, hides := c.value(v)
		out[name], hid = kept, hid || hides || name != key
	}
	return out, hid
}
