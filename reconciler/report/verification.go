package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/sources/words"
)

// Verification is what verify prints. Version is that of the running Waybill.
func Verification(v *verify.Verification, version string) Report {
	what := v.Branch
	if len(v.Folders) > 0 {
		what = fmt.Sprintf("%s (%s: %s)", v.Branch, words.Count(len(v.Folders), "folder"), words.List(v.Folders))
	}
	return Report{value: v, text: func(w io.Writer) error {
		if v.Same {
			_, err := fmt.Fprintf(w, "%s at %s is what %s gives, byte for byte\n", what, abbreviate(v.Commit), abbreviate(v.Source))
			return err
		}
		fmt.Fprintf(w, "%s at %s is not what %s gives:\n", what, abbreviate(v.Commit), abbreviate(v.Source))
		for _, d := range v.Differences {
			fmt.Fprintln(w, " ", d)
		}
		if v.Version != version {
			fmt.Fprintf(w, "it was written by Waybill %s, this is %s\n", v.Version, version)
		}
		return nil
	}}
}
