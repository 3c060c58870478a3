//go:build e2e

package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/bench"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/program"
)

var binary string

func TestMain(m *testing.M) { os.Exit(program.Tests{M: m, Path: &binary}.Run()) }

// env is a clean environment for git and waybill.
func env(t *testing.T) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = env(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// waybill returns a command that runs waybill.
func waybill(t *testing.T, extra []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(env(t), extra...)
	return cmd
}

// source makes a repository with some commits, each of which changes every
// cluster, and returns the commits.
func source(t *testing.T, shape bench.Shape, commits int) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	src := bench.New(shape)
	for _, f := range src.Files() {
		data, err := src.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, f.Path), data)
	}
	git(t, dir, "init", "-q", "-b", "main")
	for i := range commits {
		write(t, filepath.Join(dir, "version.yaml"), fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: version, namespace: team-00}\ndata: {version: \"%d\"}\n", i))
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", fmt.Sprint("version ", i))
		ids = append(ids, git(t, dir, "rev-parse", "HEAD"))
	}
	return dir, ids
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func bare(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bare.git")
	git(t, t.TempDir(), "init", "-q", "--bare", "-b", "main", dir)
	return dir
}

// serve serves a bare repository over smart HTTP by Git's own server, to one user.
func serve(t *testing.T, dir string) (url string) {
	t.Helper()
	s := httptest.NewServer(backend(t, dir))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(dir)
}

// backend is Git's own server over a bare repository, for one user.
func backend(t *testing.T, dir string) http.Handler {
	t.Helper()
	h, err := peers.GitServer(t.Context(), filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, p, _ := r.BasicAuth(); p != "hunter2" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestPublishersAtOnceLoseNothing(t *testing.T) {
	const publishers = 3
	src, commits := source(t, bench.Shape{Clusters: 5, Templates: 20, Regions: 2, Overridden: 20}, 15)
	dir := bare(t)
	url := serve(t, dir)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var heads []string // that a publisher was told its push made
	for n := range publishers {
		wg.Go(func() {
			for i := n; i < len(commits); i += publishers {
				out, err := waybill(t, []string{"WAYBILL_PASSWORD=hunter2"}, "publish", src, "--rollback", "--rev", commits[i], "--to", url, "--plain-http", "-o", "json").CombinedOutput()
				if err != nil {
					t.Errorf("publisher %d: %v\n%s", n, err, out)
					return
				}
				mu.Lock()
				for line := range strings.Lines(string(out)) {
					if _, id, ok := strings.Cut(line, `"to": "`); ok {
						heads = append(heads, strings.TrimRight(strings.TrimSpace(id), `",`))
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	git(t, dir, "fsck", "--strict")
	if len(heads) < len(commits) {
		t.Fatalf("only %d branches were moved", len(heads))
	}
	reachable := git(t, dir, "rev-list", "--all")
	for _, h := range heads {
		if !strings.Contains(reachable, h) {
			t.Errorf("%s was published and is lost", h)
		}
	}
	if merges := git(t, dir, "rev-list", "--all", "--merges"); merges != "" {
		t.Errorf("there are merges: %s", merges)
	}
}

// The moments are drawn from the time that a whole run took a moment ago, for a machine that
// others keep busy takes longer; what is done before it would be killed does not count.
func TestKilledAtAnyMoment(t *testing.T) {
	src, commits := source(t, bench.Shape{Clusters: 40, Templates: 60, Regions: 4, Overridden: 20}, 2)
	dir := bare(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const kills, most = 40, 400
	var whole time.Duration
	killed := 0
	for i := 0; killed < kills; i++ {
		if i == most {
			t.Fatalf("only %d of %d were killed on the way", killed, most)
		}
		cmd := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[i%2], "--to", dir)
		if i%8 == 0 {
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			whole = time.Since(start)
			git(t, dir, "fsck", "--strict")
			continue
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		moment := time.Duration(r.Int64N(int64(whole)))
		time.Sleep(moment)
		_ = cmd.Process.Kill()
		var exit *exec.ExitError
		if err := cmd.Wait(); errors.As(err, &exit) && !exit.Exited() {
			killed++
		} else {
			whole = moment + 1 // a whole run takes less by now
		}
	}
	out, err := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[1], "--to", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("the run after the kills: %v\n%s", err, out)
	}
	git(t, dir, "fsck", "--strict")
	for b := range strings.Lines(git(t, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads/waybill/cluster")) {
		if got := git(t, dir, "show", strings.TrimSpace(b)+":manifests/team-00/configmap/version.yaml"); !strings.Contains(got, "version: '1'") {
			t.Fatalf("%s does not hold the last version: %s", b, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "objects/pack/tmp*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if locks, _ := exec.CommandContext(t.Context(), "find", filepath.Join(dir, "refs"), "-name", "*.lock").Output(); len(locks) > 0 {
		t.Errorf("left behind: %s", locks)
	}
}

// A kill behind the last step leaves nothing to publish, and the locks of every branch.
func TestAPublicationWithNothingToDoTidiesUp(t *testing.T) {
	src, commits := source(t, bench.Shape{Clusters: 2, Templates: 4, Regions: 1, Overridden: 20}, 1)
	dir := bare(t)
	for range 2 {
		if out, err := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[0], "--to", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lock := filepath.Join(dir, "refs/heads/waybill/cluster/c0000.lock")
		if _, err := os.Stat(lock); err == nil {
			t.Fatal("the lock of the killed publication is there")
		}
		if err := os.MkdirAll(filepath.Dir(lock), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(dir, "waybill.lock"), lock); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPushOfSomebodyElseIsPlannedAgain(t *testing.T) {
	src, commits := source(t, bench.Shape{Clusters: 3, Templates: 10, Regions: 1, Overridden: 20}, 6)
	dir := bare(t)
	if out, err := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[0], "--to", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	clone := t.TempDir()
	git(t, clone, "clone", "-q", "-b", "waybill/cluster/c0000", dir, ".")
	stop := make(chan struct{})
	var landed atomic.Int32
	var wg sync.WaitGroup
	wg.Go(func() { // somebody who keeps adding notes to a branch
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			write(t, filepath.Join(clone, fmt.Sprintf("note-%d.txt", i)), []byte("x"))
			for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "note"}, {"pull", "-q", "--rebase"}, {"push", "-q"}} {
				cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", clone}, args...)...)
				cmd.Env = env(t)
				if cmd.Run() == nil && args[0] == "push" { // a lost race is theirs to repeat
					landed.Add(1)
				}
			}
		}
	})
	for i := 0; landed.Load() < 3 && i < 300; i++ {
		if out, err := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[i%len(commits)], "--to", dir).CombinedOutput(); err != nil && !bytes.Contains(out, []byte("lost races")) {
			t.Errorf("%v\n%s", err, out)
		}
		time.Sleep(time.Duration(i%5*(1+i/25)) * 100 * time.Millisecond) // or git, slower, would never get its turn
	}
	close(stop)
	wg.Wait()
	if out, err := waybill(t, nil, "publish", src, "--rollback", "--rev", commits[5], "--to", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	git(t, dir, "fsck", "--strict")
	files := git(t, dir, "ls-tree", "--name-only", "waybill/cluster/c0000")
	if landed.Load() < 3 || strings.Count(files, "note-") < 3 {
		t.Errorf("of %d notes that they pushed, these are there: %s", landed.Load(), files)
	}
}

func TestWrongCredentialsAreShownNowhere(t *testing.T) {
	src, _ := source(t, bench.Shape{Clusters: 1, Templates: 2, Regions: 1}, 1)
	url := serve(t, bare(t))
	for _, args := range [][]string{
		{"publish", src, "--plain-http", "--to", url},
		{"publish", src, "--plain-http", "--to", strings.Replace(url, "http://", "http://robot:s3cr3t-canary@", 1)},
	} {
		out, err := waybill(t, []string{"WAYBILL_PASSWORD=other-canary"}, args...).CombinedOutput()
		if err == nil || bytes.Contains(out, []byte("canary")) {
			t.Errorf("%v: %v\n%s", args[4:], err, out)
		}
		if !bytes.Contains(out, []byte("credentials")) && !bytes.Contains(out, []byte("authentication")) && !bytes.Contains(out, []byte("password")) {
			t.Errorf("it does not say what is wrong: %s", out)
		}
	}
}

func TestAFullDiskPublishesNothing(t *testing.T) {
	src, _ := source(t, bench.Shape{Clusters: 5, Templates: 300, Regions: 2, Overridden: 50}, 1)
	dir := bare(t)
	cmd := waybill(t, nil, "publish", src, "--to", dir)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "ulimit -f 8; exec \"$@\"", "sh", binary, "publish", src, "--to", dir}
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it published with a limit on the size of files\n%s", out)
	}
	if refs := git(t, dir, "for-each-ref"); refs != "" {
		t.Errorf("branches moved: %s", refs)
	}
	git(t, dir, "fsck", "--strict")
	if out, err := waybill(t, nil, "publish", src, "--to", dir).CombinedOutput(); err != nil {
		t.Errorf("with room again: %v\n%s", err, out)
	}
}

func TestController(t *testing.T) {
	src, commits := source(t, bench.Shape{Clusters: 3, Templates: 10, Regions: 1, Overridden: 20}, 2)
	dir := bare(t)
	git(t, src, "update-ref", "refs/heads/live", commits[0])
	var log bytes.Buffer
	cmd := waybill(t, nil, "controller", src, "--rev", "live", "--to", dir, "--interval", "1s", "--listen", "127.0.0.1:18181")
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	version := func() string {
		out, _ := exec.CommandContext(t.Context(), "git", "-C", dir, "show", "waybill/cluster/c0001:manifests/team-00/configmap/version.yaml").Output()
		return string(out)
	}
	eventually(t, "the first version is published", func() bool { return strings.Contains(version(), "version: '0'") })
	eventually(t, "it is ready", func() bool { return get("http://127.0.0.1:18181/readyz") == "ok\n" })
	git(t, src, "update-ref", "refs/heads/live", commits[1])
	eventually(t, "the second version is published", func() bool { return strings.Contains(version(), "version: '1'") })
	eventually(t, "it counts", func() bool {
		return strings.Contains(get("http://127.0.0.1:18181/metrics"), `waybill_syncs_total{result="published"} 2`)
	})
	count := git(t, dir, "rev-list", "--all", "--count")
	time.Sleep(2500 * time.Millisecond)
	if now := git(t, dir, "rev-list", "--all", "--count"); now != count {
		t.Errorf("with nothing to do there were %s commits, now %s", count, now)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it does not stop in peace: %v\n%s", err, log.String())
	}
	if !strings.Contains(log.String(), `"msg":"branch published"`) {
		t.Errorf("the log lacks what was published:\n%s", log.String())
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("it does not come about that %s", what)
}

func get(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return string(data)
}
