package pages

import (
	"net/url"

	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
)

// Kind is a kind of what a list has, as a word of an address, and how it is shown.
type Kind[K ~string] struct {
	Kind K
	Mark Mark
}

// Choices are how many there are of each kind, in the order of kinds. Each leads from a page to those alone, by a parameter of its
// address, and the one that is chosen back to all.
func Choices[K ~string](path, param string, q url.Values, kinds []Kind[K], counts map[K]int) (all []Count) {
	for _, k := range kinds {
		if n := counts[k.Kind]; n > 0 {
			to, isOn := string(k.Kind), q.Get(param) == string(k.Kind)
			if isOn {
				to = ""
			}
			all = append(all, Count{Mark: k.Mark, N: n, URL: list.With(path, q, param, to, list.PageParam, ""), On: isOn})
		}
	}
	return all
}
