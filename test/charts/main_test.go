// Package charts runs the waybill command on releases whose charts are in
// repositories: a Helm repository over HTTP, whose archives and index Helm's own
// packages wrote, and a registry, to which Helm's own client pushed. Both are servers
// of the test's process, so that a test can have them lie, lead elsewhere, ask for
// passwords or be gone, and can look up what they were asked.
package build

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/program"
)

var binary string

func TestMain(m *testing.M) { os.Exit(program.Tests{M: m, Path: &binary}.Run()) }

// fleet is a source, the repository that it is published to, and how waybill is run on
// them.
type fleet struct {
	t     *testing.T
	dir   string   // of the source
	bare  string   // repository of the branches
	cache string   // folder of waybill's caches
	flags []string // of every command
}

// newFleet makes a source of these files, by their paths. Its commands may ask the
// servers of this machine that hosts lists.
func newFleet(t *testing.T, files map[string]string, hosts ...string) *fleet {
	t.Helper()
	root := t.TempDir()
	f := &fleet{t: t, dir: filepath.Join(root, "src"), bare: filepath.Join(root, "bare.git"), cache: filepath.Join(root, "cache")}
	f.flags = []string{"--chart-private", "127.0.0.0/8"}
	for _, h := range hosts {
		f.flags = append(f.flags, "--chart-host", h)
	}
	f.exec("", "git", "init", "-q", "--bare", "-b", "main", f.bare)
	f.exec("", "git", "init", "-q", "-b", "main", f.dir)
	f.commit(files)
	return f
}

// commit writes files into the source, and commits all that is there.
func (f *fleet) commit(files map[string]string) {
	f.t.Helper()
	for name, text := range files {
		f.write(name, text)
	}
	f.exec(f.dir, "git", "add", "-A")
	f.exec(f.dir, "git", "commit", "-q", "--allow-empty", "-m", "change")
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	file := filepath.Join(f.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// environ is a clean environment for git and waybill.
func (f *fleet) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.cache, "XDG_CACHE_HOME=" + f.cache, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
	}
}

func (f *fleet) exec(dir, name string, args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, f.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// result is what a command came to.
type result struct {
	t    *testing.T
	line string
	code int
	out  string // standard output and error
}

// waybill runs a command in the source.
func (f *fleet) waybill(args ...string) result {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), binary, append(args, f.flags...)...)
	cmd.Dir, cmd.Env = f.dir, f.environ()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		f.t.Fatalf("waybill %v: %v", args, err)
	}
	return result{t: f.t, line: strings.Join(args, " "), code: cmd.ProcessState.ExitCode(), out: out.String()}
}

func (f *fleet) publish() result {
	f.t.Helper()
	return f.waybill("publish", ".", "--to", f.bare)
}

// lock runs update, and commits what it wrote.
func (f *fleet) lock() {
	f.t.Helper()
	f.waybill("update", ".").exits(0)
	f.commit(nil)
}

// exits checks how a command ended, and that it said each of the parts.
func (r result) exits(code int, parts ...string) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("waybill %s exits with %d, want %d:\n%s", r.line, r.code, code, r.out)
	}
	for _, p := range parts {
		if !strings.Contains(r.out, p) {
			r.t.Errorf("waybill %s does not say %q:\n%s", r.line, p, r.out)
		}
	}
	return r
}

// lacks checks that a command did not say any of the parts.
func (r result) lacks(parts ...string) result {
	r.t.Helper()
	for _, p := range parts {
		if strings.Contains(r.out, p) {
			r.t.Errorf("waybill %s says %q:\n%s", r.line, p, r.out)
		}
	}
	return r
}

// head is the commit of a cluster's branch.
func (f *fleet) head(cluster string) string {
	f.t.Helper()
	return f.exec(f.bare, "git", "rev-parse", "waybill/cluster/"+cluster)
}

// locked checks that the lock file has the parts.
func (f *fleet) locked(parts ...string) {
	f.t.Helper()
	text := f.read("waybill.lock")
	for _, p := range parts {
		if !strings.Contains(text, p) {
			f.t.Errorf("the lock file lacks %q:\n%s", p, text)
		}
	}
}

// holds checks that a file of a cluster's branch has the parts.
func (f *fleet) holds(cluster, file string, parts ...string) {
	f.t.Helper()
	text := f.exec(f.bare, "git", "show", "waybill/cluster/"+cluster+":"+file)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			f.t.Errorf("%s of %s lacks %q:\n%s", file, cluster, p, text)
		}
	}
}
