package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

func updateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "update [PATH] [CHART...]", Short: "Pin the charts of repositories in " + lock.FileName, Args: cobra.ArbitraryArgs,
		Long: `Update asks the repository of each chart that the source names for the newest
version that fits, and writes version and digest to ` + lock.FileName + `. With names of
charts only those are asked for; the others stay as they are. What the source no
longer names is taken out.`,
	}
	check := cmd.Flags().Bool("check", false, "write nothing, and say by the exit status whether the file would change")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		u := updater{cmd: cmd, path: sourcePath(cmd), dry: *check}
		if len(args) > 0 {
			u.only = args
		}
		changed, err := u.run()
		if err == nil {
			err = u.failure()
		}
		if err == nil && changed && *check {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// updater writes a lock file anew.
type updater struct {
	cmd   *cobra.Command
	path  string
	only  []string // names of charts; nil for all
	dry   bool     // write nothing
	store *chart.Store

	failed []failedChart
}

// failedChart is a chart that could not be asked for, and why.
type failedChart struct {
	use planner.ChartUse
	err error
}

// failure says which charts could not be locked, by the releases that name them; nil for none.
func (u *updater) failure() error {
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

// run reports whether the file changes.
func (u *updater) run() (changed bool, err error) {
	s, err := standing(u.path)
	if err != nil {
		return false, err
	}
	config, err := configOf(s)
	if err != nil {
		return false, err
	}
	if u.store, err = newCharts(u.cmd, config); err != nil {
		return false, err
	}
	r := &reconciler.Reconciler{Now: time.Now}
	if r.Engine, err = newEngine(u.cmd, config); err != nil {
		return false, err
	}
	refs, unread, err := r.Planner().Charts(u.cmd.Context(), s)
	if err != nil {
		return false, err
	}
	file := filepath.Join(u.path, lock.FileName)
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	old, err := lock.Parse(before)
	if err != nil && before != nil && u.only != nil {
		return false, fmt.Errorf("reading %s: %w; without names of charts it is written anew", file, err)
	}
	old, kept := u.split(old, refs, unread)
	next, pins, err := u.resolve(refs, old)
	if err == nil && len(pins) > 0 {
		err = report.Pins(pins).Write(u.cmd.OutOrStdout(), report.Table)
	}
	if err != nil {
		return false, err
	}
	after := next.With(kept...).Encode()
	if len(u.failed) > 0 && (u.dry || len(next.Entries()) == 0 || bytes.Equal(before, after)) {
		return false, nil // why is said
	}
	if len(refs) == 0 && before == nil || bytes.Equal(before, after) {
		fmt.Fprintf(u.cmd.OutOrStdout(), "%s is up to date: %d of the source's charts are of repositories\n", lock.FileName, len(refs))
		return false, nil
	}
	if u.dry {
		return true, nil
	}
	return true, os.WriteFile(file, after, 0o644)
}

// split takes the entries out of a lock that nothing names, if part of the source
// cannot be read or is suspended: it may name them, so they are kept.
func (u *updater) split(old lock.Lock, refs []planner.ChartUse, unread []diag.Diagnostic) (named lock.Lock, kept []lock.Entry) {
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
			fmt.Fprintln(u.cmd.ErrOrStderr(), d)
		}
		fmt.Fprintf(u.cmd.ErrOrStderr(), "kept in %s: %s that nothing else names, for what is said above may name them\n", lock.FileName, words.Count(len(kept), "chart"))
	}
	return lock.Lock{}.With(rest...), kept
}

// resolve asks for each reference, and says what became of it.
func (u *updater) resolve(refs []planner.ChartUse, old lock.Lock) (lock.Lock, []report.Pin, error) {
	for _, name := range u.only {
		if !slices.ContainsFunc(refs, func(r planner.ChartUse) bool { return r.Name == name }) {
			return lock.Lock{}, nil, fmt.Errorf("the source names no chart %q of a repository", name)
		}
	}
	var next lock.Lock
	var pins []report.Pin
	for _, use := range refs {
		ref := use.Ref
		was, known := old.Lookup(ref)
		if u.only != nil && !slices.Contains(u.only, ref.Name) {
			if known {
				next = next.With(was)
			}
			continue
		}
		_, end := terminal.Doing(u.cmd.Context(), 0, "looking for %s", ref)
		is, err := u.store.Resolve(u.cmd.Context(), ref)
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
