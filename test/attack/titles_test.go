//go:build e2e

package attack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/test/program"
)

// What a pull request is called, and what its author wrote into it, becomes the message of the commit
// that merges it: a line of the body of a merge commit, and the body of a squashed one. Neither releases
// what the guard holds where maintainers do that by comments. A message of one line releases nothing at all.
func TestAPullRequestsTitleReleasesTheGuard(t *testing.T) {
	t.Parallel()
	waybill := program.Build(t)
	for name, attack := range map[string]struct {
		message string // where DIGEST stands for that of what is held
		orders  bool
	}{
		"a merge commit whose body is the title":       {"Merge pull request #7 from rob/change\n\nWaybill-Allow-Prune: DIGEST", true},
		"a squashed commit with the author's trailer":  {"Tidy up (#7)\n\n* a fix\n\nWaybill-Allow-Prune: DIGEST\nCo-authored-by: rob <rob@example.test>", true},
		"a commit that is its title, without comments": {"Waybill-Allow-Prune: DIGEST", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, waybill)
			f.commit("all of it goes", map[string]string{"one.yaml": ""})
			digest := f.held()
			f.commit(strings.ReplaceAll(attack.message, "DIGEST", digest), map[string]string{"README": "a change"})
			var with []string
			if attack.orders {
				with = append(with, "--orders", "--forge", "github", "--forge-repository", forgetest.Name, "--token-file", f.file("token", forgetest.Token),
					"--forge-url", forgetest.GitHub(t, forgetest.NewFake(), &forgetest.Waybill, forgetest.Bearer(forgetest.Token)))
			}
			log := f.controls("synced", with...)
			if !strings.Contains(f.published(), "configmap/one.yaml") {
				t.Errorf("all of it is gone:\n%s", log)
			}
			if comment := "/waybill approve-prune DIGEST HEAD"; attack.orders != strings.Contains(log, comment) {
				t.Errorf("whether the log names the comment %s:\n%s", comment, log)
			}
		})
	}
}

// fleet is a repository whose cluster eu holds one object, and another one that it is published to.
type fleet struct {
	t                     *testing.T
	waybill, source, bare string
}

func newFleet(t *testing.T, waybill string) *fleet {
	t.Helper()
	f := &fleet{t: t, waybill: waybill, source: t.TempDir(), bare: filepath.Join(t.TempDir(), "bare.git")}
	f.run("git", "init", "-q", "-b", "main", f.source)
	f.run("git", "init", "-q", "--bare", f.bare)
	f.commit("a fleet", map[string]string{
		"fleet.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n" +
			"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n",
		"one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n",
	})
	f.run(waybill, "publish", "--to", f.bare)
	return f
}

// file is a file with a text, outside of the repositories.
func (f *fleet) file(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// run runs a command over the source.
func (f *fleet) run(args ...string) string {
	f.t.Helper()
	out, err := f.command(f.t.Context(), args...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (f *fleet) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = f.source
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.test", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.test")
	return cmd
}

// commit commits files to main; one without a text goes.
func (f *fleet) commit(message string, texts map[string]string) {
	f.t.Helper()
	for name, text := range texts {
		path := filepath.Join(f.source, name)
		err := os.WriteFile(path, []byte(text), 0o600)
		if text == "" {
			err = os.Remove(path)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	f.run("git", "add", "-A")
	f.run("git", "commit", "-qm", message)
}

// held is the digest of what is held.
func (f *fleet) held() string {
	f.t.Helper()
	out, _ := f.command(f.t.Context(), f.waybill, "publish", "--to", f.bare, "--dry-run").CombinedOutput()
	_, digest, ok := strings.Cut(string(out), "Waybill-Allow-Prune: ")
	if !ok {
		f.t.Fatalf("nothing is held:\n%s", out)
	}
	digest, _, _ = strings.Cut(digest, `"`)
	return digest
}

// controls runs a controller until it says something, and returns its log.
func (f *fleet) controls(until string, with ...string) string {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	cmd := f.command(ctx, append([]string{f.waybill, "controller", f.source, "--to", f.bare, "--listen", "", "--plain-http"}, with...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	var log strings.Builder
	said := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		var line struct{ Msg string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == until && !said {
			said = true
			cancel()
		}
	}
	_ = cmd.Wait() // it was interrupted
	if !said {
		f.t.Fatalf("it never says %q:\n%s", until, log.String())
	}
	return strings.ReplaceAll(log.String(), `\"`, `"`)
}

// published lists what the branch of eu holds.
func (f *fleet) published() string {
	f.t.Helper()
	return f.run("git", "-C", f.bare, "ls-tree", "-r", "--name-only", "waybill/cluster/eu")
}
