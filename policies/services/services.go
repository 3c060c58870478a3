// Package services says what services are to clusters beside the one that they are in: which clusters a MultiClusterService
// names, what Service is derived from a ServiceImport, and what comes of several clusters exporting one Service (Karmada
// sections E.2 and E.3 of docs/karmada.md, and the Multi-Cluster Services API). It knows neither a plan nor endpoints.
package services

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/karmada/validate"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// The kinds of the Multi-Cluster Services API. Its versions have the same fields.
const (
	Group      = mcs.GroupName
	ExportKind = mcs.ServiceExportKindName
	ImportKind = mcs.ServiceImportKindName
)

// Of is the Service that an object of the Multi-Cluster Services API is about.
func Of(r object.Ref) object.Ref {
	return object.Ref{Kind: "Service", Namespace: r.Namespace, Name: r.Name}
}

// ExportOf is the ServiceExport of a Service, and ImportOf its ServiceImport.
func ExportOf(service object.Ref) object.Ref {
	return object.Ref{Group: Group, Kind: ExportKind, Namespace: service.Namespace, Name: service.Name}
}

// ImportOf is the ServiceImport of a Service.
func ImportOf(service object.Ref) object.Ref {
	return object.Ref{Group: Group, Kind: ImportKind, Namespace: service.Namespace, Name: service.Name}
}

// Exported is the spec of a ServiceExport, and what is wrong with it.
func Exported(content map[string]any) (*mcs.ServiceExportSpec, []karmada.FieldError) {
	var e mcs.ServiceExport
	wrong := read(content, &e)
	return &e.Spec, wrong
}

// Imported is the spec of a ServiceImport, and what is wrong with it.
func Imported(content map[string]any) (*mcs.ServiceImportSpec, []karmada.FieldError) {
	var i mcs.ServiceImport
	wrong := read(content, &i)
	return &i.Spec, wrong
}

// read fills a pointer to a type of the API. A field that it does not know may be one of a later version.
func read(content map[string]any, into any) (wrong []karmada.FieldError) {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, into, true)
	if err != nil { // which does not say where
		data, err := json.Marshal(content)
		if err != nil {
			panic("services: a decoded manifest is no JSON: " + err.Error())
		}
		found, ok := karmada.Read(into, data)
		if !ok {
			return found
		}
		for i := range found {
			found[i].Warning = found[i].Warning || found[i].Code == diag.UnknownField
		}
		wrong = found
	}
	return append(wrong, validate.Object(into)...)
}
