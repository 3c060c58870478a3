package main

import (
	"path/filepath"
	"strconv"

	"github.com/waybill-dev/waybill/test/bench"
)

// cold publishes a source for the first time.
func cold(s bench.Shape) func(*workbench) (measured, error) {
	return func(b *workbench) (measured, error) {
		dir, err := b.folder()
		if err != nil {
			return measured{}, err
		}
		src, bare, err := b.source(dir, s)
		if err != nil {
			return measured{}, err
		}
		return b.do("", b.waybill, "publish", src, "--to", bare)
	}
}

// restart publishes again, in a new process, what is published.
func restart(s bench.Shape) func(*workbench) (measured, error) {
	return func(b *workbench) (measured, error) {
		dir, err := b.folder()
		if err != nil {
			return measured{}, err
		}
		src, bare, err := b.source(dir, s)
		if err != nil {
			return measured{}, err
		}
		if _, err := b.do("", b.waybill, "publish", src, "--to", bare); err != nil {
			return measured{}, err
		}
		return b.do("", b.waybill, "publish", src, "--to", bare)
	}
}

// coldAgainstGit publishes a source, and has git fast-import write the same trees.
func coldAgainstGit(s bench.Shape) func(*workbench) (measured, error) {
	return func(b *workbench) (measured, error) {
		m, err := cold(s)(b)
		if err != nil {
			return m, err
		}
		dir := filepath.Join(b.dir, strconv.Itoa(b.rows))
		if err := b.streams(dir, s, "", ""); err != nil {
			return m, err
		}
		bare := filepath.Join(dir, "floor.git")
		if _, err := b.do("", "git", "init", "-q", "--bare", bare); err != nil {
			return m, err
		}
		floor, err := b.feed(bare, filepath.Join(dir, "first.stream"), "git", "fast-import", "--quiet")
		m.peer = floor.wall
		return m, err
	}
}
