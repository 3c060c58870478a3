//go:build e2e

package publish

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// recipe returns the YAML below a heading of docs/ci.md.
func recipe(t *testing.T, heading string, into any) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	_, rest, block := strings.Cut(rest, "\n```yaml\n")
	text, _, end := strings.Cut(rest, "\n```\n")
	if !ok || !block || !end {
		t.Fatalf("docs/ci.md has no recipe for %s", heading)
	}
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// step is a job's commands, which one shell runs.
type step struct {
	lines []string
	env   map[string]string
}

// event is what makes a server start jobs.
type event struct {
	name      string
	variables map[string]string // as GitLab has them
}

// holds evaluates a condition of a recipe: equalities and &&.
func (e event) holds(t *testing.T, condition string) bool {
	t.Helper()
	value := func(s string) string {
		s = strings.TrimSpace(s)
		if v, ok := strings.CutPrefix(s, "$"); ok {
			return e.variables[v]
		}
		if s == "github.event_name" {
			return e.name
		}
		if len(s) < 2 || !strings.ContainsRune(`'"`, rune(s[0])) {
			t.Fatalf("the condition %q is not understood", condition)
		}
		return s[1 : len(s)-1]
	}
	for part := range strings.SplitSeq(condition, "&&") {
		a, b, ok := strings.Cut(part, "==")
		if !ok {
			t.Fatalf("the condition %q is not understood", condition)
		}
		if value(a) != value(b) {
			return false
		}
	}
	return true
}

// workflow returns the steps of a workflow of GitHub's or Gitea's that an event starts.
func workflow(t *testing.T, heading string, e event) []step {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			If    string            `json:"if"`
			Env   map[string]string `json:"env"`
			Steps []struct {
				Uses string            `json:"uses"`
				Run  string            `json:"run"`
				With map[string]string `json:"with"`
			} `json:"steps"`
		} `json:"jobs"`
	}
	recipe(t, heading, &w)
	var steps []step
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[name]
		if !e.holds(t, job.If) {
			continue
		}
		if checkout := job.Steps[0]; !strings.HasPrefix(checkout.Uses, "actions/checkout@") || len(checkout.With) > 0 {
			t.Errorf("job %s does not begin with a plain checkout", name)
		}
		for i, token := range job.Env {
			job.Env[i] = secret(t, token)
		}
		for _, s := range job.Steps {
			if s.Run != "" {
				steps = append(steps, step{[]string{s.Run}, job.Env})
			}
		}
	}
	return steps
}

// secret is what a server puts in place of an expression.
func secret(t *testing.T, expression string) string {
	t.Helper()
	if !slices.Contains([]string{"${{ github.token }}", "${{ secrets.GITEA_TOKEN }}"}, expression) {
		t.Errorf("there is no %s", expression)
	}
	return strings.TrimPrefix(password, "WAYBILL_PASSWORD=")
}

// pipeline returns the steps of GitLab's file that an event starts.
func pipeline(t *testing.T, e event) []step {
	t.Helper()
	var file map[string]struct {
		Rules []struct {
			If string `json:"if"`
		} `json:"rules"`
		Before []string `json:"before_script"`
		Script []string `json:"script"`
	}
	recipe(t, "GitLab CI", &file)
	var steps []step
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if job := file[name]; name != "default" && e.holds(t, job.Rules[0].If) {
			env := maps.Clone(e.variables)
			env["WAYBILL_PASSWORD"] = strings.TrimPrefix(password, "WAYBILL_PASSWORD=")
			steps = append(steps, step{append(slices.Clone(file["default"].Before), job.Script...), env})
		}
	}
	return steps
}

// job runs steps in a clone, until one fails, and returns what they printed and the last
// status.
func (u *upstream) job(t *testing.T, dir string, steps []step) (out string, code int) {
	t.Helper()
	if len(steps) == 0 {
		t.Fatal("the recipe has no job for this")
	}
	bin := t.TempDir()
	write(t, filepath.Join(bin, "go"), []byte("#!/bin/sh\n[ \"$*\" = 'install github.com/waybill-dev/waybill/cmd/waybill@latest' ]\n"))
	if err := os.Chmod(filepath.Join(bin, "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", strings.Join(s.lines, "\n"))
		cmd.Dir = dir
		cmd.Env = append(env(t), u.extra[0])
		for k, v := range s.env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		for i, v := range cmd.Env {
			if path, ok := strings.CutPrefix(v, "PATH="); ok {
				cmd.Env[i] = "PATH=" + bin + ":" + filepath.Dir(binary) + ":" + path
			}
		}
		text, status := status(t, cmd)
		if out += text; status != 0 {
			return out, status
		}
	}
	return out, 0
}

// checkoutRef makes a clone as actions/checkout does: it fetches one commit with the token,
// and knows it by one ref.
func (u *upstream) checkoutRef(t *testing.T, commit, ref string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	git(t, dir, "remote", "add", "origin", u.url)
	header := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:hunter2"))
	git(t, dir, "-c", "http.sslCAInfo="+strings.TrimPrefix(u.extra[0], "SSL_CERT_FILE="), "-c", "http.extraHeader="+header,
		"fetch", "-q", "--no-tags", "--depth=1", "origin", "+"+commit+":"+ref)
	if branch, ok := strings.CutPrefix(ref, "refs/remotes/origin/"); ok {
		git(t, dir, "checkout", "-q", "-B", branch, ref)
	} else {
		git(t, dir, "checkout", "-q", "--detach", ref)
	}
	return dir
}

// proposal makes a merge request: its head, and its merge with main, which is left as it is.
func (u *upstream) proposal(t *testing.T, file string, content []byte) (head, merge string) {
	t.Helper()
	git(t, u.work, "checkout", "-q", "-B", "proposal", "main")
	write(t, filepath.Join(u.work, file), content)
	git(t, u.work, "add", "-A")
	git(t, u.work, "commit", "-qm", "propose "+file)
	head = git(t, u.work, "rev-parse", "HEAD")
	git(t, u.work, "checkout", "-q", "--detach", "main")
	git(t, u.work, "merge", "-q", "--no-ff", "-m", "merge", head)
	merge = git(t, u.work, "rev-parse", "HEAD")
	git(t, u.work, "push", "-qf", u.bare, head+":refs/pull/1/head", merge+":refs/pull/1/merge")
	git(t, u.work, "checkout", "-q", "main")
	return head, merge
}

// forge is a server with its way to run recipes.
type forge struct {
	heading string
	push    func(t *testing.T, u *upstream, commit string) (dir string, steps []step)
	propose func(t *testing.T, u *upstream, head, merge string) (dir string, steps []step)
	report  func(data []byte) (string, error) // what the file with the verdict says; nil: there is none
	file    string
}

func forges() []forge {
	actions := func(heading string, merges bool) forge {
		return forge{
			heading: heading,
			push: func(t *testing.T, u *upstream, commit string) (string, []step) {
				t.Helper()
				return u.checkoutRef(t, commit, "refs/remotes/origin/main"), workflow(t, heading, event{name: "push"})
			},
			propose: func(t *testing.T, u *upstream, head, merge string) (string, []step) {
				t.Helper()
				steps := workflow(t, heading, event{name: "pull_request"})
				if merges {
					return u.checkoutRef(t, merge, "refs/remotes/pull/1/merge"), steps
				}
				return u.checkoutRef(t, head, "refs/remotes/pull/1/head"), steps
			},
		}
	}
	github, gitea := actions("GitHub Actions", true), actions("Gitea Actions", false)
	github.file = "waybill.sarif"
	github.report = func(data []byte) (string, error) {
		var log struct {
			Runs []struct{ Results []json.RawMessage }
		}
		err := json.Unmarshal(data, &log)
		return fmt.Sprintf("%s", log.Runs[0].Results), err
	}
	gitlab := forge{
		heading: "GitLab CI",
		push: func(t *testing.T, u *upstream, commit string) (string, []step) {
			t.Helper()
			e := event{variables: map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}}
			return u.checkoutRef(t, commit, "refs/pipelines/1"), pipeline(t, e)
		},
		propose: func(t *testing.T, u *upstream, head, _ string) (string, []step) {
			t.Helper()
			base := git(t, u.work, "rev-parse", head+"^")
			e := event{variables: map[string]string{"CI_PIPELINE_SOURCE": "merge_request_event", "CI_DEFAULT_BRANCH": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}}
			return u.checkoutRef(t, head, "refs/pipelines/2"), pipeline(t, e)
		},
		file: "waybill.xml",
		report: func(data []byte) (string, error) {
			var suites struct {
				Failures []string `xml:"testsuite>testcase>failure"`
			}
			err := xml.Unmarshal(data, &suites)
			return fmt.Sprint(suites.Failures), err
		},
	}
	return []forge{github, gitlab, gitea}
}

func TestRecipes(t *testing.T) {
	for _, f := range forges() {
		t.Run(f.heading, func(t *testing.T) {
			u := newUpstream(t)
			git(t, u.bare, "config", "uploadpack.allowAnySHA1InWant", "true") // as these servers do
			dir, steps := f.push(t, u, git(t, u.work, "rev-parse", "HEAD"))
			if out, code := u.job(t, dir, steps); code != 0 || !strings.Contains(u.on(t, "eu"), "one.yaml") {
				t.Fatalf("the first push: status %d\n%s", code, out)
			}
			f.check(t, u)
			published := u.heads(t)
			write(t, filepath.Join(u.work, "one.yaml"), configMap("one", "2"))
			dir, steps = f.push(t, u, u.push(t, "second"))
			if out, code := u.job(t, dir, steps); code != 0 || u.heads(t) == published || strings.Contains(out, "warning") {
				t.Errorf("the second push: status %d\n%s", code, out)
			}
			write(t, filepath.Join(u.work, "one.yaml"), []byte(broken))
			dir, steps = f.push(t, u, u.push(t, "broken"))
			if out, code := u.job(t, dir, steps); code != 1 || !strings.Contains(u.on(t, "eu"), "one.yaml") {
				t.Errorf("a broken push: status %d\n%s", code, out)
			}
			git(t, u.bare, "fsck", "--strict")
		})
	}
}

// check runs a recipe for proposals, which publish nothing.
func (f forge) check(t *testing.T, u *upstream) {
	t.Helper()
	published := u.heads(t)
	head, merge := u.proposal(t, "two.yaml", configMap("two", "2"))
	dir, steps := f.propose(t, u, head, merge)
	out, code := u.job(t, dir, steps)
	if code != 0 || !strings.Contains(out, "1 object in 1 of 2 clusters: 1 changes") || strings.Contains(out, "warning") {
		t.Errorf("a sound proposal: status %d\n%s", code, out)
	}
	if said := f.verdict(t, dir); said != "[]" {
		t.Errorf("a sound proposal: %s", said)
	}
	head, merge = u.proposal(t, "two.yaml", []byte(broken))
	dir, steps = f.propose(t, u, head, merge)
	if out, code := u.job(t, dir, steps); code != 1 {
		t.Errorf("a broken proposal: status %d\n%s", code, out)
	}
	if said := f.verdict(t, dir); f.report != nil && !strings.Contains(said, "two.yaml") {
		t.Errorf("a broken proposal: %s", said)
	}
	if after := u.heads(t); after != published {
		t.Errorf("a proposal published:\n%s\n%s", published, after)
	}
}

// verdict is what the file says that the server is given.
func (f forge) verdict(t *testing.T, dir string) string {
	t.Helper()
	if f.report == nil {
		return "[]"
	}
	data, err := os.ReadFile(filepath.Join(dir, f.file))
	if err != nil {
		t.Fatal(err)
	}
	said, err := f.report(data)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func TestTheHookForPreCommit(t *testing.T) {
	var config struct {
		Repos []struct {
			Repo  string
			Hooks []struct{ ID string }
		}
	}
	recipe(t, "pre-commit", &config)
	data, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID, Entry, Files string
		PassFilenames    *bool `json:"pass_filenames"`
	}
	if err := yaml.Unmarshal(data, &hooks); err != nil {
		t.Fatal(err)
	}
	hook := hooks[0]
	if id := config.Repos[0].Hooks[0].ID; id != hook.ID || hook.PassFilenames == nil || *hook.PassFilenames {
		t.Fatalf("the hook %+v is not the one of the recipe, %s", hook, id)
	}
	for file, wants := range map[string]bool{"apps/web.yaml": true, "a.yml": true, "chart/templates/_helpers.tpl": true, "waybill.lock": true, ".waybillignore": true, "README.md": false} {
		if regexp.MustCompile(hook.Files).MatchString(file) != wants {
			t.Errorf("it looks at %s: %t", file, !wants)
		}
	}
	u := newUpstream(t)
	u.run(t, 0, "publish", u.work, "--to", "origin")
	asked, _ := u.requests()
	run := []step{{lines: []string{hook.Entry}}}
	if out, code := u.job(t, u.work, run); code != 0 {
		t.Errorf("a sound source: status %d\n%s", code, out)
	}
	write(t, filepath.Join(u.work, "one.yaml"), []byte(broken))
	if out, code := u.job(t, u.work, run); code != 1 || !strings.Contains(out, "one.yaml:2: error") {
		t.Errorf("a broken source: status %d\n%s", code, out)
	}
	if again, _ := u.requests(); len(again) != len(asked) {
		t.Error("it asked the server")
	}
}

// The two lines at the beginning of docs/ci.md.
func TestTwoLinesAreEnough(t *testing.T) {
	doc, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^(waybill .*)$`).FindAllStringSubmatch(string(doc), -1)
	if len(lines) != 2 {
		t.Fatalf("they are %v", lines)
	}
	u := newUpstream(t)
	_, token, _ := strings.Cut(password, "=")
	job := step{lines: []string{lines[0][1], lines[1][1]}, env: map[string]string{"WAYBILL_PASSWORD": token}}
	if out, code := u.job(t, u.checkout(t, git(t, u.work, "rev-parse", "HEAD")), []step{job}); code != 0 {
		t.Errorf("status %d\n%s", code, out)
	}
	if files := u.on(t, "eu"); !strings.Contains(files, "one.yaml") {
		t.Errorf("eu has %s", files)
	}
}
