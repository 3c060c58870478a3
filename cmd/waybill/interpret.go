package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/interpretation"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/object"
)

// interpretFlags are what interpret is asked.
type interpretFlags struct {
	files                     []string
	operation, prefer         string
	desired, observed, status string
	replicas                  int32
	check                     bool
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
	flags.StringVar(&f.operation, "operation", "", "what is asked")
	flags.StringVar(&f.desired, "desired-file", "", "file with the object as the source has it")
	flags.StringVar(&f.observed, "observed-file", "", "file with the object as a cluster has it")
	flags.StringVar(&f.status, "status-file", "", "file with what clusters report: a document each, of clusterName and status")
	flags.Int32Var(&f.replicas, "desired-replica", 0, "replicas that revise gives the object")
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
		q, err := f.question(cmd.InOrStdin())
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
		judge, wrong, err = f.ofFiles(cmd.InOrStdin())
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

// question reads what is asked.
func (f *interpretFlags) question(in io.Reader) (q interpretation.Question, err error) {
	q.Replicas = f.replicas
	if q.Operation, err = interpretation.OperationOf(f.operation); err != nil {
		return q, fmt.Errorf("--operation: %w", err)
	}
	if q.Desired, err = readObject(in, f.desired); err != nil {
		return q, err
	}
	if q.Observed, err = readObject(in, f.observed); err != nil {
		return q, err
	}
	q.Reports, err = readReports(in, f.status)
	return q, err
}

// A caseFile is customizations_tests.yaml.
type caseFile struct {
	Tests []struct {
		Operation string `json:"operation"`
		Desired   string `json:"desiredInputPath"`
		Observed  string `json:"observedInputPath"`
		Status    string `json:"statusInputPath"`
		Replicas  int32  `json:"desiredReplicas"`
		Result    any    `json:"result"`
	} `json:"tests"`
}

// checked prints what is wrong with scripts and with their cases.
func (f *interpretFlags) checked(cmd *cobra.Command, judge *health.Judge, wrong []string) error {
	asked := 0
	for _, name := range f.files {
		cases, err := casesBeside(name)
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

// casesBeside reads the cases beside a file; none where there is no file of cases.
func casesBeside(name string) ([]interpretation.Case, error) {
	dir := filepath.Dir(name)
	path := filepath.Join(dir, "customizations_tests.yaml")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || name == "-" {
		return nil, nil
	}
	var file caseFile
	if err == nil {
		err = yaml.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cases: %s: %w", path, err)
	}
	in := func(name string) string {
		if name == "" {
			return ""
		}
		return filepath.Join(dir, name)
	}
	var cases []interpretation.Case
	for i, t := range file.Tests {
		one := interpretFlags{operation: t.Operation, desired: in(t.Desired), observed: in(t.Observed), status: in(t.Status), replicas: t.Replicas}
		q, err := one.question(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", path, i+1, err)
		}
		cases = append(cases, interpretation.Case{Question: q, Name: fmt.Sprintf("%s: case %d", path, i+1), Want: t.Result})
	}
	return cases, nil
}

// readInput reads a file, or the standard input for -.
func readInput(in io.Reader, name string) ([]byte, error) {
	if name == "-" && in != nil {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

// readObject reads the one object of a file; nil without a name.
func readObject(in io.Reader, name string) (map[string]any, error) {
	if name == "" {
		return nil, nil
	}
	data, err := readInput(in, name)
	if err != nil {
		return nil, err
	}
	d := object.Decode(name, data)
	if len(d.Objects) != 1 {
		return nil, fmt.Errorf("%s has %d objects; want one", name, len(d.Objects))
	}
	return d.Objects[0].Content(), nil
}

// readReports reads what clusters report; nil without a name.
func readReports(in io.Reader, name string) (all []karmada.AggregatedStatusItem, err error) {
	if name == "" {
		return nil, nil
	}
	data, err := readInput(in, name)
	if err != nil {
		return nil, err
	}
	err = eachDocument(data, func(doc []byte) error {
		var item karmada.AggregatedStatusItem
		if err := yaml.Unmarshal(doc, &item); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, item)
		return nil
	})
	return all, err
}

// eachDocument goes through the documents of a file that are not empty.
func eachDocument(data []byte, read func([]byte) error) error {
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		if err := read(doc); err != nil {
			return err
		}
	}
}
