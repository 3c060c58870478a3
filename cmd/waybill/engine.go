package main

import (
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
	"github.com/waybill-dev/waybill/sources/words"
)

// workerArgument, alone on the command line, makes this program a worker's child. It is
// nothing that people type.
const workerArgument = "render-worker"

// engineFlags adds the flags that every command has which renders.
func engineFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringArray("chart-host", nil, "host that charts may come from, as https://charts.example.com; repeat for more (default: any public host over https)")
	flags.StringArray("chart-private", nil, "range of private addresses that a --chart-host may have, as 10.0.0.0/8; repeat for more")
	flags.String("render-cache", "", "folder that remembers what charts and kustomizations rendered to, up to 1 GiB; losing it costs time only")
	flags.Bool("untrusted", false, "the source may be a stranger's: render charts and kustomizations only behind a sandbox")
	flags.String(randomKeyFlag, "", "file of at least 32 random bytes from which allowed functions of charts draw, and with which sealed Secrets are keyed")
	flags.String("chart-credentials", "", "YAML file with a list of {url, username, password, token, tokenService} for chart repositories")
}

// newEngine returns what renders Kustomize roots and releases.
func newEngine(cmd *cobra.Command) (render.Engine, error) {
	charts, err := newCharts(cmd)
	if err != nil {
		return nil, err
	}
	warn := func(missing []worker.Wall) {
		names := make([]string, 0, len(missing))
		for _, w := range missing {
			names = append(names, w.Name)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: rendering goes on without some walls of the sandbox (%s); waybill doctor says more\n", words.First(names, 5))
	}
	o, err := workerOptions(cmd)
	if err != nil {
		return nil, err
	}
	o.Warn = warn
	r := renderer.New(worker.New(o), charts)
	dir, err := cmd.Root().PersistentFlags().GetString("render-cache")
	if err != nil || dir == "" {
		return r, err
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
	untrusted, err := cmd.Root().PersistentFlags().GetBool("untrusted")
	if err != nil {
		return worker.Options{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return worker.Options{}, fmt.Errorf("looking for this program: %w", err)
	}
	o := worker.Options{Command: []string{program, workerArgument}, Trust: worker.Trusted, Jobs: runtime.GOMAXPROCS(0)}
	if untrusted {
		o.Trust = worker.Untrusted
	}
	return o, nil
}

// newCharts returns the store of charts, as the flags say.
func newCharts(cmd *cobra.Command) (*chart.Store, error) {
	flags := cmd.Root().PersistentFlags()
	hosts, err := flags.GetStringArray("chart-host")
	if err != nil {
		return nil, err
	}
	private, err := flags.GetStringArray("chart-private")
	if err != nil {
		return nil, err
	}
	file, err := flags.GetString("chart-credentials")
	if err != nil {
		return nil, err
	}
	o := chart.Options{Dir: cacheDir("charts"), Now: time.Now, Allow: hosts}
	for _, p := range private {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, fmt.Errorf("reading --chart-private: %w", err)
		}
		o.Private = append(o.Private, prefix)
	}
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading --chart-credentials: %w", err)
		}
		if err := sigsyaml.UnmarshalStrict(data, &o.Credentials); err != nil {
			return nil, fmt.Errorf("reading --chart-credentials: %s is no list of credentials", file) // the error would quote it
		}
	}
	return chart.New(o)
}

// cacheDir is a folder of this program's in the user's cache.
func cacheDir(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "waybill", name)
}
