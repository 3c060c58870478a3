package virtual

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// Error says why a manifest cannot be mapped.
type Error struct{ Message, Hint string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Rewrite returns a manifest as the API server is to hold it: in the namespaces of the virtual
// cluster, on its nodes. Has reports the namespaces that the virtual cluster has: a reference to
// one of them is rewritten, and any other one leads out of it and stays. The manifest is shared
// and not changed. The error is nil or says why there is no such manifest.
func (m *Mapping) Rewrite(content map[string]any, has func(namespace string) bool) (map[string]any, *Error) {
	if m == nil {
		return content, nil
	}
	own := textAt(content, "metadata", "namespace")
	group, _ := object.GroupVersion(textAt(content, "apiVersion"))
	r := rewriter{
		mapping: m, kind: object.GroupKind{Group: group, Kind: textAt(content, "kind")},
		has: func(namespace string) bool { return namespace == own || has(namespace) },
	}
	for _, ref := range references[r.kind] {
		next, _ := edit(content, ref.path, func(v any) (any, bool) { return ref.as(&r, v) })
		content = next.(map[string]any) // edit returns what it was given
	}
	content = r.named(r.pods(content), own)
	return content, r.err
}

// rewriter rewrites one manifest.
type rewriter struct {
	mapping *Mapping
	kind    object.GroupKind
	has     func(namespace string) bool
	err     *Error
}

// named gives the manifest its name on the API server.
func (r *rewriter) named(content map[string]any, namespace string) map[string]any {
	field := "namespace"
	if r.kind == (object.GroupKind{Kind: "Namespace"}) {
		field, namespace = "name", textAt(content, "metadata", "name")
	}
	if namespace == "" {
		return content
	}
	name := r.mapping.Namespace(namespace)
	switch {
	case strings.HasPrefix(namespace, "kube-"):
		r.err = &Error{
			fmt.Sprintf("the namespace %s belongs to the whole API server of %s, and the virtual cluster %s has none of that name", namespace, r.mapping.Host, r.mapping.Cluster),
			"send it to " + r.mapping.Host + ", or put it into another namespace",
		}
	case len(name) > maxNamespace:
		r.err = &Error{
			fmt.Sprintf("its namespace %s would be %s in the virtual cluster %s, which has %d bytes; a namespace has %d at most", namespace, name, r.mapping.Cluster, len(name), maxNamespace),
			"shorten the namespace, or the suffix of the Cluster",
		}
	}
	next, _ := edit(content, path{"metadata", field}, func(any) (any, bool) { return name, true })
	return next.(map[string]any) // edit returns what it was given
}
