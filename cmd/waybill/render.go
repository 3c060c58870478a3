package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/diag"
)

func validateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate [PATH]", Short: "Print every diagnostic, with file and line", Args: cobra.MaximumNArgs(1),
		Long: "Validate plans PATH and prints what is wrong with it. It exits with 1 if anything is an error.",
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag of the repository at PATH, instead of the directory as it stands")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, _, err := location{pathOf(args), *rev}.build(cmd.Context())
		if err != nil {
			return failure(2, err)
		}
		if p.Diags == nil {
			p.Diags = []diag.Diagnostic{}
		}
		err = emit(cmd.OutOrStdout(), *output, p.Diags, func(w io.Writer) error {
			complain(w, p.Diags)
			_, err := fmt.Fprintf(w, "%d clusters, %d templates, %d manifests placed; %d documents were no manifests\n", len(p.Clusters), p.Stats.Templates, p.Stats.Placed, p.Stats.NotManifests)
			return err
		})
		if err == nil && diag.HasErrors(p.Diags) {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

func renderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "render [PATH]", Short: "Write what every cluster should hold to a folder, or print it", Args: cobra.MaximumNArgs(1),
		Long: `Render plans PATH and writes DIR/<cluster>/... as it would stand on the cluster's
branch. Without --out it prints where everything goes. It exits with 1 if any
diagnostic is an error, and then writes nothing unless --keep-going is given.`,
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag of the repository at PATH, instead of the directory as it stands")
	out := cmd.Flags().String("out", "", "folder to write to; a cluster's folder is replaced")
	keepGoing := cmd.Flags().Bool("keep-going", false, "write what is sound in spite of errors")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, _, err := location{pathOf(args), *rev}.build(cmd.Context())
		if err != nil {
			return failure(2, err)
		}
		failed := complain(cmd.ErrOrStderr(), p.Diags)
		switch {
		case failed && !*keepGoing:
			return failure(1, errors.New("nothing was written; mend the errors above, or use --keep-going to write what is sound"))
		case *out == "":
			err = emit(cmd.OutOrStdout(), *output, placements(&p), func(w io.Writer) error { return placementTable(w, &p) })
		default:
			err = writeTrees(*out, &p)
		}
		if err == nil && failed {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// placement is a row of what render prints.
type placement struct {
	Object   string   `json:"object"`
	Policy   string   `json:"policy,omitempty"`
	Clusters []string `json:"clusters"`
	Replicas []int32  `json:"replicas,omitempty"` // in the order of clusters
	Reason   string   `json:"reason,omitempty"`
}

func placements(p *plan.Plan) []placement {
	rows := []placement{}
	for _, d := range p.Decisions {
		row := placement{Object: d.Template.Ref().String(), Clusters: []string{}, Reason: d.Message}
		if d.Policy != nil {
			row.Policy = d.Policy.String()
		}
		for _, t := range d.Targets {
			row.Clusters = append(row.Clusters, t.Name)
			if t.Replicas > 0 {
				row.Replicas = append(row.Replicas, t.Replicas)
			}
		}
		if len(row.Replicas) != len(row.Clusters) {
			row.Replicas = nil
		}
		rows = append(rows, row)
	}
	return rows
}

func placementTable(w io.Writer, p *plan.Plan) error {
	var rows [][]string
	for _, r := range placements(p) {
		names := make([]string, len(r.Clusters))
		for i, c := range r.Clusters {
			names[i] = c
			if r.Replicas != nil {
				names[i] += ":" + strconv.Itoa(int(r.Replicas[i]))
			}
		}
		policy := r.Policy
		if policy == "" {
			policy = "-"
		}
		rows = append(rows, []string{r.Object, policy, strconv.Itoa(len(names)), short(names, 4)})
	}
	return columns(w, []string{"OBJECT", "POLICY", "CLUSTERS", "WHERE"}, rows)
}

// writeTrees writes each cluster's tree below dir, replacing what is there.
func writeTrees(dir string, p *plan.Plan) error {
	for _, c := range p.Clusters {
		at := filepath.Join(dir, c.Name)
		if err := os.RemoveAll(at); err != nil {
			return fmt.Errorf("clearing %s: %w", at, err)
		}
		for path, e := range c.Tree.All() {
			file := filepath.Join(at, filepath.FromSlash(path))
			data, err := e.Blob.Bytes()
			if err != nil {
				return fmt.Errorf("reading %s: %w", path, err)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return fmt.Errorf("writing %s: %w", file, err)
			}
			if err := os.WriteFile(file, data, 0o644); err != nil {
				return fmt.Errorf("writing %s: %w", file, err)
			}
		}
	}
	return nil
}
