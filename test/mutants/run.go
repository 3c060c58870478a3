package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// testTime is how long the tests of one bug may take.
	testTime = 2 * time.Minute
	// allTime is how long it may take to compile and test one.
	allTime = 15 * time.Minute
)

// options say how bugs are tried.
type options struct {
	at    int  // once
	whole bool // with all tests of the package
}

// tree is the work tree: where it is, and its code.
type tree struct {
	root string
	code code
}

// result is what became of a bug.
type result struct {
	by  string // the test that caught it; empty: none did
	why string // none did
}

// run tries bugs, and prints what became of each. An error is that of one that cannot be tried.
func run(ctx context.Context, out io.Writer, all []Mutant, o options) ([]result, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	c, err := readCode(root)
	if err != nil {
		return nil, err
	}
	places := make([]place, len(all))
	var errs []error
	for i, m := range all {
		places[i], err = c.find(m)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	results := make([]result, len(all))
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(max(1, o.at))
	for i := range all {
		group.Go(func() error {
			begun := time.Now() //nolint:forbidigo // for people
			r, err := planted(ctx, tree{root, c}, &all[i], places[i], o)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				return fmt.Errorf("the bug %q: %w", all[i].Name, err)
			}
			results[i] = r
			took := time.Since(begun).Round(time.Second) //nolint:forbidigo // for people
			if r.by == "" {
				_, err = fmt.Fprintf(out, "NOT CAUGHT %s (%s, %s): %s\n", all[i].Name, places[i].file, took, r.why)
			} else {
				_, err = fmt.Fprintf(out, "caught     %s (%s, %s): by %s %s\n", all[i].Name, places[i].file, took, places[i].test, r.by)
			}
			return err
		})
	}
	return results, group.Wait()
}

// failure is the line by which go test says that a test failed.
var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// planted tries a bug.
func planted(ctx context.Context, in tree, m *Mutant, at place, o options) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, filepath.Join(in.root, filepath.FromSlash(at.file)), strings.Replace(in.code[at.file], m.Old, m.New, 1))
	if err != nil {
		return result{}, err
	}
	// that a package does not compile is no failure of a test
	if said, err := goTool(ctx, in.root, overlay, "build", "-o", os.DevNull, "./"+path.Dir(at.file)); err != nil && ctx.Err() == nil {
		return result{why: "it does not compile: " + string(said)}, nil
	}
	args := []string{"test", "-vet=off", "-ldflags=-w", "-count=1", "-timeout", testTime.String()}
	if !o.whole {
		args = append(args, "-run", "^"+strings.ReplaceAll(m.Test, "/", "$/^")+"$")
	}
	said, err := goTool(ctx, in.root, overlay, append(args, "./"+at.test)...)
	failed := failure.FindSubmatch(said)
	switch {
	case ctx.Err() != nil:
		return result{}, ctx.Err()
	case err == nil:
		return result{why: "the tests pass"}, nil
	case failed == nil && bytes.Contains(said, []byte("panic: ")) && !bytes.Contains(said, []byte("panic: test timed out")):
		return result{by: m.Test + ", which panics"}, nil
	case failed == nil:
		const most = 2 << 10
		return result{why: "the tests come to no end: " + string(said[:min(most, len(said))])}, nil
	}
	return result{by: string(failed[1])}, nil
}

// writeOverlay writes what go build takes for a file instead of what it holds.
func writeOverlay(dir, file, text string) (overlay string, err error) {
	const mode = 0o600
	other := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(other, []byte(text), mode); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{file: other}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, mode)
}

// goTool runs the go command, and returns what it printed. What the tests build, as the program that they run, has the other text, too.
func goTool(ctx context.Context, root, overlay string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // of the list, which is ours
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	return cmd.CombinedOutput()
}
