// Package ingress says to which Services an object sends traffic, and writes it with the names that these have in a cluster: what a
// MultiClusterIngress becomes (section E.4 of docs/karmada.md), and routes of the Gateway API whose backends are ServiceImports. It
// knows neither clusters nor a plan.
package ingress

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/render/object"
)

// Of is what a MultiClusterIngress is called that became an Ingress.
func Of(r object.Ref) object.Ref {
	return object.Ref{Group: ingressGroup, Kind: ingressKind, Namespace: r.Namespace, Name: r.Name}
}

const (
	ingressGroup = "networking.k8s.io"
	ingressKind  = "Ingress"
	gatewayGroup = "gateway.networking.k8s.io"
)

// Make makes the Ingress that a MultiClusterIngress becomes: its labels, its annotations but for Karmada's, and its spec.
func Make(o *object.Object) *object.Object {
	meta := map[string]any{"name": o.Ref().Name, "namespace": o.Ref().Namespace}
	written, _ := o.Content()["metadata"].(map[string]any)
	if labels, ok := written["labels"].(map[string]any); ok && len(labels) > 0 {
		meta["labels"] = labels
	}
	if all, ok := written["annotations"].(map[string]any); ok {
		annotations := maps.Clone(all)
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return isKarmadas(key) })
		if len(annotations) > 0 {
			meta["annotations"] = annotations
		}
	}
	return object.Made(o, map[string]any{
		"apiVersion": ingressGroup + "/v1", "kind": ingressKind, "metadata": meta, "spec": o.Content()["spec"],
	})
}

// isKarmadas reports an annotation of Karmada's.
func isKarmadas(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "karmada.io" || strings.HasSuffix(domain, ".karmada.io")
}

// routes are the kinds of the Gateway API that send traffic to backends.
var routes = []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"}

// IsRoute reports a route of the Gateway API.
func IsRoute(r object.Ref) bool { return r.Group == gatewayGroup && slices.Contains(routes, r.Kind) }

// each stands for the items of a list, in a path of fields.
const each = "*"

// Where backends stand: of an Ingress, and of a route.
var (
	inIngress = [][]string{{"spec", "defaultBackend", "service"}, {"spec", "rules", each, "http", "paths", each, "backend", "service"}}
	inRoute   = [][]string{
		{"spec", "rules", each, "backendRefs", each},
		{"spec", "rules", each, "filters", each, "requestMirror", "backendRef"},
		{"spec", "rules", each, "backendRefs", each, "filters", each, "requestMirror", "backendRef"},
	}
)

// Port is a port of a Service, by its name if it has one, and otherwise by its number; the zero value is none.
type Port struct {
	Name   string
	Number int32
}

// Backend is a Service that an object sends traffic to, as it is written.
type Backend struct {
	Service object.Ref
	Port    Port
	Path    []any // of the field that names the Service
}

// Backends are the Services that an Ingress, or a route, sends traffic to; of a route those that are written as ServiceImports.
func Backends(content map[string]any) (all []Backend) {
	walk(content, func(b Backend, written map[string]any) map[string]any {
		all = append(all, b)
		return written
	})
	return all
}

// Named is an Ingress, or a route, that sends traffic to Services by their names in a cluster. What has none is as it was.
func Named(content map[string]any, names Names) map[string]any {
	is := names.All()
	return walk(content, func(b Backend, written map[string]any) map[string]any {
		name, ok := is[b.Service]
		if !ok {
			return written
		}
		written = maps.Clone(written)
		written["name"] = name
		if written["kind"] == services.ImportKind { // of a route
			written["kind"] = "Service"
			delete(written, "group")
		}
		return written
	})
}

// walk returns an object with other backends. What is no backend is shared with it.
func walk(content map[string]any, visit func(b Backend, written map[string]any) map[string]any) map[string]any {
	meta, _ := content["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	read, paths := ofIngress, inIngress
	if content["kind"] != ingressKind {
		read, paths = ofRoute, inRoute
	}
	for _, path := range paths {
		content, _ = changed(content, path, nil, func(written map[string]any, at []any) map[string]any {
			b, ok := read(written, namespace)
			if !ok {
				return written
			}
			b.Path = append(slices.Clip(at), "name")
			return visit(b, written)
		}).(map[string]any)
	}
	return content
}

// changed is a value in which what stands at the end of a path is another. At is where the value itself stands.
func changed(v any, path []string, at []any, change func(written map[string]any, at []any) map[string]any) any {
	switch v := v.(type) {
	case []any:
		if len(path) == 0 || path[0] != each {
			return v
		}
		list := make([]any, len(v))
		for i := range v {
			list[i] = changed(v[i], path[1:], append(slices.Clip(at), i), change)
		}
		return list
	case map[string]any:
		if len(path) == 0 {
			return change(v, at)
		}
		below, ok := v[path[0]]
		if !ok {
			return v
		}
		fields := maps.Clone(v)
		fields[path[0]] = changed(below, path[1:], append(slices.Clip(at), path[0]), change)
		return fields
	}
	return v
}

// ofIngress reads a backend of an Ingress.
func ofIngress(written map[string]any, namespace string) (Backend, bool) {
	name, _ := written["name"].(string)
	port, _ := written["port"].(map[string]any)
	b := Backend{Service: serviceOf(namespace, name)}
	b.Port.Name, _ = port["name"].(string)
	b.Port.Number = number(port["number"])
	return b, name != ""
}

// ofRoute reads a backend of a route, if it is a ServiceImport.
func ofRoute(written map[string]any, namespace string) (Backend, bool) {
	name, _ := written["name"].(string)
	if elsewhere, ok := written["namespace"].(string); ok {
		namespace = elsewhere
	}
	isImport := written["group"] == services.Group && written["kind"] == services.ImportKind
	return Backend{Service: serviceOf(namespace, name), Port: Port{Number: number(written["port"])}}, isImport && name != ""
}

func serviceOf(namespace, name string) object.Ref {
	return object.Ref{Kind: "Service", Namespace: namespace, Name: name}
}

// number is the number of a port; 0 for none.
func number(v any) int32 {
	n, _ := v.(int64)
	return int32(n) //nolint:gosec // no port is so high
}
