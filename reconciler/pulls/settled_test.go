package pulls_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// TestAForgeThatDoesNotTellWhatWasMerged: that is an error, the command stays, and at the next look the forge is asked for all again.
func TestAForgeThatDoesNotTellWhatWasMerged(t *testing.T) {
	h := newHeld(t)
	h.fake.SayAs(forgetest.Writer, h.prune())
	h.looks(t)
	h.merges(t)
	h.fake.Fail = func(method string) error {
		if method == "PullRequest" {
			return errors.New("the forge is away")
		}
		return nil
	}
	h.now = h.now.Add(time.Hour)
	for range 2 {
		if err := h.handler.Look(t.Context()); err == nil || err.Error() != "pull request 7: the forge is away" {
			t.Errorf("it says %v", err)
		}
		if all := h.orders(t); len(all) != 1 || all[0].Merged != "" {
			t.Errorf("there are %+v", all)
		}
	}
	h.fake.Fail = nil
	h.looks(t)
	if all := h.orders(t); len(all) != 1 || all[0].Merged != h.fake.Pull().Merged || all[0].Merged == "" {
		t.Errorf("then there are %+v", all)
	}
}

// TestWhereAllWallsStandNothingIsSaidOfThem, though it is asked which are missing.
func TestWhereAllWallsStandNothingIsSaidOfThem(t *testing.T) {
	p := newRequested(t, "")
	asked := 0
	p.previewer.Missing = func(context.Context) []string {
		asked++
		return nil
	}
	p.push(false, to("two"))
	if said := p.looks(); strings.Contains(said, "sandbox") || !strings.Contains(said, "ConfigMap") || asked != 1 {
		t.Errorf("asked %d times, it says\n%s", asked, said)
	}
}
