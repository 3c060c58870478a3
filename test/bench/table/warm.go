package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

// rounds is how often a warm row is repeated in its process; the best counts, for a
// machine is never quite idle.
const rounds = 5

// warm measures a row in a process of its own that has published once before.
func warm(name string) func(*workbench) (measured, error) {
	return func(b *workbench) (measured, error) {
		dir, err := b.folder()
		if err != nil {
			return measured{}, err
		}
		if _, _, err := b.source(dir, regional); err != nil {
			return measured{}, err
		}
		return b.warmed(name, dir)
	}
}

// warmed has this program measure a warm row in a folder.
func (b *workbench) warmed(name, dir string) (measured, error) {
	program, err := os.Executable()
	if err != nil {
		return measured{}, err
	}
	cmd := exec.CommandContext(b.ctx, program, "-warm", name, "-dir", dir) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return measured{}, fmt.Errorf("measuring %s: %w", name, err)
	}
	var m struct{ Wall, CPU time.Duration }
	if err := json.Unmarshal(out, &m); err != nil {
		return measured{}, fmt.Errorf("measuring %s: %w", name, err)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return measured{wall: m.Wall, cpu: m.CPU, memory: usage.Maxrss << 10}, nil
}

// controller is a process that follows a source, as waybill controller does.
type controller struct {
	src, bare string
	r         *reconciler.Reconciler
	reports   chan reconciler.Sync
	goOn      chan struct{}
}

const interval = time.Millisecond

func newController(ctx context.Context, dir string) (*controller, error) {
	c := &controller{src: filepath.Join(dir, "src"), bare: filepath.Join(dir, "bare.git"), reports: make(chan reconciler.Sync), goOn: make(chan struct{})}
	source, err := git.Open(ctx, git.Options{Location: c.src, CacheDir: filepath.Join(dir, "cache")})
	if err != nil {
		return nil, fmt.Errorf("opening the source: %w", err)
	}
	target, err := git.Open(ctx, git.Options{Location: c.bare, CacheDir: filepath.Join(dir, "cache")})
	if err != nil {
		return nil, fmt.Errorf("opening the target: %w", err)
	}
	c.r = &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: source, Target: target, Cache: cache.Memory(), Now: time.Now}
	loop := &reconciler.Loop{
		Reconciler: c.r, Rev: "main", Interval: interval, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) { c.reports <- s; <-c.goOn },
	}
	go func() { _ = loop.Run(ctx) }()
	return c, (<-c.reports).Err
}

// turn lets the controller look at the source once more.
func (c *controller) turn() (reconciler.Sync, measured, error) {
	cpu, start := used(), time.Now()
	c.goOn <- struct{}{}
	s := <-c.reports
	m := measured{wall: time.Since(start) - interval, cpu: used() - cpu}
	return s, m, s.Err
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// edit replaces text in a file of the source, and commits.
func (c *controller) edit(file, old, now string) error {
	name := filepath.Join(c.src, file)
	data, err := os.ReadFile(name) //nolint:gosec // of the row
	if err != nil {
		return fmt.Errorf("editing the source: %w", err)
	}
	if !strings.Contains(string(data), old) {
		return fmt.Errorf("editing the source: %s does not hold %q", file, old)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(data), old, now, 1)), 0o600); err != nil { //nolint:gosec // of the row
		return fmt.Errorf("editing the source: %w", err)
	}
	cmd := exec.Command("git", "-C", c.src, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-qam", "a change") //nolint:gosec,noctx // short
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("committing: %w\n%s", err, out)
	}
	return nil
}

// warmRow measures a warm row in this process and prints it.
func warmRow(ctx context.Context, name, dir string) error {
	c, err := newController(ctx, dir)
	if err != nil {
		return err
	}
	measure := map[string]func(*controller, int) (measured, error){
		"nothing": nothing, "one-cluster": oneCluster, "line": line,
		"preview": func(c *controller, i int) (measured, error) { return preview(ctx, c, i) },
	}[name]
	if measure == nil {
		return fmt.Errorf("there is no warm row %q", name)
	}
	var best measured
	for i := range rounds {
		m, err := measure(c, i)
		if err != nil {
			return err
		}
		if i == 0 || m.wall < best.wall {
			best = m
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]time.Duration{"Wall": best.wall, "CPU": best.cpu})
}

func nothing(c *controller, _ int) (measured, error) {
	s, m, err := c.turn()
	if err == nil && !s.UpToDate {
		err = errors.New("it did something")
	}
	return m, err
}

// oneCluster changes what one cluster overrides.
func oneCluster(c *controller, i int) (measured, error) {
	old, now := "  overrideRules:\n", fmt.Sprintf("round: \"%d\"", i)
	if i == 0 {
		now = old + "  - targetCluster: {clusterNames: [c0007]}\n    overriders:\n      annotationsOverrider: [{operator: add, value: {" + now + "}}]\n"
	} else {
		old = fmt.Sprintf("round: \"%d\"", i-1)
	}
	if err := c.edit("policies/overrides.yaml", old, now); err != nil {
		return measured{}, err
	}
	s, m, err := c.turn()
	if n := len(s.Result.Updates); err == nil && n != 2 {
		err = fmt.Errorf("%d branches changed; want the cluster's and the state's", n)
	}
	return m, err
}

// line changes a line of a template that every cluster holds.
func line(c *controller, i int) (measured, error) {
	if err := c.edit("apps/team-19/app-00999.yaml", "option = value", fmt.Sprintf("option = value%d\n    option = value", i)); err != nil {
		return measured{}, err
	}
	s, m, err := c.turn()
	if n := len(s.Result.Updates); err == nil && n != regional.Clusters+1 {
		err = fmt.Errorf("%d branches changed; want all", n)
	}
	return m, err
}

// preview compares the source with a changed line of it.
func preview(ctx context.Context, c *controller, i int) (measured, error) {
	if err := c.edit("apps/team-19/app-00999.yaml", "option = value", fmt.Sprintf("option = value%d\n    option = value", i)); err != nil {
		return measured{}, err
	}
	cpu, start := used(), time.Now()
	head, err := c.r.Source.Snapshot(ctx, "main", "")
	if err != nil {
		return measured{}, fmt.Errorf("reading the source: %w", err)
	}
	report, err := versions.Compare(ctx, c.r, "main~1", head)
	m := measured{wall: time.Since(start), cpu: used() - cpu}
	if err == nil && report.Totals.Objects != 1 {
		err = fmt.Errorf("%d objects change; want 1", report.Totals.Objects)
	}
	return m, err
}

// warmAgainstGit changes a line that all clusters hold, and has git do no more than to
// write the same change and to push it.
func warmAgainstGit(b *workbench) (measured, error) {
	dir, err := b.folder()
	if err != nil {
		return measured{}, err
	}
	src, bare, err := b.source(dir, regional)
	if err != nil {
		return measured{}, err
	}
	if _, err := b.do("", b.waybill, "publish", src, "--to", bare); err != nil {
		return measured{}, err
	}
	work, remote := filepath.Join(dir, "work.git"), filepath.Join(dir, "remote.git")
	for _, to := range []string{work, remote} {
		if _, err := b.do("", "git", "clone", "-q", "--mirror", bare, to); err != nil {
			return measured{}, err
		}
	}
	m, err := b.warmed("line", dir)
	if err != nil {
		return m, err
	}
	if err := b.streams(dir, regional, "manifests/team-19/configmap/app-00999.yaml", strings.Repeat("another: line\n", 70)); err != nil {
		return m, err
	}
	written, err := b.feed(work, filepath.Join(dir, "change.stream"), "git", "fast-import", "--quiet")
	if err != nil {
		return m, err
	}
	pushed, err := b.do(work, "git", "push", "-q", remote, "refs/heads/waybill/cluster/*:refs/heads/waybill/cluster/*")
	m.peer = written.wall + pushed.wall
	return m, err
}
