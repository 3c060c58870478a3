package karmada

// The annotations of a Cluster that is a part of another Cluster's API server. They are
// Waybill's own: Karmada has no virtual clusters.
const (
	// VirtualOfAnnotation names the Cluster whose API server it is.
	VirtualOfAnnotation = "waybill.dev/virtual-of"
	// SuffixAnnotation is appended to the name of every namespace; without it, a dash and the
	// name of the Cluster are.
	SuffixAnnotation = "waybill.dev/namespace-suffix"
	// SelectorAnnotation lists labels of nodes, as in "location=beijing,arch=arm64".
	SelectorAnnotation = "waybill.dev/node-selector"
)

// NamespaceSuffix is what a virtual cluster appends to the names of namespaces.
func (c *Cluster) NamespaceSuffix() string {
	if suffix, ok := c.Annotations[SuffixAnnotation]; ok {
		return suffix
	}
	return "-" + c.Name
}
