package git

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
)

// These variables have the test binary be a publisher that is to be killed.
const (
	victimVar      = "WAYBILL_TEST_VICTIM"
	victimCacheVar = "WAYBILL_TEST_VICTIM_CACHE"
)

const victimBranches = 50

// victimOptions names what a victim publishes to.
func victimOptions(location, cache string) Options {
	return Options{Location: location, CacheDir: cache, Auth: Auth{Username: user, Password: secret, PlainHTTP: true}}
}

// round publishes the next number to every branch.
func round(t *testing.T, r *Repo) error {
	t.Helper()
	heads, err := r.Heads(t.Context())
	if err != nil {
		return err
	}
	names := make([]string, victimBranches)
	for i := range names {
		names[i] = fmt.Sprintf("waybill/cluster/c%02d", i)
	}
	if err := r.Fetch(t.Context(), names...); err != nil {
		return err
	}
	n := 0
	if !heads[names[0]].IsZero() {
		got, err := text(t.Context(), r, names[0], "n")
		if err != nil {
			return err
		}
		if n, err = strconv.Atoi(got); err != nil {
			return err
		}
	}
	var updates []Update
	for i, name := range names {
		updates = append(updates, update(name, heads[name], map[string]string{"n": strconv.Itoa(n + 1), "me": strconv.Itoa(i), fmt.Sprintf("sub/f%d", n): "x"}))
	}
	_, err = r.Publish(t.Context(), updates)
	var race *RaceError
	var busy *refusal
	if errors.As(err, &race) || errors.As(err, &busy) {
		return round(t, r) // a server goes on with a push after its sender was killed
	}
	return err
}

func TestVictim(t *testing.T) {
	location := os.Getenv(victimVar)
	if location == "" {
		t.Skip("it is run by TestKilledAtAnyMoment")
	}
	r := mustOpen(t, victimOptions(location, os.Getenv(victimCacheVar)))
	for {
		fmt.Println("again")
		if err := round(t, r); err != nil {
			t.Fatal(err)
		}
	}
}

// killOne starts a victim and kills it in one of its first rounds, after a part of the time
// that the round before took, which may be one of an earlier victim: a machine that others
// keep busy takes longer. It returns how long the last whole round took.
func killOne(t *testing.T, location, cache string, r *rand.Rand, took time.Duration) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), victimVar+"="+location, victimCacheVar+"="+cache)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	var last time.Time
	left := 1 + r.IntN(3) // rounds to begin before it is killed
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() != "again" {
			said = append(said, lines.Text())
			continue
		}
		if !last.IsZero() {
			took = time.Since(last)
		}
		last = time.Now()
		if left--; left == 0 {
			part := time.Duration(r.Float64() * float64(took))
			timer := time.AfterFunc(part, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the victim ended by itself: %v\n%s", err, strings.Join(said, "\n"))
	}
	return took
}

// whole returns the number that is on all branches, and fails the test if they differ:
// a kill must not move some of them.
func whole(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "cat-file", "--batch")
	cmd.Dir = dir
	var names strings.Builder
	for i := range victimBranches {
		fmt.Fprintf(&names, "waybill/cluster/c%02d:n\n", i)
	}
	cmd.Stdin = strings.NewReader(names.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for line := range strings.Lines(string(out)) { // "<id> blob <size>" and the content, or "<name> missing"
		switch line = strings.TrimSpace(line); {
		case strings.HasSuffix(line, " missing"):
			numbers["none"]++
		case !strings.Contains(line, " "):
			numbers[line]++
		}
	}
	if len(numbers) > 1 {
		t.Errorf("some branches moved and some did not: %v", numbers)
	}
	for n := range numbers {
		return n
	}
	return ""
}

func TestKilledAtAnyMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	test := func(t *testing.T, kills int, location, cache, dir string) {
		t.Helper()
		r := rand.New(rand.NewPCG(uint64(kills), 4))
		const bad = 3 // kills that leave something behind, at least
		var took time.Duration
		torn, n := 0, 0
		for ; n < kills || torn < bad; n++ {
			if n == 20*kills {
				t.Fatalf("of %d kills only %d left something behind", n, torn)
			}
			took = killOne(t, location, cache, r, took)
			torn += min(1, len(leftovers(t, dir)))
			if cache != "" {
				torn += min(1, len(leftovers(t, cache)))
			}
			run(t, dir, "fsck", "--strict", "--connectivity-only", "--no-dangling")
			if cache == "" {
				whole(t, dir)
			}
		}
		before := run(t, dir, "cat-file", "blob", "waybill/cluster/c00:n")
		if err := round(t, mustOpen(t, victimOptions(location, cache))); err != nil {
			t.Fatal(err)
		}
		if after := whole(t, dir); after == before {
			t.Errorf("still at %s", after)
		}
		sound(t, dir)
		t.Logf("%d kills, %d of which left something behind; %s rounds", n, torn, whole(t, dir))
	}
	t.Run("on disk", func(t *testing.T) {
		dir := newBare(t)
		test(t, 30, dir, "", dir)
	})
	t.Run("behind a URL", func(t *testing.T) {
		s, cache := newServer(t), t.TempDir()
		dir := s.repo(t, "repo.git")
		test(t, 12, s.URL+"/repo.git", cache, dir)
		caches, err := filepath.Glob(filepath.Join(cache, "*.git"))
		if err != nil || len(caches) != 1 {
			t.Fatalf("caches: %v, %v", caches, err)
		}
		sound(t, caches[0])
	})
}

// A lock of ours that a kill left does not stop git, and git's own does not vanish.
func TestLeftOverLocks(t *testing.T) {
	dir := newBare(t)
	r := mustOpen(t, Options{Location: dir})
	first := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}))
	if err := os.Link(filepath.Join(dir, "waybill.lock"), filepath.Join(dir, "refs", "heads", "a.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "refs", "heads", "git.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, r, update("a", first[0], map[string]string{"f": "2"}))
	if left := leftovers(t, dir); len(left) != 1 || filepath.Base(left[0]) != "git.lock" {
		t.Errorf("left: %v", left)
	}
	if _, err := r.Publish(t.Context(), []Update{update("git", files.ID{}, map[string]string{"f": "1"})}); err == nil || !strings.Contains(err.Error(), "git.lock") {
		t.Errorf("a branch that git has locked: %v", err)
	}
}
