package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/report/rollout"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/git"
)

func rolloutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rollout", Short: "Say how far a change is that goes out in stages, and command it", Args: cobra.NoArgs,
		Long: `Rollout is about changes that go out in stages. UNIT is what goes out together, as
NAMESPACE/NAME of a PropagationPolicy, _cluster/NAME of a ClusterPropagationPolicy or _group/NAME of a
rollout-group; its last part alone will do where that is one unit. RUN is the run that is open, or the
first of its digits. A command is one commit with one file on the branch ` + commands.Branch + `, and the
next plan acts on it. See docs/rollouts.md.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(rolloutStatusCommand(), commandOf(rollouts.Approve, "STAGE", "Approve a stage that waits for it",
		"Approve lets a run go on behind a stage that has an Approval after it, once that soaks, or begin one that\nhas an Approval before it."),
		commandOf(rollouts.Stop, "", "Release nothing more", "Stop has a run release nothing more. What clusters got stays."),
		commandOf(rollouts.Resume, "", "Go on with a run that stopped", "Resume has a run go on that stopped, and forgives what failed so far. What was kept back is tried\nagain."),
		commandOf(rollouts.Skip, "STAGE|CLUSTER", "Wait no longer for a stage or a cluster",
			"Skip ends a stage, or has nobody wait for a cluster. Clusters that did not get the change keep what they\nhave until the next run."),
		commandOf(rollouts.Return, "", "Go back to the version before the run", "Return has every cluster go back to the version before the run, at once."),
		commandOf(rollouts.Bypass, "", "Have every cluster get the change at once", "Bypass has every cluster get the change at once. Evidence, approvals and windows count no more; the guard\ndoes."))
	return cmd
}

func rolloutStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: commands.StatusVerb + " UNIT[@RUN]", Short: "Say how far the run of a unit is, what it waits for, and what helps", Args: cobra.ExactArgs(1),
		Long:    `Status says from the state branch how far the run of a unit is: its phase and why, its stages with their clusters, what happens next, and the command that helps.`,
		Example: "  waybill rollout status team/web",
	}
	where := reportFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, _, err := openPublished(cmd, where, "")
		if err != nil {
			return failure(2, err)
		}
		of, err := commands.FindRollout(cmd.Context(), r.Target, args[0])
		if err != nil {
			return failure(2, err)
		}
		return failure(2, rollout.Write(cmd.OutOrStdout(), of, r.Now()))
	}
	return cmd
}

// rolloutFlags are the flags of a command about a roll-out.
type rolloutFlags struct {
	where func(path string) (repositories, error)
	by    string
}

// commandOf is the command that gives a command about a roll-out. Of is what it is about beside the unit.
func commandOf(verb rollouts.Verb, of, short, long string) *cobra.Command {
	args, use := cobra.ExactArgs(1), string(verb)+" UNIT[@RUN]"
	if of != "" {
		args, use = cobra.ExactArgs(2), use+" "+of
	}
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: args}
	f := &rolloutFlags{}
	f.where = signingFlag(cmd, repositoryFlags(cmd, "repository that the source is published to: a remote's name, a path or a URL (default: as waybill.yaml says, else origin where there is one)"))
	cmd.Flags().StringVar(&f.by, "by", "", "who gives it (default: the address that Git knows); it counts as what somebody says, unless the commit is signed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return failure(2, f.give(cmd, verb, args))
	}
	return cmd
}

// give writes a command, and says what comes of it.
func (f *rolloutFlags) give(cmd *cobra.Command, verb rollouts.Verb, args []string) error {
	w, err := f.where(sourcePath(cmd))
	if err != nil {
		return err
	}
	r, err := reconcilerAt(w, "HEAD", home) // where rollout status finds it
	if err != nil {
		return err
	}
	who := git.Person(w.path, os.Getenv)
	if f.by != "" {
		who = git.Author{Name: f.by}
	}
	if who.Name == "" && who.Email == "" {
		return errors.New("who gives it? say so with --by, or set user.email of Git")
	}
	of, err := commands.FindRollout(cmd.Context(), r.Target, args[0])
	if err != nil {
		return err
	}
	c := commands.RolloutCommand{
		Verb: verb, Unit: of.Unit.String(), Run: of.Status.Run, By: cmp.Or(who.Email, who.Name),
		Via: commands.ViaCLI, At: r.Now().UTC().Truncate(time.Second),
	}
	if len(args) > 1 {
		said := commands.Spoken{Verb: verb, Of: args[1]}
		c.Stage, c.Cluster = said.Aim(of.Status.Stages)
	}
	what, err := commands.Foresee(of, &c)
	if err != nil {
		return fmt.Errorf("%s of %s would do nothing: %w", verb, of.Unit, err)
	}
	if err := countable(w, &c); err != nil {
		return err
	}
	head, err := commands.Give(cmd.Context(), r.Target, &c, who)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n%s\n", verb, what, "the next plan acts on it; it is the commit "+head+" of "+commands.Branch)
	return nil
}

// countable is an error about a command that the source would not let count.
func countable(w repositories, c *commands.RolloutCommand) error {
	source, err := w.source()
	if err != nil {
		return err
	}
	s, err := w.snapshot(source, "HEAD")
	if err != nil {
		return nil // whoever plans says what is wrong
	}
	config, err := configOf(s)
	if err != nil {
		return err
	}
	return commands.Countable(config.Rollout, c.Verb, w.sign != nil)
}
