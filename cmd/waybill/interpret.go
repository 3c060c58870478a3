package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/interpreting"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/interpretation"
	"github.com/waybill-dev/waybill/reconciler/report"
)

// interpretFlags are what interpret is asked.
type interpretFlags struct {
	files  []string // with rules
	asked  interpreting.Files
	prefer string
	check  bool
}

func interpretCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "interpret", Short: "Ask the rule for a kind: health, replicas, dependencies and the rest", Args: cobra.NoArgs,
		Long: `Interpret asks the rule that would act for an object, and names it: one of the source,
Karmada's or Argo CD's own, a built-in one, or kstatus. Rules of the source are its
customizations, and the health scripts of the ConfigMap that spec.health.argocdConfigMap of
its waybill.yaml names, but for what charts render to; with -f they are those of that file.
Operations are those of karmadactl interpret, by its names or health, replicas, revise,
components, dependencies, retain, status and aggregate. A file - is the standard input.

With --check it compiles the scripts, and asks the cases of the file
customizations_tests.yaml beside each, in Karmada's form; a case may have a result that is wanted.`,
	}
	var f interpretFlags
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file with ResourceInterpreterCustomizations, or with a ConfigMap like argocd-cm, in place of those of the source")
	flags.StringVar(&f.asked.Operation, "operation", "", "what is asked")
	flags.StringVar(&f.asked.Desired, "desired-file", "", "file with the object as the source has it")
	flags.StringVar(&f.asked.Observed, "observed-file", "", "file with the object as a cluster has it")
	flags.StringVar(&f.asked.Reports, "status-file", "", "file with what clusters report: a document each, of clusterName and status")
	flags.Int32Var(&f.asked.Replicas, "desired-replica", 0, "replicas that revise gives the object")
	flags.StringVar(&f.prefer, "prefer", "", "whose rule counts where two have one: both, karmada or argocd (default: as waybill.yaml says, or both)")
	flags.BoolVar(&f.check, "check", false, "compile the scripts, and ask the cases beside them")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		judge, wrong, err := f.judge(cmd)
		if err != nil {
			return failure(2, err)
		}
		if f.check {
			return f.checked(cmd, judge, wrong)
		}
		for _, line := range wrong {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
		q, err := f.asked.Question(cmd.InOrStdin())
		if err != nil {
			return failure(2, err)
		}
		a, err := interpretation.Ask(judge, q)
		if err != nil {
			return failure(2, err)
		}
		return failure(2, show(cmd, output, report.Interpretation(&a)))
	}
	return cmd
}

// judge knows the rules, and what is wrong with scripts: a line each.
func (f *interpretFlags) judge(cmd *cobra.Command) (judge *health.Judge, wrong []string, err error) {
	p := health.Prefer(f.prefer)
	if p != "" && p != health.PreferBoth && p != health.PreferKarmada && p != health.PreferArgoCD {
		return nil, nil, fmt.Errorf("--prefer is %q; want both, karmada or argocd", f.prefer)
	}
	if len(f.files) > 0 {
		judge, wrong, err = interpreting.Rules(cmd.InOrStdin(), f.files)
	} else {
		rules, failed := ofSource(cmd)
		judge, f.files, err = rules.judge, rules.files, failed
		for _, d := range rules.wrong {
			wrong = append(wrong, d.String())
		}
	}
	if err == nil && p != "" {
		judge.Prefer = p
	}
	return judge, wrong, err
}

// checked prints what is wrong with scripts and with their cases.
func (f *interpretFlags) checked(cmd *cobra.Command, judge *health.Judge, wrong []string) error {
	asked := 0
	for _, name := range f.files {
		cases, err := interpreting.Cases(name)
		if err != nil {
			return failure(2, err)
		}
		asked += len(cases)
		wrong = append(wrong, interpretation.Check(judge, cases)...)
	}
	for _, line := range wrong {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	if len(wrong) > 0 {
		return errSilent
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "all scripts compile; %d cases are as they should be\n", asked)
	return failure(2, err)
}
