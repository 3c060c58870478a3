package services

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The styles of an import.
const (
	Native   = "native"  // the Service of its own name, by a MultiClusterService
	ByImport = "derived" // another Service, by a ServiceImport
)

// File is what waybill.services holds of a cluster: the services whose endpoints others import from it, and those that it imports.
type File struct {
	Exports []Export `json:"exports,omitempty"`
	Imports []Import `json:"imports,omitempty"`
}

// Export is a Service of the cluster whose endpoints others import.
type Export struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
}

// Import is a Service whose endpoints the cluster imports.
type Import struct {
	Namespace string `json:"namespace"`
	Service   string `json:"service"` // as it is called where it is exported
	Style     string `json:"style"`   // native or derived
	// Derived is what it is called here; empty for its own name.
	Derived string `json:"derived,omitempty"`
	// From are the clusters that it is imported from, in the order of names. The cluster itself may be among them.
	From []string `json:"from"`
	// Ports are the names of the ports that are imported; none for all.
	Ports []string `json:"ports,omitempty"`
}

// Encode writes a file, sorted; nil for an empty one.
func (f *File) Encode() []byte {
	if len(f.Exports)+len(f.Imports) == 0 {
		return nil
	}
	sorted := File{Exports: slices.Compact(slices.SortedFunc(slices.Values(f.Exports), compareExports)), Imports: slices.SortedFunc(slices.Values(f.Imports), compareImports)}
	data, err := json.MarshalIndent(sorted, "", "  ")
	if err != nil {
		panic("services: names do not encode: " + err.Error())
	}
	return append(data, '\n')
}

func compareExports(a, b Export) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Service, b.Service))
}

func compareImports(a, b Import) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Service, b.Service), strings.Compare(a.Style, b.Style))
}

// Decode reads a file back. One that a later version wrote has fields that this one does not know, and passes over.
func Decode(data []byte) (File, error) {
	var f File
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return File{}, fmt.Errorf("it is not what Waybill wrote: %w", err)
	}
	return f, nil
}
