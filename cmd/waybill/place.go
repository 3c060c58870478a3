package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/sources/git"
)

// sourceFlag is -C, which every command takes that reads a source.
const sourceFlag = "source"

// pathArgument is in the use of commands whose first argument is the source.
const pathArgument = "[PATH]"

// apart are the commands that read no source, and those of kubectl's, whose arguments are its
// own.
var apart = []string{"init", "agent", "demo", "doctor", "version", "reference", "completion", "help"}

// placed has every command below root take the source in one way: -C names it, or an argument
// that is a path. Where both do they must name the same.
func placed(root *cobra.Command) {
	root.PersistentFlags().StringP(sourceFlag, "C", ".", "directory of the source; an argument that is PATH, ./PATH or a URL is the same")
	for _, cmd := range root.Commands() {
		if slices.Contains(apart, cmd.Name()) {
			sourceless(cmd)
		} else {
			place(cmd)
		}
	}
}

// sourceless has a command that reads no source refuse -C.
func sourceless(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(sourceFlag) {
			return fmt.Errorf("%s reads no source, so that -C means nothing to it", cmd.CommandPath())
		}
		return run(cmd, args)
	}
}

// place is placed for a command and those below it.
func place(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		place(sub)
	}
	known, run := cmd.Args, cmd.RunE
	if run == nil || slices.Contains([]string{"logs", "exec", "pods", "nodes"}, cmd.Name()) {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		_, rest, err := sourceIn(cmd, args)
		if err == nil && known != nil {
			err = known(cmd, rest)
		}
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, rest, err := sourceIn(cmd, args)
		if err == nil {
			err = cmd.Flags().Set(sourceFlag, path)
		}
		if err != nil {
			return err
		}
		return run(cmd, rest)
	}
}

// sourceIn finds the source in a command line, and returns the other arguments.
func sourceIn(cmd *cobra.Command, args []string) (path string, rest []string, err error) {
	named := cmd.Flags().Changed(sourceFlag)
	first := strings.Contains(cmd.Use, pathArgument)
	more := strings.HasSuffix(cmd.Use, "...]") // what is behind PATH may stand alone where -C is given
	at := slices.IndexFunc(args, isPath)
	if at < 0 && first && len(args) > 0 && (!named || !more) {
		at = 0
	}
	if at < 0 {
		return sourcePath(cmd), args, nil
	}
	path, rest = args[at], slices.Concat(args[:at], args[at+1:])
	if named && !samePath(path, sourcePath(cmd)) {
		return "", nil, fmt.Errorf("the source is %s, and by -C it is %s; name it once", path, sourcePath(cmd))
	}
	if other := slices.IndexFunc(rest, isPath); other >= 0 {
		return "", nil, fmt.Errorf("the source is %s, and it is %s; name it once", path, rest[other])
	}
	return path, rest, nil
}

// isPath reports an argument that nothing but a source is called.
func isPath(arg string) bool {
	if filepath.IsAbs(arg) {
		info, err := os.Stat(arg)
		return err == nil && info.IsDir()
	}
	return arg == "." || arg == ".." || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || git.IsURL(arg)
}

// samePath reports whether two names are of one directory.
func samePath(a, b string) bool {
	x, err := filepath.Abs(a)
	y, wrong := filepath.Abs(b)
	return errors.Join(err, wrong) == nil && x == y || a == b
}

// sourcePath is where the source of a command is.
func sourcePath(cmd *cobra.Command) string {
	f := cmd.Flags().Lookup(sourceFlag)
	if f == nil {
		return "."
	}
	return f.Value.String()
}
