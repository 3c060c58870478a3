package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/git"
)

func doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say which walls the sandbox of charts and kustomizations has on this host", Args: cobra.NoArgs,
		Long: `Doctor starts a worker as rendering does and has it try what it must not be able
to do: read files and environments, execute, open connections. Where an attempt
succeeds, or walls are missing, untrusted sources are refused. It also reads the
file with the random key, if one is given. With --repository it writes, reads,
replaces and deletes a ref below refs/waybill/doctor/ there, and a branch below
waybill/doctor/ if that cannot be done: so it says whether books of endpoints
and heartbeats go by refs or by branches. See docs/services.md.`,
		Example: "  waybill doctor --repository https://git.example.com/fleet/status --username robot --password-file token",
	}
	output := outputFlag(cmd)
	at := cmd.Flags().String("repository", "", "URL of a repository to which books of endpoints or heartbeats are to be written, as agents write to their --status-repository")
	auth := credentialSet(cmd, "", "WAYBILL_", "that repository")
	plain := cmd.Flags().Bool("plain-http", false, "send passwords over http, too, where others can read them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := workerOptions(cmd)
		if err != nil {
			return failure(2, err)
		}
		o.Trust = worker.Trusted // it is asked what there is, not to insist on it
		walls, err := worker.Walls(cmd.Context(), o)
		if err != nil {
			return failure(2, err)
		}
		o.Trust = worker.Untrusted
		tried := worker.New(o).Do(cmd.Context(), []worker.Job{{Name: "a try", Input: []byte("{}")}})
		untrusted, fingerprint := !errors.Is(tried[0].Err, worker.ErrNoSandbox), ""
		if file := valueOf(cmd, randomKeyFlag); file != "" {
			key, err := readRandomKey(file)
			if err != nil {
				return failure(2, err)
			}
			fingerprint = key.Fingerprint()
		}
		var host *probe.Host
		if *at != "" {
			if host, err = probed(cmd.Context(), *at, auth, *plain); err != nil {
				return failure(2, err)
			}
		}
		if err := show(cmd, output, report.Sandbox(walls, untrusted, fingerprint, host)); err != nil {
			return failure(2, err)
		}
		if !untrusted || host != nil && host.Bus == "" {
			return errSilent
		}
		return nil
	}
	return cmd
}

// probed says what the host of a repository lets be done with refs.
func probed(ctx context.Context, at string, auth func() (git.Auth, error), plain bool) (*probe.Host, error) {
	a, err := auth()
	if err != nil {
		return nil, err
	}
	a.PlainHTTP = plain
	repo, err := open(ctx, at, forNamed(a, at))
	if err != nil {
		return nil, err
	}
	host, err := probe.Of(ctx, git.LooseOf(repo), strings.ToLower(rand.Text()), time.Now())
	return &host, err
}
