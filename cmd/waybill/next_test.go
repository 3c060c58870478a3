package main

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/sources/git"
)

// What publish says to type next has no URL of the command line in it, in which there may be a password.
func TestTheNextCommandHasNoPassword(t *testing.T) {
	const secret = "https://me:hunter2@git.example.com/fleet.git"
	var begun, later reconciler.Result
	begun.Plan.Config.Publish.BranchPrefix, later.Plan.Config.Publish.BranchPrefix = "waybill/cluster/", "waybill/cluster/"
	begun.Updates = []git.Update{{Branch: "waybill/cluster/eu"}}
	later.Updates = []git.Update{{Branch: "waybill/state"}}
	for name, res := range map[string]*reconciler.Result{"waybill get flux": &begun, "waybill status": &later} {
		for _, w := range []repositories{{path: secret}, {path: "src", to: secret}, {path: secret, to: secret}} {
			said := w.next(res, false)
			if strings.Contains(said, "hunter2") || !strings.Contains(said, name) || !strings.Contains(said, " URL") {
				t.Errorf("of %q to %q it says %q", w.path, w.to, said)
			}
		}
	}
	if said := (repositories{path: "src", to: "bare.git"}).next(&later, false); said != "\nnext: waybill status -C src --to bare.git\n" {
		t.Errorf("of what is no URL it says %q", said)
	}
}
