package object

// GroupKind names a kind.
type GroupKind struct{ Group, Kind string }

// Definition is what a CustomResourceDefinition defines.
type Definition struct {
	GroupKind

	Namespaced bool
}

// Defines returns the kind that the object defines; false if it is no
// CustomResourceDefinition.
func (o *Object) Defines() (Definition, bool) {
	if o.ref.Kind != definition || o.ref.Group != "apiextensions.k8s.io" {
		return Definition{}, false
	}
	spec, _ := o.content["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return Definition{GroupKind{group, kind}, spec["scope"] != "Cluster"}, true
}
