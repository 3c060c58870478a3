package status_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// writer commits what a ledger has whenever it is due, and holds it to the laws.
type writer struct {
	t       *testing.T
	ledger  *status.Ledger
	last    time.Time
	written string // the phases
}

// phases is what of a folder makes a commit due when it is another one.
func phases(t *testing.T, root *files.Folder) string {
	t.Helper()
	s, err := status.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := status.Objects(root, status.Everything)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, s.Verdict.Reason, s.Commit)
	for _, r := range []object.Ref{web, conf, token} {
		if o := objects[r]; o != nil {
			fmt.Fprintln(&b, r, o.Applied.Phase, o.Applied.Commit, o.Applied.Corrected > 0, o.Health.State, o.Health.Reason)
		}
	}
	return b.String()
}

// until commits what is due before a time.
func (w *writer) until(at time.Time) {
	w.t.Helper()
	for due := w.ledger.Due(); !due.IsZero() && due.Before(at); due = w.ledger.Due() {
		if due.Before(w.last) {
			due = w.last
		}
		if !w.last.IsZero() && due.Sub(w.last) < 10*time.Second {
			w.t.Fatalf("two commits lie %s apart", due.Sub(w.last))
		}
		root := w.ledger.Layout()
		now := phases(w.t, root)
		if now == w.written && due.Sub(w.last) < status.Lasting {
			w.t.Fatalf("a commit says what the one before said:\n%s", now)
		}
		again, err := status.Reopen(root, due)
		if err != nil {
			w.t.Fatal(err)
		}
		if again.Layout().ID() != root.ID() {
			w.t.Fatal("what was read is written in another way")
		}
		w.ledger.Wrote(due)
		w.last, w.written = due, now
	}
}

// FuzzLedger has things happen at random, one a byte: what, and how long after the last.
func FuzzLedger(f *testing.F) {
	f.Add([]byte{0, 17, 33, 49, 65, 81, 97, 113, 129, 145})
	f.Add([]byte{0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{0, 5, 0x15, 0x25, 0x35, 7, 0x37, 6, 0x46, 0})
	f.Fuzz(func(t *testing.T, events []byte) {
		w := &writer{t: t, ledger: status.NewLedger("eu-1")}
		w.written = phases(t, w.ledger.Layout())
		at := began
		for _, e := range events {
			happen(w.ledger, e&7, at)
			at = at.Add([]time.Duration{100 * time.Millisecond, time.Second, 4 * time.Second, 11 * time.Second, 29 * time.Second, time.Minute, time.Hour, 40 * 24 * time.Hour}[e>>3&7])
			w.until(at)
		}
		quiet := at
		w.until(at.Add(2 * time.Minute))
		if now := phases(t, w.ledger.Layout()); now != w.written {
			t.Fatalf("two minutes after %s what is written is\n%swant\n%s", quiet, w.written, now)
		}
	})
}

// happen does one of eight things.
func happen(l *status.Ledger, what byte, at time.Time) {
	switch what {
	case 0:
		l.Ended(round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}), at)
	case 1:
		l.Saw(web, inProgress("1 of 2"), at)
	case 2:
		l.Saw(web, healthy(), at)
	case 3:
		l.Ended(round(two, fact{ref: web, verb: apply.Update}, fact{ref: token, err: errors.New("hunter2 is no token")}), at)
	case 4:
		l.Ended(round(one, fact{ref: web}, fact{ref: conf, verb: apply.Correct}), at)
	case 5:
		l.Ended(&status.Round{Trouble: status.Verdict{Reason: status.Unreachable}}, at)
	case 6:
		l.Ended(round(two, fact{ref: conf, refuse: "it is not ours"}), at)
	case 7:
		l.Layout() // a write that fails
	}
}
