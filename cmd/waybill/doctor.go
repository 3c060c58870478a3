package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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
		d := diagnosis{Walls: walls, Untrusted: !errors.Is(tried[0].Err, worker.ErrNoSandbox)}
		if file, _, err := randomFlags(cmd); err != nil {
			return failure(2, err)
		} else if file != "" {
			key, err := readRandomKey(file)
			if err != nil {
				return failure(2, err)
			}
			d.RandomKey = key.Fingerprint()
		}
		if err := emit(cmd.OutOrStdout(), *output, d, d.report); err != nil {
			return failure(2, err)
		}
		if !d.Untrusted {
			return errSilent
		}
		return nil
	}
	return cmd
}

// diagnosis is what doctor finds.
type diagnosis struct {
	Walls     []worker.Wall `json:"walls"`
	Untrusted bool          `json:"untrusted"` // untrusted sources are rendered here
	RandomKey string        `json:"randomKey"` // its fingerprint; empty without one
}

// report prints the walls, then the attempts to get past them, then the random key.
func (d *diagnosis) report(w io.Writer) error {
	rows := make([][]string, 0, len(d.Walls))
	for _, wall := range d.Walls {
		state := "up"
		if !wall.Up {
			state = "MISSING"
		}
		name, try := strings.CutPrefix(wall.Name, "try: ")
		if try && wall.Up {
			state = "refused"
		} else if try {
			state = "POSSIBLE"
		}
		rows = append(rows, []string{name, state, wall.Detail})
	}
	if err := columns(w, []string{"WALL", "STATE", "DETAIL"}, rows); err != nil {
		return err
	}
	verdict := "refused"
	if d.Untrusted {
		verdict = "rendered, behind these walls"
	}
	random := "no random key: charts draw nothing, and whoever reads a branch can test guesses at its sealed Secrets;\nmake one with head -c 32 /dev/urandom > FILE, chmod 600 FILE, and give it with --" + randomKeyFlag
	if d.RandomKey != "" {
		random = "the random key is " + d.RandomKey
	}
	_, err := fmt.Fprintf(w, "\nuntrusted sources are %s\n%s\n", verdict, random)
	return err
}
