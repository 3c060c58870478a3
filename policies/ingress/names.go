package ingress

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// Names are what the Services are called in a cluster to which an object sends traffic. They can be compared; the zero value is no
// names.
type Names string

// NamesOf are names by Services.
func NamesOf(all map[object.Ref]string) Names {
	var b strings.Builder
	for _, of := range slices.SortedFunc(maps.Keys(all), object.Ref.Compare) {
		b.WriteString(of.Namespace + "/" + of.Name + "=" + all[of] + "\n")
	}
	return Names(b.String())
}

// All are the names by Services.
func (n Names) All() map[object.Ref]string {
	all := map[object.Ref]string{}
	for line := range strings.Lines(string(n)) {
		of, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		namespace, service, _ := strings.Cut(of, "/")
		all[serviceOf(namespace, service)] = name
	}
	return all
}

// Found is what was found in a cluster of the Services that an object sends traffic to.
type Found struct {
	Names Names
	// Lacks reports that one of them, or a port of it, is not there.
	Lacks bool
}
