package scenario

import (
	"strings"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/said"
)

// trailers are the last paragraph of the message of the commit of a step: its commands about roll-outs.
func (st *step) trailers() (lines []string) {
	for _, c := range st.commands {
		if f := strings.Fields(c); len(f) > 3 && f[0] == "trailer" {
			lines = append(lines, commands.RolloutTrailer+": "+strings.Join(f[2:], " "))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// signs is who signs the commit of a step.
func (st *step) signs() git.Signer {
	for _, c := range st.commands {
		if f := strings.Fields(c); len(f) > 1 && f[0] == "trailer" {
			return said.Signer(f[1])
		}
	}
	return nil
}
