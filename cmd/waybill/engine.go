package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/words"
)

// workerArgument, alone on the command line, makes this program a worker's child. It is
// nothing that people type.
const workerArgument = "render-worker"

const (
	untrustedFlag = "untrusted"
	cacheFlag     = "render-cache"
)

// renders adds the flags of a command that renders what a source holds.
func renders(cmd *cobra.Command) *cobra.Command {
	fetches(cmd)
	cmd.Flags().String(cacheFlag, "", "folder that remembers what charts and kustomizations rendered to, up to 1 GiB; losing it costs time only")
	return draws(cmd)
}

// draws adds the flag of a command that has to do with the random key.
func draws(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String(randomKeyFlag, "", "file of at least 32 random bytes from which allowed functions of charts draw, and with which sealed Secrets are keyed")
	return cmd
}

// fetches adds the flags of a command that fetches charts.
func fetches(cmd *cobra.Command) *cobra.Command {
	fetching.Add(cmd)
	return reads(cmd)
}

// reads adds the flag of a command that reads a source, which may have kustomizations.
func reads(cmd *cobra.Command) *cobra.Command {
	for _, sub := range cmd.Commands() {
		reads(sub)
	}
	if cmd.RunE != nil {
		cmd.Flags().Bool(untrustedFlag, false, "the source may be a stranger's: render charts and kustomizations only behind a sandbox")
	}
	return cmd
}

// isUntrusted reports a source that may be a stranger's, as not every command can be told.
func isUntrusted(cmd *cobra.Command) bool {
	is, err := cmd.Flags().GetBool(untrustedFlag)
	return err == nil && is
}

// valueOf is the value of a flag that not every command has; empty where it has none.
func valueOf(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// newEngine returns what renders Kustomize roots and releases of a source with such a config.
func newEngine(cmd *cobra.Command, config render.ConfigSpec) (render.Engine, error) {
	charts, err := asked(cmd, config).Charts()
	if err != nil {
		return nil, err
	}
	warn := func(missing []worker.Wall) {
		names := make([]string, 0, len(missing))
		for _, w := range missing {
			names = append(names, w.Name)
		}
		warn(cmd, "rendering goes on without some walls of the sandbox (%s); waybill doctor says more", words.First(names, 5))
	}
	o, err := workerOptions(cmd)
	if err != nil {
		return nil, err
	}
	o.Warn = warn
	r := renderer.New(shownRunner{worker.New(o)}, shownCharts{charts})
	dir := valueOf(cmd, cacheFlag)
	if dir == "" {
		return r, nil
	}
	const most = 1 << 30
	disk, err := cache.OpenFolder(filepath.Join(dir, buildVersion()), most) // engines differ between versions
	if err != nil {
		return nil, err
	}
	r.Remember(disk, time.Now)
	return r, nil
}

// workerOptions says how to run children that render, as the flags say. They end with this
// process.
func workerOptions(cmd *cobra.Command) (worker.Options, error) {
	program, err := os.Executable()
	if err != nil {
		return worker.Options{}, fmt.Errorf("looking for this program: %w", err)
	}
	o := worker.Options{Command: []string{program, workerArgument}, Trust: worker.Trusted, Jobs: runtime.GOMAXPROCS(0)}
	if isUntrusted(cmd) {
		o.Trust = worker.Untrusted
	}
	return o, nil
}

// asked says which repositories of charts and images are asked for a source of such a config.
func asked(cmd *cobra.Command, config render.ConfigSpec) fetching.Asked {
	return fetching.Asked{Cmd: cmd, Config: config, Untrusted: isUntrusted(cmd)}
}
