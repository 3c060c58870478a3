package githost_test

import (
	"io"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/reconciler/report/githost"
	"github.com/waybill-dev/waybill/render/exchange"
)

// TestWhatFollows says by what books go, and what is left.
func TestWhatFollows(t *testing.T) {
	taken := []probe.Try{{Ref: probe.Refs + "x", Do: probe.Write}}
	for want, h := range map[string]probe.Host{
		"go by refs (services.bus: refs":                       {Tries: taken, Bus: exchange.Refs, Unasked: true},
		"go by branches, because other refs are refused":       {Tries: taken, Bus: exchange.Branch, Unasked: true},
		"need services.bus: branch in waybill.yaml":            {Tries: taken, Bus: exchange.Branch},
		"no books of endpoints and no heartbeats go there":     {Tries: taken},
		"refs/waybill/doctor/x is there still, and yours to d": {Bus: exchange.Refs, Tries: []probe.Try{{Ref: probe.Refs + "x", Do: probe.Delete, Why: "deletion prohibited"}}},
	} {
		var b strings.Builder
		if err := githost.Write(&b, &h); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v\n%s\nlacks %q", err, b.String(), want)
		}
	}
}

// Each try has a line, with why it was refused, and what could not be deleted again is said, and nothing else of what was refused.
func TestWhatWasTried(t *testing.T) {
	h := probe.Host{Repository: "https://git.example/status.git", Bus: exchange.Refs, Tries: []probe.Try{
		{Ref: "refs/a", Do: probe.Write},
		{Ref: "refs/a", Do: probe.Replace, Why: "only once"},
		{Ref: "refs/a", Do: probe.Delete},
		{Ref: "refs/b", Do: probe.Delete, Why: "deletion prohibited"},
	}}
	const want = `
https://git.example/status.git
REF      DO        STATE     DETAIL
refs/a   write     done      -
refs/a   replace   REFUSED   only once
refs/a   delete    done      -
refs/b   delete    REFUSED   deletion prohibited
refs/b is there still, and yours to delete
books of endpoints and heartbeats go by refs (services.bus: refs, which is the default)
`
	var b strings.Builder
	if err := githost.Write(&b, &h); err != nil || b.String() != want {
		t.Errorf("%v: it prints\n%s", err, b.String())
	}
	h.Bus = "" // whatever else it is
	b.Reset()
	if err := githost.Write(&b, &h); err != nil || !strings.Contains(b.String(), "no books of endpoints and no heartbeats go there") {
		t.Errorf("%v: by no bus it prints\n%s", err, b.String())
	}
	for room := range 3 {
		if err := githost.Write(&narrow{room: room}, &h); err == nil {
			t.Errorf("it is written where there is room for %d writes", room)
		}
	}
}

// narrow takes so many writes.
type narrow struct{ room int }

func (n *narrow) Write(p []byte) (int, error) {
	if n.room--; n.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}
