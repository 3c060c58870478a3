package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// refusingForge is a forge that knows no token.
func refusingForge(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message": "no such token"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// job is a checkout in a job of GitHub Actions.
type job struct {
	dir, home string
	env       []string
	fake      *forgetest.Fake
}

const fleetOfTwo = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}
`

// newJob returns a job for a repository with a fleet.
func newJob(t *testing.T) *job {
	t.Helper()
	j := &job{dir: t.TempDir(), home: t.TempDir(), fake: forgetest.NewFake()}
	url := forgetest.GitHub(t, j.fake, nil, forgetest.Bearer(forgetest.Token))
	j.env = []string{
		"PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC"), "HOME=" + j.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GITHUB_ACTIONS=true", "GITHUB_SERVER_URL=" + url, "GITHUB_REPOSITORY=" + forgetest.Name, "GITHUB_EVENT_PATH=" + filepath.Join(j.home, "event.json"), "GITHUB_RUN_ID=99",
		"GITHUB_TOKEN=" + forgetest.Token,
	}
	j.run(t, 0, "git", "init", "-q", "-b", "main", ".")
	j.commit(t, "fleet.yaml", fleetOfTwo)
	return j
}

// run runs a command in the checkout, which ends with a status.
func (j *job) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	if args[0] == "waybill" {
		args[0] = binary
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = j.dir, j.env
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("%v ends with %d, want %d\n%s", args, got, want, out)
	}
	if strings.Contains(string(out), forgetest.Token) {
		t.Errorf("%v prints the token:\n%s", args, out)
	}
	return string(out)
}

// commit commits a file, which becomes the head of the pull request.
func (j *job) commit(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j.run(t, 0, "git", "add", "-A")
	j.run(t, 0, "git", "commit", "-qm", "write "+name)
	head := strings.TrimSpace(j.run(t, 0, "git", "rev-parse", "HEAD"))
	j.fake.PushCommit(head)
	event := fmt.Sprintf(`{"pull_request": {"number": %d, "head": {"sha": %q}}}`, forgetest.Number, head)
	if err := os.WriteFile(filepath.Join(j.home, "event.json"), []byte(event), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shows returns what the pull request shows.
func (j *job) shows(t *testing.T) (comment string, status forge.Status) {
	t.Helper()
	all, err := j.fake.Comments(t.Context(), forgetest.Number)
	if err != nil || len(all) != 1 {
		t.Fatalf("there are the comments %+v, %v", all, err)
	}
	return all[0].Body, j.fake.Shown(j.fake.Pull().Head, post.Context)
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\ndata: {k: %q}\n", name, value)
}

func TestAJobShowsWhatAChangeDoes(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	diff := []string{"waybill", "diff", "HEAD^", "HEAD", "--post"}
	j.commit(t, "one.yaml", configMap("one", "1"))
	j.run(t, 1, diff...)
	comment, status := j.shows(t)
	if !strings.Contains(comment, "<b>appears</b>: <code>ConfigMap/a/one</code>, to 2 clusters") || !strings.Contains(comment, "+ eu, us") {
		t.Errorf("the comment is\n%s", comment)
	}
	if want := (forge.Status{State: forge.Success, Description: "1 object in 2 clusters"}); status.State != want.State || status.Description != want.Description || !strings.HasSuffix(status.URL, "/acme/fleet/actions/runs/99") {
		t.Errorf("the status is %+v", status)
	}
	// The next head has the same comment, and what is written to break out of it does not.
	j.commit(t, "one.yaml", configMap("one", "```\n@ann <img src=x> [a](http://evil)\n````\n"))
	j.run(t, 1, diff...)
	comment, _ = j.shows(t)
	fence := "`````"
	if parts := strings.Split(comment, "\n"+fence); len(parts) != 3 || !strings.Contains(parts[1], "@ann") || strings.Contains(parts[0]+parts[2], "evil") {
		t.Errorf("the comment is\n%s", comment)
	}
	// A mistake fails, and the comment says so.
	j.commit(t, "bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: [")
	j.run(t, 2, diff...)
	if _, status = j.shows(t); status.State != forge.Failure || !strings.HasPrefix(status.Description, "the source has 1 error") {
		t.Errorf("the status of a mistake is %+v", status)
	}
	// Whoever is late says nothing.
	comment, _ = j.shows(t)
	j.fake.Push()
	if out := j.run(t, 2, diff...); !strings.Contains(out, "warning: nothing is commented: pull request 7 has another head by now") {
		t.Errorf("a late job says\n%s", out)
	}
	if now, _ := j.shows(t); now != comment {
		t.Errorf("a late job commented\n%s", now)
	}
}

// A change of thousands of objects is one where they come alike.
func TestALargeChangeIsCut(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	var b strings.Builder
	for i := range 5000 {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.WriteString(configMap(fmt.Sprintf("n%d", i), "1"))
	}
	j.commit(t, "many.yaml", b.String())
	j.run(t, 1, "waybill", "diff", "HEAD^", "HEAD", "--post")
	comment, _ := j.shows(t)
	if len(comment) > forge.MaxBody+100 || !strings.Contains(comment, "**5000 objects in 2 of 2 clusters**: 5000 appear") || !strings.Contains(comment, "<code>ConfigMap/a/n0</code> and 4999 more") {
		t.Errorf("a comment of %d bytes:\n%.500s", len(comment), comment)
	}
}
