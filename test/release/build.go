package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// source is a clone of the commit that is released.
type source struct {
	dir    string
	commit string
	time   time.Time // of the commit
}

// program is what was built for a platform.
type program struct {
	platform platform
	data     []byte
	info     *buildinfo.BuildInfo
}

// clone brings a commit to a folder of its own, with its tags, so that nothing that is not committed
// gets in.
func clone(ctx context.Context, root, commit, dir string) (source, error) {
	s := source{dir: dir}
	id, err := output(ctx, root, nil, "git", "rev-parse", "--verify", commit+"^{commit}")
	if err != nil {
		return s, err
	}
	s.commit = strings.TrimSpace(id)
	if _, err := output(ctx, root, nil, "git", "clone", "--quiet", "--no-checkout", ".", dir); err != nil {
		return s, err
	}
	if _, err := output(ctx, dir, nil, "git", "checkout", "--quiet", "--detach", s.commit); err != nil {
		return s, err
	}
	seconds, err := output(ctx, dir, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return s, err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return s, fmt.Errorf("reading the time of %s: %w", s.commit, err)
	}
	s.time = time.Unix(unix, 0).UTC()
	return s, nil
}

// build builds the program for a platform.
func (s source) build(ctx context.Context, p platform, out string) (program, error) {
	env := []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off"}
	if _, err := output(ctx, s.dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out, "./cmd/waybill"); err != nil {
		return program{}, err
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return program{}, fmt.Errorf("reading what was built for %s: %w", p, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return program{}, fmt.Errorf("reading what was built for %s: %w", p, err)
	}
	if info.Main.Version == "" || info.Main.Version == "(devel)" {
		return program{}, fmt.Errorf("the program for %s has no version; is git there?", p)
	}
	return program{platform: p, data: data, info: info}, nil
}

// manual has the program for this machine write its pages for man(1).
func (s source) manual(ctx context.Context, work string) ([]member, error) {
	binary, pages := filepath.Join(work, "here"), filepath.Join(work, "man")
	if _, err := s.build(ctx, platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		return nil, err
	}
	if err := os.Mkdir(pages, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for manuals: %w", err)
	}
	epoch := "SOURCE_DATE_EPOCH=" + strconv.FormatInt(s.time.Unix(), 10)
	if _, err := output(ctx, work, []string{epoch}, binary, "reference", "--man", pages); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return nil, fmt.Errorf("reading manuals: %w", err)
	}
	var found []member
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading manuals: %w", err)
		}
		found = append(found, member{name: "man/man1/" + e.Name(), data: data})
	}
	return found, nil
}

// version is that of the program, as Go derives it from the tag or the commit.
func (p program) version() string { return p.info.Main.Version }

// output runs a program and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // git, go, and what was just built
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}
