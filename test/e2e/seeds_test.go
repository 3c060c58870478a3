//go:build e2e

package e2e

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	seedsFlag  = flag.Int("seeds", 5, "how many faults TestSeeds and TestAgentSeeds draw without -short")
	seedFlag   = flag.String("seed", "", "the first seed, a number; empty: of the commit")
	resultFlag = flag.String("result", "", "file to write what healed, and how fast, to")
)

// firstSeed is the same for the same commit, so that what failed fails again.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	if *seedFlag != "" {
		seed, err := strconv.ParseUint(*seedFlag, 10, 64)
		if err != nil {
			t.Fatalf("-seed %q: %v", *seedFlag, err)
		}
		return seed
	}
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return 1 // not a clone
	}
	seed, _ := strconv.ParseUint(string(out[:8]), 16, 64)
	return seed
}

// seeds is how many faults a test draws: one with -short.
func seeds() int {
	if testing.Short() {
		return 1
	}
	return *seedsFlag
}

// healing is how a fault was got over.
type healing struct {
	what string
	took time.Duration
}

// record are those of this run, for the file of results.
var record struct {
	sync.Mutex

	healings []healing
	walk     string // what came of TestWalkOfClusters, as part of a page
}

// heal tells that a fault was got over.
func heal(t *testing.T, took time.Duration, what string, args ...any) {
	t.Helper()
	h := healing{fmt.Sprintf(what, args...), took}
	t.Logf("%s; healed in %.1f s", h.what, took.Seconds())
	record.Lock()
	defer record.Unlock()
	record.healings = append(record.healings, h)
}

// TestSeeds has one fault after the other happen to a controller that applies, each drawn from a
// seed: which, when, and for how long. After each, all is as it should be within half a minute; on
// the way no object of the branch is gone, and each is that of one commit or of the next.
func TestSeeds(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	a := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": a})
	w := &world{t: t, site: s, api: a, forge: &outage{}}
	w.source, w.published, w.git = s.served(w.forge.before)
	w.proxy = s.counting("eu-1")
	w.commit()
	w.start()
	s.converges("eu-1", time.Now().Add(time.Minute))
	first := firstSeed(t)
	for n := range seeds() {
		seed := first + uint64(n)
		w.Rand = rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a test that is to be repeated
		name, do := w.draw()
		happened := do()
		s.whole("eu-1", "faulty", w.round)
		over := time.Now()
		took := s.converges("eu-1", over.Add(healed))
		if !happened {
			name += ", which did not come to pass"
		}
		heal(t, took, "seed %d: %s", seed, name)
		if t.Failed() {
			return
		}
	}
	eventually(t, "the status says that all is well", func() (bool, string) {
		status, out := s.run("status", "-C", s.source, "--to", s.bare)
		return status == 0, out
	})
	end(t, w.controller)
}

// world is what the faults of TestSeeds happen to.
type world struct {
	*rand.Rand
	*site

	t                 *testing.T
	api               *api
	forge             *outage
	git               *trap
	proxy             *proxy
	source, published string
	controller        *exec.Cmd
	round             int
}

func (w *world) start() { w.controller = w.started(w.source, "--to", w.published, "--plain-http") }

// commit makes a commit that changes every object, and has one leave and one come.
func (w *world) commit() {
	w.round++
	w.namespace("faulty", fmt.Sprint(w.round), 11)
	w.write("passing.yaml", configMap("faulty", fmt.Sprintf("passing-%d", w.round), ""))
	w.site.commit()
}

// between is a time that is drawn.
func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.Int64N(int64(most-least)))
}

// draw draws a fault. It has to be over when it returns whether it came to pass.
func (w *world) draw() (name string, do func() (happened bool)) {
	const kinds = 6
	switch w.IntN(kinds) {
	case 0, 1: // the most that can go wrong
		return w.atPoint("the controller is killed", func() { _ = w.controller.Process.Kill() }, func() {
			_ = w.controller.Process.Kill()
			_ = w.controller.Wait()
			w.start()
		})
	case 2:
		return w.atPoint("the API server is killed", w.api.process.Stop, w.restart)
	case 3:
		wait, lasts := w.between(0, 3*time.Second), w.between(time.Second, 8*time.Second)
		return fmt.Sprintf("the API server hangs for %.1f s, %.1f s after the commit", lasts.Seconds(), wait.Seconds()), func() bool {
			w.commit()
			time.Sleep(wait)
			stop := w.api.process.Signal(syscall.SIGSTOP)
			time.Sleep(lasts)
			return errors.Join(stop, w.api.process.Signal(syscall.SIGCONT)) == nil
		}
	case 4:
		how := []int{hangs, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusUnauthorized}[w.IntN(4)]
		wait, lasts := w.between(0, 3*time.Second), w.between(time.Second, 8*time.Second)
		return fmt.Sprintf("the server of the repositories is away (%s) for %.1f s, %.1f s after the commit", cmp.Or(http.StatusText(how), "it hangs"), lasts.Seconds(), wait.Seconds()), func() bool {
			w.commit()
			time.Sleep(wait)
			w.forge.is(how)
			time.Sleep(lasts)
			return w.forge.is(there) > 0
		}
	}
	other := w.IntN(2) == 0
	wait := w.between(0, 4*time.Second)
	return fmt.Sprintf("a second controller runs, and one of both is killed after %.1f s (the newer one: %t)", wait.Seconds(), other), func() bool {
		first := w.controller
		w.start()
		w.commit()
		time.Sleep(wait)
		dies := first
		if other {
			dies, w.controller = w.controller, first
		}
		_ = dies.Process.Kill()
		_ = dies.Wait()
		return true
	}
}

// atPoint has something happen at a request that is drawn, before the server has it or when its
// answer is lost, and then has it be over.
func (w *world) atPoint(what string, act, over func()) (name string, do func() bool) {
	at, points := w.git, gitPoints
	if w.IntN(2) == 0 {
		at, points = &w.proxy.trap, apiPoints
	}
	p, nth, after := points[w.IntN(len(points))], 1+w.IntN(3), w.IntN(2) == 0
	return fmt.Sprintf("%s at %q, the %s time, after the answer: %t", what, p.name, [...]string{"first", "second", "third"}[nth-1], after), func() bool {
		defer over()
		seen := 0
		sprung := at.set(func(r *http.Request, body []byte) bool {
			if p.matches(r, body) {
				seen++
			}
			return seen == nth
		}, after, act)
		w.commit()
		const patience = 15 * time.Second
		select {
		case <-sprung:
			return true
		case <-time.After(patience):
			at.unset()
			return false
		}
	}
}

func (w *world) restart() {
	w.api.process.Stop()
	if err := w.api.process.Restart(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.api.cluster.Ready(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// TestMain makes a folder for programs, and writes the file of results, if one is asked for.
func TestMain(m *testing.M) {
	flag.Parse()
	began := time.Now()
	code := 1
	var err error
	if programsFolder, err = os.MkdirTemp("", "waybill-e2e-"); err == nil {
		code = m.Run()
		err = os.RemoveAll(programsFolder)
	}
	if err == nil && *resultFlag != "" && code == 0 {
		err = os.WriteFile(*resultFlag, results(began), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// results are what was got over, as a page.
func results(began time.Time) []byte {
	commit, _ := exec.Command("git", "log", "-1", "--format=%h, %ad", "--date=format:%Y-%m-%d").Output()
	var b strings.Builder
	fmt.Fprintf(&b, "# The last run of make e2e-long\n\nWritten by `make e2e-long`: commit %s; %d processors.\n", strings.TrimSpace(string(commit)), runtime.NumCPU())
	fmt.Fprintf(&b, "%d faults in %d minutes, of which %d were drawn (`SEEDS`). All were got over, and none took longer than %s.\n\n| fault | healed after |\n|---|---|\n",
		len(record.healings), int(time.Since(began).Minutes()), seeds(), healed)
	for _, h := range record.healings {
		fmt.Fprintf(&b, "| %s | %.1f s |\n", h.what, h.took.Seconds())
	}
	if record.walk != "" {
		fmt.Fprintf(&b, "\n## The walk\n\n%s", record.walk)
	}
	return []byte(b.String())
}
