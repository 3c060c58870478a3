package render

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/flux"
)

// Flux says what Flux's objects in the source mean.
type Flux struct {
	// Self are the sources that are this repository, as Kind/namespace/name: a GitRepository,
	// OCIRepository or Bucket.
	Self []string `json:"self"`
}

// check names a field with a problem.
func (f *Flux) check() (field, problem string) {
	for _, s := range f.Self {
		if _, ok := flux.ParseSource(s); !ok {
			return "self", fmt.Sprintf("holds %q; want Kind/namespace/name, as GitRepository/flux-system/flux-system", s)
		}
	}
	return "", ""
}
