package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
)

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cluster", Short: "Edit the files that register clusters", Args: cobra.NoArgs,
		Long: `Cluster edits the Cluster files of a source, as a person would: comments and order stay,
and the change is shown as a patch. Nothing is committed. See docs/clusters.md.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(joinCommand(), addCommand(), unjoinCommand(), removeCommand(), cordonCommand(), drainCommand(), uncordonCommand(), suspendCommand(), resumeCommand(), reconcileCommand(), orphansCommand())
	return cmd
}

func cordonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cordon NAME", Short: "Place nothing new on a cluster", Args: cobra.ExactArgs(1),
		Long: `Cordon adds the taint ` + registration.Unschedulable + `:NoSchedule to a Cluster. Policies that
do not tolerate it place nothing new there; what is there stays.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return failure(2, e.edit(args[0], "is cordoned already", registration.Cordon))
	}
	return cmd
}

func uncordonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "uncordon NAME", Short: "Let policies place on a cluster again", Args: cobra.ExactArgs(1),
		Long: `Uncordon takes the taints ` + registration.Unschedulable + `:NoSchedule and ` + registration.Drained + `:NoExecute
from a Cluster.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return failure(2, e.edit(args[0], "is not cordoned", registration.Uncordon))
	}
	return cmd
}

// edition edits files of a source as it stands.
type edition struct {
	cmd *cobra.Command
	dry *bool
	out io.Writer // for the change; nil: standard output
}

func addEditFlags(cmd *cobra.Command) edition {
	return edition{
		cmd: cmd,
		dry: cmd.Flags().Bool("dry-run", false, "print the change and write nothing"),
	}
}

// path is the directory of the source.
func (e edition) path() string { return sourcePath(e.cmd) }

// opened opens the source as it stands.
func (e edition) opened() (*reconciler.Reconciler, sources.Snapshot, error) {
	if git.IsURL(e.path()) {
		return nil, nil, fmt.Errorf("%s is a URL, and files are edited in a directory; clone it first", e.path())
	}
	return repositories{cmd: e.cmd, path: e.path(), offline: true}.alone("")
}

// clustersOf lists the Clusters of a version of a source, as they are written.
func clustersOf(ctx context.Context, r *reconciler.Reconciler, s sources.Snapshot) ([]*object.Object, error) {
	src, err := r.Planner().Load(ctx, s, render.With{})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	return registration.Written(src.Objects), nil
}

// registered lists the Clusters of the source.
func (e edition) registered() ([]*object.Object, error) {
	r, s, err := e.opened()
	if err != nil {
		return nil, err
	}
	return clustersOf(e.cmd.Context(), r, s)
}

// find returns the Cluster of a name.
func (e edition) find(name string) (*object.Object, error) {
	all, err := e.registered()
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if o.Ref().Name == name {
			return o, nil
		}
	}
	return nil, fmt.Errorf("no file of the source has a Cluster %q that can be read, once; `waybill get clusters` lists those there are, and `waybill validate` what is wrong", name)
}

// edit edits the file of a Cluster, unless that is so already.
func (e edition) edit(name, already string, how func(at diag.Pos, data []byte, cluster string) ([]byte, error)) error {
	o, err := e.find(name)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(e.file(o.Pos().File))
	if err != nil {
		return err
	}
	after, err := how(o.Pos(), before, name)
	if err != nil {
		return err
	}
	if string(after) == string(before) {
		fmt.Fprintf(e.cmd.ErrOrStderr(), "%s: Cluster %s %s\n", o.Pos(), name, already)
		return nil
	}
	return e.write(o.Pos().File, before, after)
}

// file is where a file of the source is.
func (e edition) file(name string) string { return filepath.Join(e.path(), filepath.FromSlash(name)) }

// write prints how a file of the source changes, and writes it. Before is nil where there is
// none yet, and after where there is to be none.
func (e edition) write(name string, before, after []byte) error {
	out := e.out
	if out == nil {
		out = e.cmd.OutOrStdout()
	}
	fmt.Fprint(out, registration.Diff(name, before, after))
	if *e.dry {
		return nil
	}
	file := e.file(name)
	if after == nil {
		return os.Remove(file)
	}
	if before != nil {
		return os.WriteFile(file, after, 0o644)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(after)
	return errors.Join(err, f.Close())
}
