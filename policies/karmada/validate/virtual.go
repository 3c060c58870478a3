package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkVirtual holds for the annotations of a virtual cluster, as far as one Cluster tells.
func checkVirtual(fs *findings, c *karmada.Cluster) {
	at := field{"metadata", "annotations"}
	of, is := c.Annotations[karmada.VirtualOfAnnotation]
	if !is {
		for _, stray := range []string{karmada.SuffixAnnotation, karmada.SelectorAnnotation} {
			if _, ok := c.Annotations[stray]; ok {
				fs.fail(at.at(stray), diag.ConflictingFields, "says nothing of a cluster that is not virtual", "add "+karmada.VirtualOfAnnotation+" with the name of the Cluster whose API server it is, or remove it")
			}
		}
		return
	}
	fs.clusterName(at.at(karmada.VirtualOfAnnotation), of)
	if of == c.Name {
		fs.fail(at.at(karmada.VirtualOfAnnotation), diag.InvalidValue, fmt.Sprintf("%q is this Cluster itself", of), "name the Cluster whose API server it is")
	}
	checkNamespaceSuffix(fs, c, at)
	if text, ok := c.Annotations[karmada.SelectorAnnotation]; ok {
		checkNodeLabels(fs, at.at(karmada.SelectorAnnotation), text)
	}
}

// checkNamespaceSuffix reports a suffix with which no namespace has a name, or which the name of a
// namespace would run into.
func checkNamespaceSuffix(fs *findings, c *karmada.Cluster, at field) {
	suffix := c.NamespaceSuffix()
	reasons := validation.IsDNS1123Label("x" + suffix)
	if len(reasons) == 0 && suffix != "" && suffix[0] == '-' {
		return
	}
	where := at.at(karmada.SuffixAnnotation)
	if _, given := c.Annotations[karmada.SuffixAnnotation]; !given {
		where = at.at(karmada.VirtualOfAnnotation)
	}
	fs.fail(where, diag.InvalidValue, fmt.Sprintf("%q cannot be appended to the names of namespaces", suffix),
		"write "+karmada.SuffixAnnotation+" as a dash and small letters, digits and dashes, as in -beijing")
}

// checkNodeLabels reports a list of labels that is none.
func checkNodeLabels(fs *findings, at field, text string) {
	set, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil || len(set) == 0 {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q is no list of labels", text), "write the labels of its nodes, as in location=beijing,arch=arm64")
	}
}
