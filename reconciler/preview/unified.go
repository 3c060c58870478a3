package preview

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/waybill-dev/waybill/render/object"
)

// unified returns the difference of two manifests. Of a Secret it tells only that there is
// one; values of Secrets that a manifest was rendered with are not shown.
func (c *comparer) unified(r object.Ref, old, now string) string {
	const hidden = "(values of a Secret are not shown)\n"
	if r.Kind == "Secret" && r.Group == "" {
		return hidden
	}
	if secrets := c.secrets(r); len(secrets) > 0 {
		hide := object.Redactor(secrets)
		if old, now = hide.Replace(old), hide.Replace(now); old == now {
			return hidden
		}
	}
	text := string(diff.Diff("before", []byte(old), "after", []byte(now)))
	if i := strings.Index(text, "\n--- before"); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// secrets returns the values of Secrets that an object was rendered with in either plan.
func (c *comparer) secrets(r object.Ref) []string {
	if c.private == nil {
		c.private = c.base.Private()
		for ref, secrets := range c.head.Private() {
			c.private[ref] = append(c.private[ref], secrets...)
		}
	}
	return c.private[r]
}
