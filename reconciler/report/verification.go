package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/report/cell"
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
			_, err := fmt.Fprintf(w, "%s at %s is what %s gives, byte for byte\n", what, cell.Commit(v.Commit), cell.Commit(v.Source))
			return err
		}
		writeDifferences(w, what, v)
		if v.Version != version {
			fmt.Fprintf(w, "it was written by Waybill %s, this is %s\n", v.Version, version)
		}
		return nil
	}}
}

// writeDifferences says in what a commit is not what its source gives.
func writeDifferences(w io.Writer, what string, v *verify.Verification) {
	fmt.Fprintf(w, "%s at %s is not what %s gives:\n", what, cell.Commit(v.Commit), cell.Commit(v.Source))
	for _, d := range v.Differences {
		fmt.Fprintln(w, " ", d)
	}
}

// Chain is what verify --chain prints.
func Chain(c *verify.Chain) Report {
	return Report{value: c, text: func(w io.Writer) error {
		for i := range c.Differing {
			writeDifferences(w, c.Differing[i].Branch, &c.Differing[i])
		}
		for _, why := range c.Unknown {
			fmt.Fprintln(w, why)
		}
		what := fmt.Sprintf("%s of the state, %s to %s, and %s of clusters' branches",
			words.Count(c.State, "commit"), cell.Commit(c.From), cell.Commit(c.To), words.Count(c.Clusters, "commit"))
		if c.Same {
			_, err := fmt.Fprintf(w, "%s are what their sources give, byte for byte\n", what)
			return err
		}
		_, err := fmt.Fprintf(w, "%s were rebuilt: %d differ, %d could not be told\n", what, len(c.Differing), len(c.Unknown))
		return err
	}}
}
