package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
)

func validateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate [PATH]", Short: "Print every diagnostic, with file and line", Args: cobra.MaximumNArgs(1),
		Long: `Validate plans PATH and prints what is wrong with it: all that publishing it would
say, or with --for render, all that rendering it to a folder would. A folder may hold
plain Secrets and charts that no lock names, and a branch may not.`,
	}
	purpose := purposeFlag(cmd)
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag of the repository at PATH, instead of the directory as it stands")
	where := reportFlags(cmd)
	output := outputFlag(cmd, report.JUnit, report.SARIF)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		r, s, err := w.report(*rev)
		if err != nil {
			return failure(2, err)
		}
		_, end := terminal.Doing(cmd.Context(), 0, "planning")
		p, err := reconciler.Plan(cmd.Context(), r, s, purpose.medium(r.Source))
		end()
		if err == nil {
			err = w.vacant(&p)
		}
		if err == nil && p.Config.Updates.Acts() {
			p.Diags, err = updating.WithMarkers(cmd.Context(), r.Planner(), s, p.Diags)
		}
		if err != nil {
			return failure(2, err)
		}
		look := report.Look{Colour: terminal.HasColours(cmd.OutOrStdout()), Quiet: isQuiet(cmd), All: isVerbose(cmd)}
		err = show(cmd, output, report.Findings(&p, r.Subdir, buildVersion(), look))
		if err == nil && diag.HasErrors(p.Diags) {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// purpose is what a source is validated for; empty where nobody said.
type purpose string

func (p *purpose) String() string { return string(*p) }
func (*purpose) Type() string     { return "purpose" }

// Set takes a purpose that there is.
func (p *purpose) Set(s string) error {
	switch s {
	case "publish", "render":
		*p = purpose(s)
		return nil
	}
	return fmt.Errorf("there is no purpose %q; want publish or render", s)
}

// purposeFlag adds --for.
func purposeFlag(cmd *cobra.Command) *purpose {
	var p purpose
	cmd.Flags().Var(&p, "for", "what the source is for: publish or render (default publish in a Git repository, else render)")
	return &p
}

// medium is what a source is planned for: what is in a repository, which may be nil, is to
// be published.
func (p *purpose) medium(repository published.Repository) plan.Medium {
	if *p == "publish" || *p == "" && repository != nil {
		return plan.Branch
	}
	return plan.Folder
}
