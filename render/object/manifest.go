package object

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/render/diag"
)

// manifest takes one manifest in, or each item of a List.
func (d *decoder) manifest(content map[string]any, node *yaml.Node) {
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	if apiVersion == "" || kind == "" {
		d.out.NotManifests++
		return
	}
	if items, ok := listItems(kind, content); ok {
		d.items(items, strings.TrimSuffix(kind, "List"), apiVersion, node)
		return
	}
	group, _ := GroupVersion(apiVersion)
	o := &Object{
		ref: Ref{Group: group, Kind: kind}, apiVersion: apiVersion, content: content,
		pos: diag.Pos{File: d.file, Line: node.Line},
	}
	if hasLines(group) || hasScripts(o.ref, content) {
		o.node = node
	}
	if d.named(o, node) {
		d.out.Objects = append(d.out.Objects, o)
	}
}

// hasLines reports the API groups in whose objects mistakes are found by their lines.
func hasLines(group string) bool {
	switch group {
	case "waybill.dev", "placement.kubernetes-fleet.io", "multicluster.x-k8s.io", "gateway.networking.k8s.io":
		return true
	}
	return strings.HasSuffix(group, "karmada.io") || strings.HasSuffix(group, "fluxcd.io")
}

// hasScripts reports a ConfigMap with customizations for Argo CD, in whose lines mistakes are found.
func hasScripts(r Ref, content map[string]any) bool {
	if r.Group != "" || r.Kind != "ConfigMap" {
		return false
	}
	data, _ := content["data"].(map[string]any)
	for key := range data {
		if strings.HasPrefix(key, "resource.customizations") {
			return true
		}
	}
	return false
}

// listItems returns the items of a List or a typed list such as ConfigMapList.
func listItems(kind string, content map[string]any) ([]any, bool) {
	if !strings.HasSuffix(kind, "List") {
		return nil, false
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["name"] != nil {
		return nil, false
	}
	items, ok := content["items"].([]any)
	return items, ok || kind == "List"
}

// items takes the items of a list in. In a typed list they may leave out the
// apiVersion and kind that its own imply.
func (d *decoder) items(items []any, kind, apiVersion string, node *yaml.Node) {
	var pos diag.Pos
	list := child(node, "items", &pos)
	for i, item := range items {
		itemNode := child(list, i, &pos)
		if itemNode == nil {
			itemNode = node
		}
		for itemNode.Kind == yaml.AliasNode {
			itemNode = itemNode.Alias
		}
		m, ok := item.(map[string]any)
		if !ok {
			d.malformed(itemNode.Line, fmt.Sprintf("item %d of the list is no manifest", i))
			continue
		}
		if kind != "" && m["kind"] == nil && m["apiVersion"] == nil {
			m["kind"], m["apiVersion"] = kind, apiVersion
		}
		d.manifest(m, itemNode)
	}
}

// named fills in the rest of o's ref. It reports false for what cannot be named.
func (d *decoder) named(o *Object, node *yaml.Node) bool {
	meta, ok := o.content["metadata"].(map[string]any)
	switch {
	case ok:
	case isOwn(o.ref):
		return true
	case has(node, "metadata") || strings.HasSuffix(o.ref.Group, "karmada.io"):
		return d.unnamed(o, node, "its metadata is no mapping", "give it a metadata.name; what belongs to metadata is indented below it", "metadata")
	default:
		d.out.NotManifests++
		return false
	}
	name, isString := meta["name"].(string)
	namespace, nsIsString := meta["namespace"].(string)
	switch {
	case meta["name"] != nil && !isString:
		return d.unnamed(o, node, fmt.Sprintf("metadata.name is %s, which YAML reads as no string", shown(meta["name"])), "put it in quotes", "metadata", "name")
	case meta["namespace"] != nil && !nsIsString:
		return d.unnamed(o, node, fmt.Sprintf("metadata.namespace is %s, which YAML reads as no string", shown(meta["namespace"])), "put it in quotes", "metadata", "namespace")
	case name == "" && meta["generateName"] != nil:
		return d.unnamed(o, node, "it has generateName: its name would differ at every apply", "give it a metadata.name", "metadata", "generateName")
	case name == "" && !isOwn(o.ref):
		return d.unnamed(o, node, "it has no metadata.name", "give it one", "metadata")
	}
	o.ref.Name, o.ref.Namespace = name, namespace
	if wrong, field := misnamed(o); wrong != "" {
		return d.unnamed(o, node, wrong, "no API server would take it", field...)
	}
	return true
}

// shown prints a number or a boolean; what is in a mapping or a list may be a secret.
func shown(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// misnamed says what of an object's identity no API server would take, and which field
// that is.
func misnamed(o *Object) (wrong string, field []string) {
	if whys := content.IsPathSegmentName(o.ref.Name); len(whys) > 0 {
		return fmt.Sprintf("metadata.name %q is not valid: %s", o.ref.Name, whys[0]), []string{"metadata", "name"}
	}
	if strings.ContainsFunc(o.ref.Name, unicode.IsControl) {
		return fmt.Sprintf("metadata.name %q is not valid: it has control characters", o.ref.Name), []string{"metadata", "name"}
	}
	if whys := validation.IsDNS1123Label(o.ref.Namespace); o.ref.Namespace != "" && len(whys) > 0 {
		return fmt.Sprintf("metadata.namespace %q is not valid: %s", o.ref.Namespace, whys[0]), []string{"metadata", "namespace"}
	}
	if whys := validation.IsDNS1035Label(strings.ToLower(o.ref.Kind)); len(whys) > 0 {
		return fmt.Sprintf("kind %q is not valid: a kind has letters and digits only", o.ref.Kind), []string{"kind"}
	}
	group, version := GroupVersion(o.apiVersion)
	if whys := validation.IsDNS1123Subdomain(group); group != "" && len(whys) > 0 || len(validation.IsDNS1035Label(version)) > 0 {
		return fmt.Sprintf("apiVersion %q is not valid: it is a version, or a group and a version with a slash between them", o.apiVersion), []string{"apiVersion"}
	}
	return "", nil
}

// unnamed reports what cannot be named, where the field stands that is to blame or as
// much of the way to it as there is.
func (d *decoder) unnamed(o *Object, node *yaml.Node, message, hint string, field ...string) bool {
	pos := o.pos
	for _, step := range field {
		node = child(node, step, &pos)
	}
	d.fail(diag.Diagnostic{Code: diag.NoName, Severity: diag.Error, Pos: pos, Message: o.ref.Kind + ": " + message, Hint: hint})
	return false
}

// has reports whether a mapping has a key.
func has(n *yaml.Node, key string) bool {
	var pos diag.Pos
	return child(n, key, &pos) != nil
}

// isOwn reports kinds that configure tools and need no name.
func isOwn(r Ref) bool {
	return r.Group == "waybill.dev" || r.Group == "kustomize.config.k8s.io"
}
