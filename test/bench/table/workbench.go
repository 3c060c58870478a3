package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/test/bench"
)

// workbench is where rows are measured.
type workbench struct {
	ctx     context.Context //nolint:containedctx // a run is one call
	dir     string
	waybill string // the program
	rows    int    // so far
}

func newBench(ctx context.Context) (*workbench, error) {
	dir, err := os.MkdirTemp("", "waybill-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	b := &workbench{ctx: ctx, dir: dir, waybill: filepath.Join(dir, "waybill")}
	_, err = b.do("", "go", "build", "-o", b.waybill, "github.com/waybill-dev/waybill/cmd/waybill")
	return b, err
}

// folder makes a folder for one row.
func (b *workbench) folder() (string, error) {
	b.rows++
	dir := filepath.Join(b.dir, strconv.Itoa(b.rows))
	return dir, os.MkdirAll(dir, 0o750)
}

// do runs a program in a folder and says what it cost.
func (b *workbench) do(dir, name string, args ...string) (measured, error) {
	return b.feed(dir, "", name, args...)
}

// feed runs a program with a file for its standard input.
func (b *workbench) feed(dir, stdin, name string, args ...string) (measured, error) {
	cmd := exec.CommandContext(b.ctx, name, args...) //nolint:gosec // the rows' own programs
	cmd.Dir = dir
	if stdin != "" {
		f, err := os.Open(stdin) //nolint:gosec // the rows' own file
		if err != nil {
			return measured{}, fmt.Errorf("opening an input: %w", err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	m := measured{wall: time.Since(start)}
	if err != nil {
		return m, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out.Bytes()[:min(out.Len(), 2000)])
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.memory = usage.Maxrss << 10
	}
	return m, nil
}

// source makes a repository of a shape, and a bare one to publish to.
func (b *workbench) source(dir string, s bench.Shape) (src, bare string, err error) {
	return b.repositories(dir, bench.New(s))
}

// repositories makes a repository of a source, and a bare one to publish to.
func (b *workbench) repositories(dir string, s *bench.Source) (src, bare string, err error) {
	src, bare = filepath.Join(dir, "src"), filepath.Join(dir, "bare.git")
	if err := s.WriteTo(src); err != nil {
		return "", "", err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", src}, {"-C", src, "add", "-A"}, {"-C", src, "commit", "-qm", "first"}, {"init", "-q", "--bare", bare}} {
		if _, err := b.do("", "git", args...); err != nil {
			return "", "", err
		}
	}
	return src, bare, nil
}

// size is how many bytes the objects of a bare repository have.
func size(bare string) (total int64, err error) {
	err = filepath.WalkDir(filepath.Join(bare, "objects"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
