package interpret

import "github.com/waybill-dev/waybill/render/object"

// IsServiceImport reports the objects from which Karmada derives a Service.
func IsServiceImport(o *object.Object) bool {
	return o.Ref().Kind == "ServiceImport" && o.APIVersion() == "multicluster.x-k8s.io/v1alpha1"
}

// DerivedService returns the Service that Karmada's control plane derives from a
// ServiceImport (section E.2): without a selector, with the ports of the import. A policy
// that selects an import pulls its Service along; the EndpointSlices come from clusters,
// and are nobody's business here. It is nil of a headless import, which Karmada passes
// over, and of one without ports.
func DerivedService(o *object.Object) *object.Object {
	spec, _ := o.Content()["spec"].(map[string]any)
	list, _ := spec["ports"].([]any)
	if spec["type"] != "ClusterSetIP" || len(list) == 0 {
		return nil
	}
	ports := make([]any, 0, len(list))
	for _, p := range list {
		from, _ := p.(map[string]any)
		port := map[string]any{}
		for _, key := range []string{"name", "protocol", "port", "appProtocol"} {
			if v, ok := from[key]; ok {
				port[key] = v
			}
		}
		ports = append(ports, port)
	}
	made := object.Decode(o.Pos().File, object.Encode(map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "derived-" + o.Ref().Name, "namespace": o.Ref().Namespace},
		"spec":     map[string]any{"type": "ClusterIP", "ports": ports},
	}))
	if len(made.Objects) != 1 {
		return nil // the import's name is too odd for a Service
	}
	return made.Objects[0].At(o.Pos())
}

// WithServices adds to objects the Services that Karmada derives from the ServiceImports
// among them. One that is written out counts. Derive is DerivedService, or remembers what
// that returned.
func WithServices(objs []*object.Object, derive func(*object.Object) *object.Object) []*object.Object {
	have := map[object.Ref]bool{}
	var imports []*object.Object
	for _, o := range objs {
		if r := o.Ref(); r.Kind == "Service" && r.Group == "" {
			have[r] = true
		}
		if IsServiceImport(o) {
			imports = append(imports, o)
		}
	}
	for _, o := range imports {
		if s := derive(o); s != nil && !have[s.Ref()] {
			objs = append(objs, s)
		}
	}
	return objs
}
