// Package fetching holds the flags that say which repositories of charts and images a command asks, and as whom.
package fetching

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/registry"
)

const (
	hostsFlag    = "chart-host"
	privateFlag  = "chart-private"
	accountsFlag = "registry-credentials"
	accountsOld  = "chart-credentials" // what it was called
)

// Add adds the flags to a command.
func Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArray(hostsFlag, nil, "host that charts may come from, as https://charts.example.com; repeat for more (default: as waybill.yaml says, else any public host over https)")
	flags.StringArray(privateFlag, nil, "range of private addresses that a --chart-host may have, as 10.0.0.0/8; repeat for more (default: as waybill.yaml says)")
	flags.String(accountsFlag, "", "YAML file with a list of {url, username, password, token, tokenService} for repositories of charts and images")
	flags.String(accountsOld, "", "")
	_ = flags.MarkDeprecated(accountsOld, "it is called --"+accountsFlag+" now") // it fails for a flag that is not there
	cmd.MarkFlagsMutuallyExclusive(accountsFlag, accountsOld)
}

// Asked says what is asked: as the flags of a command say, which may lack them, and where they say nothing as the config does.
type Asked struct {
	Cmd    *cobra.Command
	Config render.ConfigSpec
	// Untrusted says that the config may be a stranger's, and does not count.
	Untrusted bool
}

// Charts returns the store of charts.
func (a Asked) Charts() (*chart.Store, error) {
	o := chart.Options{Dir: cacheDir("charts"), Now: time.Now, Allow: a.hosts()}
	var err error
	if o.Private, o.Credentials, err = a.reached(); err != nil {
		return nil, err
	}
	return chart.New(o)
}

// Versions returns what asks registries which versions there are, of images and, made anew for each look, of charts: hosts that
// charts may come from and that are named, and updates.hosts, and no others.
func (a Asked) Versions() (*registry.Client, func() *chart.Catalog, error) {
	allow := slices.Clone(a.hosts())
	if !a.Untrusted {
		allow = append(allow, a.Config.Updates.Hosts...)
	}
	private, credentials, err := a.reached()
	if err != nil {
		return nil, nil, err
	}
	every, err := a.Config.Updates.Limits.Pause()
	if err != nil {
		return nil, nil, err
	}
	client, err := registry.New(registry.Options{Allow: allow, Private: private, Credentials: credentials, PerHost: every, Now: time.Now})
	if err != nil {
		return nil, nil, err
	}
	for i, h := range allow {
		if !strings.Contains(h, "://") {
			allow[i] = "https://" + h
		}
	}
	store, err := chart.New(chart.Options{
		Dir: cacheDir("charts"), Now: time.Now, Allow: allow, Listed: true, Private: private, Credentials: credentials,
	})
	return client, func() *chart.Catalog { return &chart.Catalog{Store: store, Registry: client} }, err
}

// hosts are those that charts may come from.
func (a Asked) hosts() []string {
	if written := a.values(hostsFlag); len(written) > 0 || a.Untrusted {
		return written
	}
	return a.Config.Charts.Hosts
}

// reached are the private addresses that hosts may have, and the credentials for hosts.
func (a Asked) reached() (private []netip.Prefix, all []egress.Credential, err error) {
	written := a.values(privateFlag)
	if len(written) == 0 && !a.Untrusted {
		written = a.Config.Charts.Private
	}
	for _, p := range written {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, nil, fmt.Errorf("reading --%s: %w", privateFlag, err)
		}
		private = append(private, prefix)
	}
	file := cmp.Or(a.value(accountsFlag), a.value(accountsOld))
	if file == "" {
		return private, nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("reading --%s: %w", accountsFlag, err)
	}
	if err := sigsyaml.UnmarshalStrict(data, &all); err != nil {
		return nil, nil, fmt.Errorf("reading --%s: %s is no list of credentials", accountsFlag, file) // the error would quote it
	}
	return private, all, nil
}

// value is the value of a flag; empty where the command has none.
func (a Asked) value(name string) string {
	if f := a.Cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// values are the values of a flag.
func (a Asked) values(name string) []string {
	values, err := a.Cmd.Flags().GetStringArray(name)
	if err != nil {
		return nil // it has none
	}
	return values
}

// cacheDir is a folder of this program's in the user's cache.
func cacheDir(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "waybill", name)
}
