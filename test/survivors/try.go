package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/test/survivors/plant"
	"github.com/waybill-dev/waybill/test/survivors/switches"
)

// options say what is tried.
type options struct {
	most int
	time time.Duration
	seed uint64
}

// result is what became of the bugs of a package.
type result struct {
	all, tried          int
	survived, unreached []plant.Bug
}

// asked is the package that planted code asks.
const asked = "github.com/waybill-dev/waybill/test/survivors/switches"

// try plants bugs in the package of a folder, and runs its tests with some of them, one at a time.
func try(ctx context.Context, folder string, o options) (*result, error) {
	dir, err := os.MkdirTemp("", "survivors")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	bugs, overlay, err := planted(folder, dir)
	if err != nil {
		return nil, err
	}
	t := tests{binary: filepath.Join(dir, "tests"), folder: folder}
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", overlay, "-o", t.binary, "./"+filepath.ToSlash(folder)) //nolint:gosec // of the work tree
	if said, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the package with its bugs does not compile: %w\n%s", err, said)
	}
	if _, err := os.Stat(t.binary); err != nil {
		return nil, errors.New("the package has no tests")
	}
	reached, took, err := t.reach(ctx, filepath.Join(dir, "reached"))
	if err != nil {
		return nil, err
	}
	r, some := &result{all: len(bugs)}, []plant.Bug{}
	for _, b := range bugs {
		if reached[b.ID] {
			some = append(some, b)
		} else {
			r.unreached = append(r.unreached, b)
		}
	}
	rng := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // no secret
	rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	begun := time.Now() //nolint:forbidigo // how long it may take is said on the command line
	for _, b := range some[:min(o.most, len(some))] {
		if time.Since(begun) > o.time { //nolint:forbidigo // as above
			break
		}
		isNoticed, err := t.notice(ctx, b.ID, took)
		if err != nil {
			return nil, err
		}
		if r.tried++; !isNoticed {
			r.survived = append(r.survived, b)
		}
	}
	slices.SortFunc(r.survived, func(a, b plant.Bug) int { return a.ID - b.ID })
	return r, nil
}

// planted writes the files of a package with bugs, and the overlay by which go reads them instead of those that are there.
func planted(folder, dir string) (all []plant.Bug, overlay string, err error) {
	const mode = 0o600
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, "", err
	}
	replace := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		is, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return nil, "", err
		}
		text, bugs, err := plant.File(filepath.Base(name), is, asked, len(all)+1)
		if err != nil {
			return nil, "", err
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, "", err
		}
		replace[path] = filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(replace[path], text, mode); err != nil { //nolint:gosec // of a folder of its own
			return nil, "", err
		}
		all = append(all, bugs...)
	}
	if len(all) == 0 {
		return nil, "", errors.New("it has no code in which a bug can be planted")
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return all, overlay, os.WriteFile(overlay, data, mode)
}

// tests are those of a package, compiled.
type tests struct{ binary, folder string }

// reach runs the tests without a bug, and says to which bugs they come, and how long they take.
func (t *tests) reach(ctx context.Context, file string) (ids map[int]bool, took time.Duration, err error) {
	const most = 10 * time.Minute
	begun := time.Now() //nolint:forbidigo // by which it is told that tests hang
	if said, err := t.run(ctx, most, switches.Reached+"="+file); err != nil {
		return nil, 0, fmt.Errorf("the tests fail without a bug: %w\n%s", err, said)
	}
	took = time.Since(begun) //nolint:forbidigo // as above
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, 0, fmt.Errorf("the tests come to no code of the package: %w", err)
	}
	ids = map[int]bool{}
	for line := range strings.FieldsSeq(string(text)) {
		var id int
		if _, err := fmt.Sscan(line, &id); err != nil {
			return nil, 0, err
		}
		ids[id] = true
	}
	return ids, took, nil
}

// notice runs the tests with a bug. Those that hang notice it, too.
func (t *tests) notice(ctx context.Context, id int, took time.Duration) (bool, error) {
	const least, times = 20 * time.Second, 6
	_, err := t.run(ctx, max(least, times*took), fmt.Sprintf("%s=%d", switches.Bug, id), "-test.failfast")
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err != nil, nil
}

// run runs the tests with a variable, and returns what they said last.
func (t *tests) run(ctx context.Context, most time.Duration, variable string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, most+time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.binary, append(args, "-test.timeout", most.String())...) //nolint:gosec // what was compiled just now
	cmd.Dir, cmd.Env, cmd.WaitDelay = t.folder, append(os.Environ(), variable), time.Second
	said, err := cmd.CombinedOutput()
	const last = 2 << 10
	said = bytes.TrimSpace(said)
	return said[max(0, len(said)-last):], err
}
