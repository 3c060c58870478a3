package interpret

import "github.com/waybill-dev/waybill/policies/karmada"

// Components returns the pod templates of an object that has several, such as a
// RayCluster, in the order of the object (section E.9). It reports false for a kind
// that has no components. One that has them has no replicas: it is delivered whole.
func (in *Interpreter) Components(obj map[string]any) (components []karmada.Component, ok bool, err error) {
	h, ok := hook(in, obj, func(l layer) map[kind]componentsHook { return l.components })
	if !ok {
		return nil, false, nil
	}
	if components, err = h(obj); err != nil {
		return nil, true, in.located("listing the components of", obj, err)
	}
	return components, true, nil
}
