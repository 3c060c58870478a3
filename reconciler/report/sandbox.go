package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/reconciler/report/githost"
	"github.com/waybill-dev/waybill/render/worker"
)

// diagnosis is what doctor prints for programs.
type diagnosis struct {
	Walls     []worker.Wall `json:"walls"`
	Untrusted bool          `json:"untrusted"` // untrusted sources are rendered here
	RandomKey string        `json:"randomKey"` // its fingerprint; empty without one
	Git       *probe.Host   `json:"git,omitempty"`
}

// Sandbox is what doctor prints: the walls, then the attempts to get past them, whether
// untrusted sources are rendered behind them, the fingerprint of the random key, and what a Git host lets be done; nil for none.
func Sandbox(walls []worker.Wall, untrusted bool, randomKey string, host *probe.Host) Report {
	d := diagnosis{Walls: walls, Untrusted: untrusted, RandomKey: randomKey, Git: host}
	return Report{value: d, text: d.text}
}

func (d *diagnosis) text(w io.Writer) error {
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
	random := "no random key: charts draw nothing, and whoever reads a branch can test guesses at its sealed Secrets;\nmake one with head -c 32 /dev/urandom > FILE, chmod 600 FILE, and give it with --random-key-file"
	if d.RandomKey != "" {
		random = "the random key is " + d.RandomKey
	}
	if _, err := fmt.Fprintf(w, "\nuntrusted sources are %s\n%s\n", verdict, random); err != nil || d.Git == nil {
		return err
	}
	return githost.Write(w, d.Git)
}
