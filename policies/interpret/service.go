package interpret

import (
	"cmp"

	"github.com/waybill-dev/waybill/render/object"
)

// DerivedAnnotation on a ServiceImport names the Service that is derived from it.
const DerivedAnnotation = "waybill.dev/derived-service"

// IsServiceImport reports the objects from which a Service is derived (section E.2): Karmada has the first version alone.
func IsServiceImport(o *object.Object) bool {
	k := kind{o.APIVersion(), o.Ref().Kind}
	return k == serviceImport || k == serviceImportBeta
}

// DerivedName is what the Service is called that is derived from a ServiceImport.
func DerivedName(content map[string]any) string {
	return cmp.Or(stringAt(content, "metadata", "annotations", DerivedAnnotation), "derived-"+stringAt(content, "metadata", "name"))
}
