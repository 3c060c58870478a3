package refs_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/sources/git"
)

// host is a Git host, and a clock.
type host struct {
	*testing.T
	refs.Host

	now      time.Time
	others   error // comes of writing to a ref that is no branch
	branches error // comes of writing to a branch
	log      strings.Builder
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{T: t, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	h.What, h.Now, h.Log = "endpoints", func() time.Time { return h.now }, slog.New(slog.NewTextHandler(&h.log, nil))
	return h
}

// refuses has the host take no other refs than branches from now on, in its words.
func (h *host) refuses(why string) {
	h.others = &git.RefusedError{Ref: "refs/waybill/eu", Why: why}
}

// writes writes, and says where that was tried.
func (h *host) writes() (tried string, err error) {
	err = h.Write(h.Context(), func() error {
		tried += "other "
		return h.others
	}, func() error {
		tried += "branch "
		return h.branches
	})
	return strings.TrimSpace(tried), err
}

// goes fails unless writing goes a way, and well.
func (h *host) goes(want string) {
	h.Helper()
	if tried, err := h.writes(); err != nil || tried != want {
		h.Errorf("at %s it tries %q, %v; want %q", h.now.Format(time.TimeOnly), tried, err, want)
	}
}

// said fails unless a text was logged so many times.
func (h *host) said(text string, times int) {
	h.Helper()
	if n := strings.Count(h.log.String(), text); n != times {
		h.Errorf("%q is said %d times, want %d:\n%s", text, n, times, h.log.String())
	}
}

// TestWhereAHostTakesNoOtherRefs branches are written until others are taken again.
func TestWhereAHostTakesNoOtherRefs(t *testing.T) {
	h := newHost(t)
	h.goes("other")
	h.refuses("pre-receive hook declined")
	h.goes("other branch")
	h.others = nil
	h.goes("branch")
	h.said("of=endpoints ref=refs/waybill/eu", 1)
	h.said("again=2026-11-23T12:01:00", 1)
	h.now = h.now.Add(time.Minute)
	h.goes("other")
	h.goes("other")
	h.said("taken again", 1)
}

// TestWhatFailsOtherwise is tried again as it was: nobody answers, or the host refuses branches, too.
func TestWhatFailsOtherwise(t *testing.T) {
	h := newHost(t)
	away := errors.New("nobody answers")
	h.others = away
	if tried, err := h.writes(); !errors.Is(err, away) || tried != "other" {
		t.Errorf("it tries %q, %v", tried, err)
	}
	h.refuses("there is no room")
	h.branches = &git.RefusedError{Ref: "refs/heads/waybill/eu", Why: "nor here"}
	_, err := h.writes()
	for _, text := range []string{"there is no room", "nor here"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("it does not say %q: %v", text, err)
		}
	}
	h.others = nil
	h.goes("other")
	h.refuses("pre-receive hook declined")
	h.branches = nil
	h.goes("other branch")
	h.now = h.now.Add(time.Minute)
	h.others = away
	if _, err := h.writes(); !errors.Is(err, away) {
		t.Errorf("where nobody answers: %v", err)
	}
	h.said("taken again", 0)
}

// TestWhenItIsTriedAgain is soon after a refusal that may be one of that moment, and more and more seldom; and after one that is about what
// the ref is, in an hour.
func TestWhenItIsTriedAgain(t *testing.T) {
	const hook, hidden = "eu-1: pre-receive hook declined", "refs/waybill/heartbeat/eu-1: deny updating a hidden ref"
	for why, want := range map[string][]time.Duration{
		hook:               {time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour},
		hidden:             {time.Hour, time.Hour},
		"x: funny refname": {time.Hour},
	} {
		h := newHost(t)
		h.refuses(why)
		h.goes("other branch")
		for _, wait := range want {
			h.now = h.now.Add(wait - 1)
			h.goes("branch")
			h.now = h.now.Add(1)
			h.goes("other branch")
		}
		h.said("a branch is written", 1)
	}
}
