package virtual

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// Text is the name of a Service in free text, which nothing rewrites.
type Text struct {
	Path []any  // of the field
	Name string // as it is written: web.shop.svc
	Want string // as it is called in the virtual cluster: web.shop-beijing.svc
}

// serviceName matches the name of a Service, or of a pod behind it, in a DNS of a cluster. The
// group is the namespace.
var serviceName = regexp.MustCompile(`(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.)+([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\.svc\b`)

// Texts finds names of Services of the virtual cluster in the free text of a manifest: in env,
// args, ConfigMaps and wherever else there is text. Values of Secrets are not looked at.
func (m *Mapping) Texts(content map[string]any, has func(namespace string) bool) (all []Text) {
	if m == nil || strings.HasSuffix(textAt(content, "kind"), "Secret") || !mentions(content) {
		return nil
	}
	own := textAt(content, "metadata", "namespace")
	seen := map[string]bool{}
	each(content, nil, func(at []any, text string) {
		for _, found := range serviceName.FindAllStringSubmatchIndex(text, -1) {
			name, namespace := text[found[0]:found[1]], text[found[2]:found[3]]
			id := object.FieldPath(at) + "\x00" + name
			if seen[id] || namespace != own && !has(namespace) {
				continue
			}
			seen[id] = true
			all = append(all, Text{at, name, text[found[0]:found[2]] + m.Namespace(namespace) + text[found[3]:found[1]]})
		}
	})
	return all
}

// mentions reports whether a value holds text in which a Service may be named.
func mentions(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, ".svc")
	case []any:
		return slices.ContainsFunc(v, mentions)
	case map[string]any:
		for _, field := range v {
			if mentions(field) {
				return true
			}
		}
	}
	return false
}

// each calls yield for every text of a value, in a fixed order. The path is the callee's.
func each(v any, at []any, yield func(at []any, text string)) {
	switch v := v.(type) {
	case string:
		yield(slices.Clone(at), v)
	case []any:
		for i, item := range v {
			each(item, append(at, i), yield)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			each(v[key], append(at, key), yield)
		}
	}
}
