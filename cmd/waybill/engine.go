package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/words"
)

// workerArgument, alone on the command line, makes this program a worker's child. It is
// nothing that people type.
const workerArgument = "render-worker"

const (
	untrustedFlag = "untrusted"
	cacheFlag     = "render-cache"
	hostsFlag     = "chart-host"
	privateFlag   = "chart-private"
	accountsFlag  = "registry-credentials"
	accountsOld   = "chart-credentials" // what it was called
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
	flags := cmd.Flags()
	flags.StringArray(hostsFlag, nil, "host that charts may come from, as https://charts.example.com; repeat for more (default: as waybill.yaml says, else any public host over https)")
	flags.StringArray(privateFlag, nil, "range of private addresses that a --chart-host may have, as 10.0.0.0/8; repeat for more (default: as waybill.yaml says)")
	flags.String(accountsFlag, "", "YAML file with a list of {url, username, password, token, tokenService} for repositories of charts and images")
	flags.String(accountsOld, "", "")
	_ = flags.MarkDeprecated(accountsOld, "it is called --"+accountsFlag+" now") // it fails for a flag that is not there
	cmd.MarkFlagsMutuallyExclusive(accountsFlag, accountsOld)
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

// valuesOf are the values of a flag that not every command has.
func valuesOf(cmd *cobra.Command, name string) []string {
	values, err := cmd.Flags().GetStringArray(name)
	if err != nil {
		return nil // it has none
	}
	return values
}

// newEngine returns what renders Kustomize roots and releases of a source with such a config.
func newEngine(cmd *cobra.Command, config render.ConfigSpec) (render.Engine, error) {
	charts, err := newCharts(cmd, config)
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

// newCharts returns the store of charts, as the flags say, and where they say nothing, as the
// config does, unless that may be a stranger's.
func newCharts(cmd *cobra.Command, config render.ConfigSpec) (*chart.Store, error) {
	allowed, private := valuesOf(cmd, hostsFlag), valuesOf(cmd, privateFlag)
	if !isUntrusted(cmd) {
		if len(allowed) == 0 {
			allowed = config.Charts.Hosts
		}
		if len(private) == 0 {
			private = config.Charts.Private
		}
	}
	o := chart.Options{Dir: cacheDir("charts"), Now: time.Now, Allow: allowed}
	for _, p := range private {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, fmt.Errorf("reading --%s: %w", privateFlag, err)
		}
		o.Private = append(o.Private, prefix)
	}
	var err error
	if o.Credentials, err = credentials(cmd); err != nil {
		return nil, err
	}
	return chart.New(o)
}

// credentials are those of the flag, for whatever asks repositories.
func credentials(cmd *cobra.Command) (all []egress.Credential, err error) {
	file := cmp.Or(valueOf(cmd, accountsFlag), valueOf(cmd, accountsOld))
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading --%s: %w", accountsFlag, err)
	}
	if err := sigsyaml.UnmarshalStrict(data, &all); err != nil {
		return nil, fmt.Errorf("reading --%s: %s is no list of credentials", accountsFlag, file) // the error would quote it
	}
	return all, nil
}

// cacheDir is a folder of this program's in the user's cache.
func cacheDir(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "waybill", name)
}
