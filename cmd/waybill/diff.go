package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
)

func diffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff [BASE [HEAD]]", Short: "Show what a change does to every cluster", Args: cobra.MaximumNArgs(2),
		Long: `Diff plans two versions of the source and shows what appears, moves, scales,
changes and disappears, where, and why. BASE is HEAD if it is left out; HEAD is
the directory as it stands if it is left out. With --post the pull request shows it,
too: see docs/forges.md.

The flags from --with-cluster to --at suppose what the source does not say: they
are combined, and HEAD is planned with them.`,
	}
	var d differ
	flags := cmd.Flags()
	where := reportFlags(cmd)
	d.as = format{Format: report.Text, known: []report.Format{report.Text, report.Markdown, report.HTML, report.JSON, report.YAML}}
	flags.VarP(&d.as, "output", "o", "output format: "+d.as.choice())
	flags.BoolVar(&d.stat, "stat", false, "as text, a line a change")
	flags.StringSliceVarP(&d.question.Within.Namespaces, "namespace", "n", nil, "only objects of these namespaces")
	flags.StringSliceVar(&d.question.Within.Clusters, "cluster", nil, "only these clusters")
	flags.BoolVar(&d.watch, "watch", false, "show it again whenever a file of the directory changes")
	suppositions, posting := supposeFlags(cmd), postFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if d.where, err = where(sourcePath(cmd)); err == nil {
			d.question.Suppose, err = suppositions()
		}
		if err == nil {
			d.post, err = posting(d.where)
		}
		if err == nil && d.watch && (len(args) > 1 || d.post != nil) {
			err = errors.New("--watch shows the directory as it stands, and neither another HEAD nor at a forge")
		}
		if err == nil && d.watch && d.as.Format == report.HTML {
			err = errors.New("--watch shows changes on the terminal, and -o html is a page for a file: waybill diff -o html > page.html")
		}
		if err != nil {
			return failure(2, err)
		}
		d.question.Base = "HEAD"
		if len(args) > 0 {
			d.question.Base = args[0]
		}
		if len(args) > 1 {
			d.head = args[1]
		}
		if d.watch {
			return failure(2, d.watched(cmd))
		}
		return d.once(cmd)
	}
	return cmd
}

// differ is what diff is asked.
type differ struct {
	where       repositories
	question    versions.Question
	head        string // a revision; empty for the directory
	as          format
	stat, watch bool
	post        *poster // nil: it is shown here only
}

// once shows what changes.
func (d *differ) once(cmd *cobra.Command) error {
	r, s, err := d.where.compared(d.question.Base, d.head)
	if err != nil {
		return failure(2, err)
	}
	d.question.Head = s
	d.post.about(r.Subdir)
	return d.answer(cmd, r)
}

func (d *differ) answer(cmd *cobra.Command, r *reconciler.Reconciler) error {
	_, end := terminal.Doing(cmd.Context(), 0, "comparing")
	defer end()
	var err error
	if d.question.Key = r.Random.Key; d.as.Format != report.Text || d.post != nil { // others read it
		if d.question.Key, err = draw.Throwaway(rand.Reader); err != nil {
			return failure(2, err)
		}
	}
	c, err := versions.Preview(cmd.Context(), r, d.question)
	end()
	if err == nil && c.Totals.Of == 0 && c.Empty() && len(c.Diags)+len(c.Already) == 0 {
		err = errVacant(d.where.path)
	}
	if err != nil {
		return failure(2, d.post.fail(cmd.Context(), err))
	}
	unposted := d.post.show(cmd.Context(), &c)
	err = d.show(cmd, &c)
	if unposted != nil {
		return failure(2, unposted)
	}
	return err
}

// show prints what changes, and ends with the status that tells whether anything does.
func (d *differ) show(cmd *cobra.Command, c *preview.Comparison) error {
	if d.as.Format == report.Text {
		told := slices.DeleteFunc(slices.Clone(c.Diags), func(d diag.Diagnostic) bool { return d.Severity == diag.Notice })
		tell(cmd, append(told, preview.Mistakes(c.Already)...))
	}
	err := show(cmd, &d.as, report.Comparison(c, report.Look{Colour: terminal.HasColours(cmd.OutOrStdout()), Stat: d.stat}))
	if n := c.Errors() + len(preview.Mistakes(c.Already)); err == nil && n > 0 {
		err = fmt.Errorf("the source has errors (%d): what they are about stays as it was, so that it is not known what else would change", n)
	}
	if err == nil && !c.Empty() {
		return errSilent
	}
	return failure(2, err)
}
