package object

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/validation/path"
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
	if strings.HasSuffix(group, "karmada.io") || group == "waybill.dev" {
		o.node = node
	}
	if d.named(o) {
		d.out.Objects = append(d.out.Objects, o)
	}
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
func (d *decoder) named(o *Object) bool {
	meta, ok := o.content["metadata"].(map[string]any)
	if !ok {
		if isOwn(o.ref) {
			return true
		}
		d.out.NotManifests++
		return false
	}
	name, isString := meta["name"].(string)
	namespace, nsIsString := meta["namespace"].(string)
	switch {
	case meta["name"] != nil && !isString:
		d.unnamed(o, fmt.Sprintf("metadata.name is %v, which YAML reads as no string", meta["name"]), "put it in quotes")
	case meta["namespace"] != nil && !nsIsString:
		d.unnamed(o, fmt.Sprintf("metadata.namespace is %v, which YAML reads as no string", meta["namespace"]), "put it in quotes")
	case name == "" && meta["generateName"] != nil:
		d.unnamed(o, o.ref.Kind+" has generateName: its name would differ at every apply", "give it a metadata.name")
	case name == "" && !isOwn(o.ref):
		d.unnamed(o, o.ref.Kind+" has no metadata.name", "give it one")
	default:
		o.ref.Name, o.ref.Namespace = name, namespace
		what, why := misnamed(o)
		if what == "" {
			return true
		}
		d.unnamed(o, what+" is not valid: "+why, "no API server would take it")
	}
	return false
}

// misnamed says what of an object's identity no API server would take, and why.
func misnamed(o *Object) (what, why string) {
	if whys := path.IsValidPathSegmentName(o.ref.Name); len(whys) > 0 {
		return fmt.Sprintf("metadata.name %q", o.ref.Name), whys[0]
	}
	if strings.ContainsFunc(o.ref.Name, unicode.IsControl) {
		return fmt.Sprintf("metadata.name %q", o.ref.Name), "it has control characters"
	}
	if whys := validation.IsDNS1123Label(o.ref.Namespace); o.ref.Namespace != "" && len(whys) > 0 {
		return fmt.Sprintf("metadata.namespace %q", o.ref.Namespace), whys[0]
	}
	if whys := validation.IsDNS1035Label(strings.ToLower(o.ref.Kind)); len(whys) > 0 {
		return fmt.Sprintf("kind %q", o.ref.Kind), "a kind has letters and digits only"
	}
	group, version := GroupVersion(o.apiVersion)
	if whys := validation.IsDNS1123Subdomain(group); group != "" && len(whys) > 0 || len(validation.IsDNS1035Label(version)) > 0 {
		return fmt.Sprintf("apiVersion %q", o.apiVersion), "it is a version, or a group and a version with a slash between them"
	}
	return "", ""
}

func (d *decoder) unnamed(o *Object, message, hint string) {
	d.fail(diag.Diagnostic{Code: "no-name", Severity: diag.Error, Pos: o.pos, Message: message, Hint: hint})
}

// isOwn reports kinds that configure tools and need no name.
func isOwn(r Ref) bool {
	return r.Group == "waybill.dev" || r.Group == "kustomize.config.k8s.io"
}
