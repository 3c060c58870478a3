//go:build e2e

package e2e

import (
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/peers"
)

// backups copies repositories, and returns what puts the copies in their place, as who restores a forge does.
func (e *edge) backups() (restore func()) {
	e.t.Helper()
	copies := map[string]string{}
	for _, dir := range []string{e.bare, e.statuses} {
		copies[dir] = filepath.Join(e.t.TempDir(), "backup.git")
		if err := backup(dir, copies[dir]); err != nil {
			e.t.Fatal(err)
		}
	}
	return func() {
		e.t.Helper()
		e.down.Store(true)
		defer e.down.Store(false)
		for dir, from := range copies {
			err := os.Rename(dir, filepath.Join(e.t.TempDir(), "lost.git"))
			if err == nil {
				err = os.CopyFS(dir, os.DirFS(from))
			}
			if err != nil {
				e.t.Fatal(err)
			}
		}
	}
}

// backup copies a repository. Somebody may be pushing to it: if a file is gone that was there a moment ago it begins anew.
func backup(from, to string) (err error) {
	for range 10 {
		if err = os.CopyFS(to, os.DirFS(from)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return err
}

// value has both clusters come to a value, and what became of that be told: of eu-1 by its agent, of us-1 by the
// controller.
func (e *edge) value(value string) {
	e.t.Helper()
	e.namespace("follow", value, 5)
	e.commit()
	e.arrive(value)
}

func (e *edge) arrive(value string) {
	e.t.Helper()
	for cluster, statuses := range map[string]string{"eu-1": e.statuses, "us-1": e.bare} {
		e.becomes(cluster, "c0000", value)
		e.settles(cluster)
		eventually(e.t, "it is told that "+cluster+" has "+value, func() (bool, string) {
			head := strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/cluster/"+cluster))
			out, err := exec.Command("git", "-C", statuses, "show", "waybill/status/"+cluster+":status.yaml").CombinedOutput()
			told := string(out)
			return err == nil && strings.Contains(told, head) && strings.Contains(told, "reason: Applied\n"), head + "\n" + told
		})
	}
}

// restores types what operations.md has somebody type who publishes anew after a restore.
func (e *edge) restores(target string) {
	e.t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		e.t.Fatal(err)
	}
	command := ""
	for line := range strings.Lines(string(page)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "waybill publish ") && strings.HasSuffix(line, " --restored") {
			command = line
		}
	}
	if command == "" {
		e.t.Fatal("the page has no such command")
	}
	command = strings.Replace(command, "--to origin", "--to "+target, 1) // an origin would be what the source is called
	cmd := exec.Command("sh", "-ec", command+" --status-repository "+e.url+"/status.git")
	like := e.command("publish")
	cmd.Dir, cmd.Env = e.source, append(like.Env, "PATH="+filepath.Dir(e.waybill)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		e.t.Fatalf("%v\n%s", err, out)
	}
}

// TestRestore restores a forge from a backup, under a controller that pushes to one cluster and an agent of another one:
// the branches of the clusters, of the state and of the statuses go back, while the clusters are further. One who
// published what was lost goes on as if nothing had been; one who begins anew is told of the restore, and reads of the
// statuses what was applied.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := build(t)
	for _, to := range []string{"a path", "a URL"} {
		t.Run(to, func(t *testing.T) {
			dir := t.TempDir()
			etcd := startEtcd(t, p, dir)
			e := newEdge(t, p, startAPI(t, p, etcd, filepath.Join(dir, "eu")))
			us := startAPI(t, p, etcd, filepath.Join(dir, "us"))
			e.apis["us-1"] = us.with(t)
			e.write("clusters/us-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us-1}\nspec: {syncMode: Push}\n")
			e.reach("us-1", us.kubeconfig)
			target := e.bare
			if to == "a URL" {
				backend, err := peers.GitServer(t.Context(), filepath.Dir(e.bare))
				if err != nil {
					t.Fatal(err)
				}
				server := httptest.NewServer(backend)
				defer server.Close()
				target = server.URL + "/fleet.git"
			}
			control := func(flags ...string) (kill func()) {
				cmd := e.controls(append([]string{"--to", target, "--listen", "", "--apply", "--kubeconfig-dir", e.kubeconfigs, "--status-repository", e.url + "/status.git"}, flags...)...)
				return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
			}
			kill := control()
			a := e.agent("--instance", "edge")
			e.value("one")
			restore := e.backups()
			e.value("two")
			e.value("three")
			restore()
			e.value("four")

			// whoever publishes is lost with the forge
			e.value("five")
			kill()
			lost := strings.TrimSpace(e.git(e.bare, "rev-parse", "waybill/cluster/eu-1")) // the one of us-1 has the same files
			restore()
			e.namespace("follow", "six", 5)
			e.commit()
			if err := os.RemoveAll(filepath.Join(filepath.Dir(e.source), "cache")); err != nil { // it is another machine
				t.Fatal(err)
			}
			kill = control()
			eventually(t, "the agent refuses what does not come after what it applied", func() (bool, string) {
				said := a.said()
				return strings.Count(said, "does not come after") > 0, said
			})
			for cluster, statuses := range map[string]string{"eu-1": e.statuses, "us-1": e.bare} {
				eventually(t, "it is told what "+cluster+" applied", func() (bool, string) {
					out, err := exec.Command("git", "-C", statuses, "show", "waybill/status/"+cluster+":status.yaml").CombinedOutput()
					return err == nil && strings.Contains(string(out), lost), string(out)
				})
			}
			kill()
			if to == "a path" {
				e.restores(target)
				kill = control()
			} else {
				kill = control("--restored")
			}
			defer kill()
			e.arrive("six")
			e.value("seven")
			for _, dir := range []string{e.bare, e.statuses} {
				if out := e.git(dir, "fsck", "--full", "--no-dangling"); strings.Contains(out, "missing") || strings.Contains(out, "broken") {
					t.Errorf("git fsck of %s: %s", dir, out)
				}
			}
			a.stop()
		})
	}
}
