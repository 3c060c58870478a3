// Package updating is what waybill update does: it locks charts, and says what new versions of images and charts there are, or
// proposes them.
package updating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// Charts writes a lock file anew.
type Charts struct {
	Out, Err io.Writer
	Path     string           // of the source
	Source   sources.Snapshot // as it stands
	Only     []string         // names of charts; nil for all
	Dry      bool             // write nothing
	// Judged leaves alone what is locked of ranges, and of tags that move: whether something newer is to be taken, Versions says.
	Judged  bool
	Planner *planner.Planner
	Store   *chart.Store

	failed []failedChart
}

// failedChart is a chart that could not be asked for, and why.
type failedChart struct {
	use planner.ChartUse
	err error
}

// Failure says which charts could not be locked, by the releases that name them; nil for none.
func (u *Charts) Failure() error {
	if len(u.failed) == 0 {
		return nil
	}
	var b strings.Builder
	for _, f := range u.failed {
		fmt.Fprintf(&b, "\n  %s: %v", f.use.Ref, f.err)
		for _, by := range f.use.By {
			fmt.Fprintf(&b, "\n    %s: %s", by.Pos, by.What)
		}
	}
	return fmt.Errorf("%s could not be locked, and what was locked of them before stays:%s", words.Count(len(u.failed), "chart"), b.String())
}

// Run reports whether the file changes.
func (u *Charts) Run(ctx context.Context) (changed bool, err error) {
	refs, unread, err := u.Planner.Charts(ctx, u.Source)
	if err != nil {
		return false, err
	}
	file := filepath.Join(u.Path, lock.FileName)
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	old, err := lock.Parse(before)
	if err != nil && before != nil && u.Only != nil {
		return false, fmt.Errorf("reading %s: %w; without names of charts it is written anew", file, err)
	}
	old, kept := u.split(old, refs, unread)
	next, pins, err := u.resolve(ctx, refs, old)
	if err == nil && len(pins) > 0 {
		err = report.Pins(pins).Write(u.Out, report.Table)
	}
	if err != nil {
		return false, err
	}
	after := next.With(kept...).Encode()
	if len(u.failed) > 0 && (u.Dry || len(next.Entries()) == 0 || bytes.Equal(before, after)) {
		return false, nil // why is said
	}
	if len(refs) == 0 && before == nil || bytes.Equal(before, after) {
		fmt.Fprintf(u.Out, "%s is up to date: %d of the source's charts are of repositories\n", lock.FileName, len(refs))
		return false, nil
	}
	if u.Dry {
		return true, nil
	}
	return true, os.WriteFile(file, after, 0o644)
}

// split takes the entries out of a lock that nothing names, if part of the source
// cannot be read or is suspended: it may name them, so they are kept.
func (u *Charts) split(old lock.Lock, refs []planner.ChartUse, unread []diag.Diagnostic) (named lock.Lock, kept []lock.Entry) {
	if len(unread) == 0 {
		return old, nil
	}
	var rest []lock.Entry
	for _, e := range old.Entries() {
		if slices.ContainsFunc(refs, func(r planner.ChartUse) bool { is, ok := old.Lookup(r.Ref); return ok && is == e }) {
			rest = append(rest, e)
		} else {
			kept = append(kept, e)
		}
	}
	if len(kept) > 0 {
		for _, d := range unread {
			fmt.Fprintln(u.Err, d)
		}
		fmt.Fprintf(u.Err, "kept in %s: %s that nothing else names, for what is said above may name them\n", lock.FileName, words.Count(len(kept), "chart"))
	}
	return lock.Lock{}.With(rest...), kept
}

// asks reports whether a reference, which may be locked already, is asked for.
func (u *Charts) asks(ref lock.Ref, locked bool) bool {
	if u.Judged {
		return !locked || !updates.Subscribes(ref)
	}
	return u.Only == nil || slices.Contains(u.Only, ref.Name)
}

// resolve asks for each reference, and says what became of it.
func (u *Charts) resolve(ctx context.Context, refs []planner.ChartUse, old lock.Lock) (lock.Lock, []report.Pin, error) {
	for _, name := range u.Only {
		if !slices.ContainsFunc(refs, func(r planner.ChartUse) bool { return r.Name == name }) {
			return lock.Lock{}, nil, fmt.Errorf("the source names no chart %q of a repository", name)
		}
	}
	var next lock.Lock
	var pins []report.Pin
	for _, use := range refs {
		ref := use.Ref
		was, known := old.Lookup(ref)
		if !u.asks(ref, known) {
			if known {
				next = next.With(was)
			}
			continue
		}
		_, end := terminal.Doing(ctx, 0, "looking for %s", ref)
		is, err := u.Store.Resolve(ctx, ref)
		end()
		if err != nil {
			u.failed = append(u.failed, failedChart{use, err})
			if known {
				next = next.With(was)
			}
			continue
		}
		next = next.With(is)
		if is != was {
			pins = append(pins, report.Pin{Ref: ref, Was: was, Is: is})
		}
	}
	for _, was := range old.Entries() {
		if _, still := next.Lookup(was.Ref); !still {
			pins = append(pins, report.Pin{Ref: was.Ref, Was: was})
		}
	}
	return next, pins, nil
}
