package autoscale

import (
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Manifests reads what is published of what scales and is scaled, each manifest once: clusters share most of them. The zero value has
// read nothing. It serves one plan, which asks for one after the other.
type Manifests struct {
	specs map[files.ID]map[string]any // nil for what cannot be read
}

// spec is that of a manifest, empty if it has none; nil if that cannot be read.
func (m *Manifests) spec(b *files.Blob) map[string]any {
	if is, ok := m.specs[b.ID()]; ok {
		return is
	}
	if m.specs == nil {
		m.specs = map[files.ID]map[string]any{}
	}
	is := specOf(b)
	m.specs[b.ID()] = is
	return is
}

func specOf(b *files.Blob) map[string]any {
	content, err := object.ReadCanonical(b)
	if err != nil {
		return nil
	}
	if spec, isThere := content["spec"].(map[string]any); isThere {
		return spec
	}
	return map[string]any{}
}

// sayReplicas reports a manifest that says replicas; not known if it cannot be read.
func (m *Manifests) sayReplicas(b *files.Blob) (says, known bool) {
	spec := m.spec(b)
	return spec["replicas"] != nil, spec != nil
}

// Bounds are those of a manifest of what a FederatedHPA becomes; false where they cannot be told.
func (m *Manifests) Bounds(b *files.Blob) (scale.Bounds, bool) {
	if b == nil {
		return scale.Bounds{}, false
	}
	spec := m.spec(b)
	least, isLeast := spec["minReplicas"].(int64)
	most, isMost := spec["maxReplicas"].(int64)
	return scale.Bounds{Min: int32(least), Max: int32(most)}, isLeast && isMost //nolint:gosec // we wrote them
}
