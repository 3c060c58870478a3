package report

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler/interpretation"
)

// Interpretation is what interpret prints: which rule answers, and what it says.
func Interpretation(a *interpretation.Answer) Report {
	return Report{value: a, text: func(w io.Writer) error {
		text, err := yaml.Marshal(a.Result)
		if err == nil {
			_, err = fmt.Fprintf(w, "# %s by %s\n%s", a.Operation, a.Rule, text)
		}
		return err
	}}
}
