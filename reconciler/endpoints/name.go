package endpoints

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/services"
)

// plain is the name that a slice of a provider has in a consumer: Karmada's.
func (w *wanted) plain() string {
	name := w.provider + "-" + w.slice.Name
	if w.from.Style == services.ByImport {
		name = "imported-" + name
	}
	return name
}

// apart is another name for it, where the plain one is too long or is another slice's.
func (w *wanted) apart() string {
	const digits = 4 // bytes
	sum := sha256.Sum256([]byte(w.provider + "/" + w.slice.Name))
	suffix := "-" + hex.EncodeToString(sum[:digits])
	name := w.plain()
	if most := validation.DNS1123SubdomainMaxLength - len(suffix); len(name) > most {
		name = strings.TrimRight(name[:most], "-.")
	}
	return name + suffix
}

// name gives each wanted slice its name. Where two would have one, as slice b-x of cluster a and slice x of cluster a-b, neither has
// it, so that names do not depend on who came first.
func (r *resolver) name() {
	claims := map[types.NamespacedName]int{}
	at := func(w *wanted, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: w.from.Namespace, Name: name}
	}
	for _, w := range r.wanted {
		claims[at(w, w.plain())]++
	}
	used := map[types.NamespacedName]bool{}
	for _, w := range r.wanted {
		if w.name = at(w, w.plain()); claims[w.name] > 1 || r.taken[w.name] || len(w.name.Name) > validation.DNS1123SubdomainMaxLength {
			w.name = at(w, w.apart())
		}
		if !w.refused && (used[w.name] || r.taken[w.name]) {
			r.refuse(w, "somebody else has an EndpointSlice "+w.name.Name)
		}
		used[w.name] = true
	}
}
