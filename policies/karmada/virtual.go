package karmada

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/render/diag"
)

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

// virtual holds for the annotations of a virtual cluster, as far as one Cluster tells.
func (fs *findings) virtual(c *Cluster) {
	at := field{"metadata", "annotations"}
	of, is := c.Annotations[VirtualOfAnnotation]
	if !is {
		for _, stray := range []string{SuffixAnnotation, SelectorAnnotation} {
			if _, ok := c.Annotations[stray]; ok {
				fs.fail(at.at(stray), diag.ConflictingFields, "says nothing of a cluster that is not virtual", "add "+VirtualOfAnnotation+" with the name of the Cluster whose API server it is, or remove it")
			}
		}
		return
	}
	fs.clusterName(at.at(VirtualOfAnnotation), of)
	if of == c.Name {
		fs.fail(at.at(VirtualOfAnnotation), diag.InvalidValue, fmt.Sprintf("%q is this Cluster itself", of), "name the Cluster whose API server it is")
	}
	fs.namespaceSuffix(c, at)
	if text, ok := c.Annotations[SelectorAnnotation]; ok {
		fs.nodeLabels(at.at(SelectorAnnotation), text)
	}
}

// namespaceSuffix reports a suffix with which no namespace has a name, or which the name of a
// namespace would run into.
func (fs *findings) namespaceSuffix(c *Cluster, at field) {
	suffix := c.NamespaceSuffix()
	reasons := validation.IsDNS1123Label("x" + suffix)
	if len(reasons) == 0 && suffix != "" && suffix[0] == '-' {
		return
	}
	where := at.at(SuffixAnnotation)
	if _, given := c.Annotations[SuffixAnnotation]; !given {
		where = at.at(VirtualOfAnnotation)
	}
	fs.fail(where, diag.InvalidValue, fmt.Sprintf("%q cannot be appended to the names of namespaces", suffix),
		"write "+SuffixAnnotation+" as a dash and small letters, digits and dashes, as in -beijing")
}

// nodeLabels reports a list of labels that is none.
func (fs *findings) nodeLabels(at field, text string) {
	set, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil || len(set) == 0 {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is no list of labels", text), "write the labels of its nodes, as in location=beijing,arch=arm64")
	}
}
