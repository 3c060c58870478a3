package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

func renderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "render [PATH]", Short: "Write what every cluster should hold to a folder, or print it", Args: cobra.MaximumNArgs(1),
		Long: `Render plans PATH and writes DIR/<cluster>/... as it would stand on the cluster's
branch, marked with a waybill.metadata, so that it is never read as a source.
Without --out it prints where everything goes. If any diagnostic is an error, it
writes nothing unless --keep-going is given.`,
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag of the repository at PATH, instead of the directory as it stands")
	out := cmd.Flags().String("out", "", "folder to write to; what an earlier render wrote there is replaced")
	keepGoing := cmd.Flags().Bool("keep-going", false, "write what is sound in spite of errors")
	where := reportFlags(cmd)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		p, err := w.build(*rev, plan.Folder)
		if err != nil {
			return failure(2, err)
		}
		tell(cmd, p.Diags)
		failed := diag.HasErrors(p.Diags)
		switch {
		case failed && !*keepGoing:
			return failure(1, errors.New("nothing was written; mend the errors above, or use --keep-going to write what is sound"))
		case *out == "":
			err = show(cmd, output, report.Placements(&p))
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

// writeTrees writes each cluster's tree below dir, replacing what was written there
// before, and nothing else.
func writeTrees(dir string, p *plan.Plan) error {
	for _, c := range p.Clusters { // before any of them is removed
		if err := replaceable(filepath.Join(dir, c.Name)); err != nil {
			return err
		}
	}
	meta := tree.Metadata{DrySHA: p.Revision.Commit, Version: buildVersion()}
	if meta.DrySHA != "" { // else the repository is a path of this machine
		meta.RepoURL = p.Revision.Repo
	}
	for _, c := range p.Clusters {
		root, err := tree.WithMetadata(c.Tree, meta, nil, nil)
		if err != nil {
			return fmt.Errorf("laying out cluster %s: %w", c.Name, err)
		}
		at := filepath.Join(dir, c.Name)
		if err := os.RemoveAll(at); err != nil {
			return fmt.Errorf("clearing %s: %w", at, err)
		}
		if err := writeTree(at, root); err != nil {
			return err
		}
	}
	return nil
}

// replaceable refuses a folder that no earlier render wrote.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", dir, err)
	}
	isOurs := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == tree.MetadataFile })
	if len(entries) > 0 && !isOurs {
		return fmt.Errorf("%s is in the way: it has no %s, so Waybill did not write it; name another folder with --out, or remove it", dir, tree.MetadataFile)
	}
	return nil
}

func writeTree(dir string, root *files.Folder) error {
	for path, e := range root.All() {
		file := filepath.Join(dir, filepath.FromSlash(path))
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
	return nil
}
