// Package githost writes what doctor prints of a Git host.
package githost

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/render/exchange"
)

// Write writes what a Git host lets be done, and by what books of endpoints go there.
func Write(w io.Writer, h *probe.Host) error {
	fmt.Fprintf(w, "\n%s\n", h.Repository)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "REF\tDO\tSTATE\tDETAIL")
	for _, try := range h.Tries {
		state := "done"
		if try.Why != "" {
			state = "REFUSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", try.Ref, try.Do, state, cmp.Or(try.Why, "-"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, try := range h.Tries {
		if try.Do == probe.Delete && try.Why != "" {
			fmt.Fprintf(w, "%s is there still, and yours to delete\n", try.Ref)
		}
	}
	_, err := fmt.Fprintln(w, verdict(h))
	return err
}

func verdict(h *probe.Host) string {
	switch {
	case h.Bus == exchange.Refs:
		return "books of endpoints and heartbeats go by refs (services.bus: refs, which is the default)"
	case h.Bus == exchange.Branch && h.Unasked:
		return "books of endpoints and heartbeats go by branches, because other refs are refused; services.bus: branch has books do so from the start"
	case h.Bus == exchange.Branch:
		return "books of endpoints need services.bus: branch in waybill.yaml: other refs are taken, and cannot be used"
	}
	return "no books of endpoints and no heartbeats go there: this credential may not do with any ref what they need"
}
