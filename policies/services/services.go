// Package services says what services are to clusters beside the one that they are in: which clusters a MultiClusterService
// names, what Service is derived from a ServiceImport, and what comes of several clusters exporting one Service (Karmada
// sections E.2 and E.3 of docs/karmada.md, and the Multi-Cluster Services API). It knows neither a plan nor endpoints.
package services

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

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

// Exported is the spec of a ServiceExport.
func Exported(content map[string]any) (*mcs.ServiceExportSpec, error) {
	var e mcs.ServiceExport
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &e); err != nil {
		return nil, fmt.Errorf("reading the ServiceExport: %w", err)
	}
	return &e.Spec, nil
}

// Imported is the spec of a ServiceImport.
func Imported(content map[string]any) (*mcs.ServiceImportSpec, error) {
	var i mcs.ServiceImport
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &i); err != nil {
		return nil, fmt.Errorf("reading the ServiceImport: %w", err)
	}
	return &i.Spec, nil
}
