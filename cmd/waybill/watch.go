package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/pause"
)

// watchEvery is how often the directory is looked at. Asking for its files is cheap, and works on
// every file system.
const watchEvery = 300 * time.Millisecond

// watched shows what changes, and shows it again whenever a file changes, until it is interrupted.
// What cannot be read is said, and looked at again when it changes.
func (d *differ) watched(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd.SetContext(ctx)
	seen, err := fingerprint(d.where.path)
	if err != nil {
		return err
	}
	r, s, err := d.where.compared(d.question.Base, "")
	if err != nil {
		return err
	}
	r.Cache = cache.Memory()
	source, _ := r.Source.(*git.Repo)
	d.question.Head = s
	for {
		d.redraw(cmd, r)
		if seen, err = nextState(ctx, d.where.path, seen); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if d.question.Head, err = d.where.snapshot(source, ""); err != nil {
			return err
		}
	}
}

// redraw shows what changes on an empty screen.
func (d *differ) redraw(cmd *cobra.Command, r *reconciler.Reconciler) {
	if terminal.HasColours(cmd.OutOrStdout()) {
		fmt.Fprint(terminal.Uncleaned(cmd.OutOrStdout()), "\x1b[H\x1b[2J")
	}
	exit, ok := errors.AsType[*exitError](d.answer(cmd, r))
	if ok && exit.err != nil && cmd.Context().Err() == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "error:", exit.err)
	}
}

// nextState waits until a directory is another than was seen.
func nextState(ctx context.Context, dir string, seen [32]byte) ([32]byte, error) {
	for {
		if pause.For(ctx, watchEvery) != nil {
			return seen, nil // it is interrupted
		}
		now, err := fingerprint(dir)
		if err != nil || now != seen {
			return now, err
		}
	}
}

// fingerprint tells one state of a directory from another, by the names, sizes and times of its
// files. Of what Git keeps there, only what HEAD was counts.
func fingerprint(dir string) (sum [32]byte, err error) {
	h := sha256.New()
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil {
			return err
		}
		if e.Name() == ".git" && e.IsDir() {
			if info, err := os.Stat(filepath.Join(path, "logs", "HEAD")); err == nil {
				fmt.Fprintln(h, info.Size(), info.ModTime())
			}
			return fs.SkipDir
		}
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(h, "%q %d %s %s\n", path, info.Size(), info.Mode(), info.ModTime())
		}
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("watching %s: %w", dir, err)
	}
	return [32]byte(h.Sum(nil)), nil
}
