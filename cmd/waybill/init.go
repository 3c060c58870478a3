package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/examples"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init [DIR]", Short: "Write a first source: two clusters, a policy, an app", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			names, err := writeExample(dir, examples.Quickstart, "quickstart")
			if err != nil {
				return failure(2, err)
			}
			out := cmd.OutOrStdout()
			for _, n := range names {
				fmt.Fprintln(out, "wrote", n)
			}
			_, err = fmt.Fprintf(out, "\nnext:\n  waybill render %[1]s\n  git init -b main %[1]s && git -C %[1]s add -A && git -C %[1]s commit -m first\n  waybill publish %[1]s\n", dir)
			return err
		},
	}
}

// writeExample writes an example as the source dir. It overwrites nothing.
func writeExample(dir string, all fs.FS, name string) ([]string, error) {
	var names []string
	files, err := fs.Sub(all, name)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("writing the first source: %w; init overwrites nothing, so choose another folder", err)
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return fmt.Errorf("writing %s: %w", name, err)
		}
		names = append(names, name)
		return f.Close()
	})
	return names, err
}
