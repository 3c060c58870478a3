package override

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// absent stands for no value, which null is not.
type absent struct{}

// The most bytes of a value that are shown, and how many of them may stand before
// the first difference. An image with its digest is shown whole.
const (
	shown   = 120
	context = 40
)

// show prints an old and a new value so that one can see how they differ, and says how many
// bytes it compared.
func show(from, to any) (before, after string, size int) {
	before, after = text(from), text(to)
	size = len(before) + len(after)
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	return quote(from, window(before, same-context)), quote(to, window(after, same-context)), size
}

// Withheld returns changes without the values that they put in place of others.
func Withheld(changes []Change) []Change {
	out := slices.Clone(changes)
	for i := range out {
		for _, v := range []*string{&out[i].Old, &out[i].New} {
			if *v != "" {
				*v = withheld(*v)
			}
		}
	}
	return out
}

// withheld prints that there is a value, and no more.
func withheld(v any) string {
	if v == (absent{}) {
		return ""
	}
	return "(withheld)"
}

// Shown returns a policy as it may be shown to people: of one that may change Secrets, the
// values of overriders are withheld, as they are in a Change.
func Shown(p *policies.Override) map[string]any {
	content := object.WithoutApplied(p.Object.Content())
	if !selectsSecrets(p.Spec.ResourceSelectors) {
		return content
	}
	shown, _ := withoutValues(content).(map[string]any)
	return shown
}

// selectsSecrets reports selectors that may select a Secret. None select everything.
func selectsSecrets(selectors []karmada.ResourceSelector) bool {
	return len(selectors) == 0 || slices.ContainsFunc(selectors, func(s karmada.ResourceSelector) bool {
		return s.Kind == "Secret" && !strings.Contains(s.APIVersion, "/")
	})
}

// withoutValues returns a copy in which the values of overriders are withheld.
func withoutValues(v any) any {
	return copied(v, func(key string, e any) any {
		if key != "overriders" {
			return withoutValues(e)
		}
		return withheldBelow(e)
	})
}

func withheldBelow(v any) any {
	return copied(v, func(key string, e any) any {
		if key == "value" {
			return withheld(e)
		}
		return withheldBelow(e)
	})
}

// copied copies a map, or a list of maps, with other values.
func copied(v any, value func(key string, e any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = value(key, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copied(e, value)
		}
		return out
	}
	return v
}

// text prints a string as it is and anything else as JSON.
func text(v any) string {
	switch v := v.(type) {
	case absent:
		return ""
	case string:
		return v
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// quote puts quotes around the text of a string that could be taken for something
// else, or that would not stay on its line.
func quote(v any, s string) string {
	if _, ok := v.(string); !ok {
		return s
	}
	if s == "" || json.Valid([]byte(s)) || strings.ContainsFunc(s, unicode.IsControl) {
		return strconv.Quote(s)
	}
	return s
}

// window cuts a long s to what begins at about the given byte.
func window(s string, from int) string {
	if len(s) <= shown {
		return s
	}
	from = max(0, min(from, len(s)-shown))
	end := from + shown
	cut := strings.ToValidUTF8(s[from:end], "")
	if from > 0 {
		cut = "…" + cut
	}
	if end < len(s) {
		cut += "…"
	}
	return cut
}

// typeName names the JSON type of a value in a sentence.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
