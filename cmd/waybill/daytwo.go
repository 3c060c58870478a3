package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/preview/whatif"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/versions"
)

func addCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Write the file that registers a cluster, without asking it", Args: cobra.ExactArgs(1),
		Long: `Add writes the file that registers a cluster which Flux, Argo CD or an agent syncs, or which
nobody reaches from here. Join asks the cluster who it is, and is for those that Waybill applies to.`,
		Example: "  waybill cluster add eu-2 --region eu --label stage=production",
	}
	j := joining{edition: addEditFlags(cmd)}
	mode := j.describeFlags(cmd.Flags(), karmada.Pull)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		j.member.Name, j.member.SyncMode = args[0], karmada.ClusterSyncMode(*mode)
		text, err := j.checked()
		if err != nil {
			return failure(2, err)
		}
		return failure(2, j.write(j.file, nil, text))
	}
	return cmd
}

// checked is the text of a file that may be written.
func (j *joining) checked() ([]byte, error) {
	registered, err := j.registered()
	if err != nil {
		return nil, err
	}
	if j.file == "" {
		j.file = "clusters/" + j.member.Name + ".yaml"
	}
	if j.file = filepath.ToSlash(filepath.Clean(j.file)); !filepath.IsLocal(j.file) {
		return nil, fmt.Errorf("--file %s is outside of the source; name a file relative to it", j.file)
	}
	text, err := registration.Join(j.file, j.member, registered)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(j.edition.file(j.file)); err == nil {
		return nil, fmt.Errorf("%s is there already, and nothing is overwritten; name another with --file", j.file)
	}
	return text, j.isRead(text)
}

func drainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "drain NAME", Short: "Have what is on a cluster go to others", Args: cobra.ExactArgs(1),
		Long: `Drain adds the taint ` + registration.Drained + `:NoExecute to a Cluster, and says first what would move, and
where. It moves where spec.failover of waybill.yaml is enabled, as docs/failover.md says, and policies
do not tolerate the taint. Uncordon takes it away.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if _, err := e.find(args[0]); err != nil {
			return failure(2, err)
		}
		taint := whatif.Taint{Cluster: args[0], Taint: corev1.Taint{Key: registration.Drained, Effect: corev1.TaintEffectNoExecute}}
		e.foresee(whatif.Suppositions{Taints: []whatif.Taint{taint}}, "nothing moves; work leaves clusters where spec.failover.enabled of waybill.yaml is true, and fits another one")
		return failure(2, e.edit(args[0], "is drained already", registration.Drain))
	}
	return cmd
}

func removeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Say what leaving a cluster out changes, and remove what registers it", Args: cobra.ExactArgs(1),
		Long: `Remove is unjoin for the careful: it shows what changes everywhere without the cluster, and
asks, or wants --yes where nobody can be asked.`,
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	e := addEditFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := e.find(args[0]); err != nil {
			return failure(2, err)
		}
		e.foresee(whatif.Suppositions{Without: args}, "no other cluster changes")
		if !*yes && !*e.dry {
			if err := confirmed(cmd, "remove "+args[0]+" from the source?"); err != nil {
				return failure(2, err)
			}
		}
		return failure(2, e.unjoin(args[0]))
	}
	return cmd
}

// foresee says what a change of Clusters does; otherwise where it does nothing.
func (e edition) foresee(s whatif.Suppositions, otherwise string) {
	w, out := repositories{cmd: e.cmd, path: e.path(), offline: true}, e.cmd.ErrOrStderr()
	_, end := terminal.Doing(e.cmd.Context(), 0, "planning")
	defer end()
	r, head, err := w.compared("HEAD", "")
	if err != nil {
		fmt.Fprintf(out, "what this changes is not known: %v\n", err)
		return
	}
	c, err := versions.Preview(e.cmd.Context(), r, versions.Question{Base: "HEAD", Head: head, Suppose: s, Key: r.Random.Key})
	end()
	switch {
	case err != nil:
		fmt.Fprintf(out, "what this changes is not known: %v\n", err)
	case c.Empty():
		fmt.Fprintln(out, otherwise)
	default:
		_ = report.Comparison(&c, report.Look{Colour: terminal.HasColours(out)}).Write(out, report.Text)
		fmt.Fprintln(out)
	}
}

// confirmed asks a person; where there is none, it is an error.
func confirmed(cmd *cobra.Command, question string) error {
	if f, ok := cmd.InOrStdin().(*os.File); !ok || !terminal.IsTerminal(f) {
		return fmt.Errorf("%s nobody can be asked here, so say --yes", question)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was removed")
	}
	return nil
}
