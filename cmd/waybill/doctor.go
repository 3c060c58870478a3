package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/worker"
)

func doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say which walls the sandbox of charts and kustomizations has on this host", Args: cobra.NoArgs,
		Long: `Doctor starts a worker as rendering does and has it try what it must not be able
to do: read files and environments, execute, open connections. Where an attempt
succeeds, or walls are missing, untrusted sources are refused. It also reads the
file with the random key, if one is given.`,
	}
	output := outputFlag(cmd)
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
		if err := show(cmd, output, report.Sandbox(walls, untrusted, fingerprint)); err != nil {
			return failure(2, err)
		}
		if !untrusted {
			return errSilent
		}
		return nil
	}
	return cmd
}
