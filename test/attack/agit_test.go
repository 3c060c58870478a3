//go:build e2e

package attack_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

const fleetOf = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}
`

func configOf(spec string) string {
	return "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {" + spec + "}\n"
}

// The contexts of statuses.
const members, strangers = "waybill/preview", "waybill/preview-fork"

const configMapNamed = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\n"

// reader is rob, who may read the repository fleet, with a clone of it.
type reader struct {
	*hub.Hub

	t   *testing.T
	dir string
}

// newReader starts a Gitea with a repository whose waybill.yaml says that strangers' changes are not looked at,
// and a controller that shows pull requests.
func newReader(t *testing.T, flags ...string) *reader {
	t.Helper()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "waybill.yaml", configOf("previews: {forks: never}"))
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", fleetOf)
	h.Commit(t, "fleet", "main", "main", "one.yaml", fmt.Sprintf(configMapNamed, "one"))
	h.Hook(t, h.Controls(t, append([]string{"--previews", "--orders"}, flags...)...))
	h.Until(t, "it is published", func() bool { return h.Published(t, "manifests/a/configmap/one.yaml") })
	r := &reader{Hub: h, t: t, dir: filepath.Join(t.TempDir(), "clone")}
	r.git(".", "clone", "-q", h.Clone(h.People["rob"], "waybill/fleet"), r.dir)
	return r
}

func (r *reader) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=rob", "-c", "user.email=rob@example.test"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and makes a commit of them, wherever the clone is.
func (r *reader) commit(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git(r.dir, "add", "-A")
	r.git(r.dir, "commit", "-qm", "a change")
}

// pushes has rob, who may not push to any branch, open a pull request or push to it, as AGit has it. Without files he
// pushes the commit that he has.
func (r *reader) pushes(topic string, files map[string]string) (number int, head string) {
	r.t.Helper()
	if len(files) > 0 {
		r.commit(files)
	}
	r.git(r.dir, "push", "-q", "origin", "HEAD:refs/for/main", "-o", "topic="+topic, "-o", "title=a reader's")
	head = r.git(r.dir, "rev-parse", "HEAD")
	r.Until(r.t, "the pull request has its head", func() bool {
		var all []struct {
			Number int
			User   struct{ Login string }
			Head   struct {
				SHA  string
				Repo struct{ ID int64 }
			}
			Base struct{ Repo struct{ ID int64 } }
		}
		r.Do(r.t, "rob", http.MethodGet, "/repos/waybill/fleet/pulls?state=open", nil, &all)
		for _, p := range all {
			if p.Head.SHA == head && p.User.Login == "rob" {
				if p.Head.Repo.ID != p.Base.Repo.ID {
					r.t.Error("Gitea says by now where the head is from")
				}
				number = p.Number
			}
		}
		return number > 0
	})
	return number, head
}

// says returns what Waybill says at a pull request.
func (r *reader) says(number int) (said string) {
	r.t.Helper()
	all, err := r.Open(r.t, "waybill", "fleet").Comments(r.t.Context(), number)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range all {
		if c.Mine {
			said += c.Body
		}
	}
	return said
}

// waits waits until a head shows, by a status of strangers or, if it was named, by that of members, why it is not
// looked at.
func (r *reader) waits(about, head, why string) {
	r.t.Helper()
	r.Until(r.t, why, func() bool {
		s := r.Shown(r.t, "fleet", head, about)
		if s.State == forge.Success || s.State == forge.Failure {
			r.t.Fatalf("it is shown: %+v", s)
		}
		return s.State == forge.Pending && strings.HasPrefix(s.Description, why)
	})
}

// approves has wendy, who may write, name a head.
func (r *reader) approves(number int, head string) {
	r.t.Helper()
	r.Do(r.t, "wendy", http.MethodPost, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", number), hub.Fields{"body": "/waybill preview " + head}, nil)
}

// TestAReaderPushesToRefsFor: Gitea answers of a head that a reader pushed to refs/for/main that it is in the
// repository itself. It is a stranger's all the same: not looked at with `forks: never`, and with `forks: approved`
// when a maintainer named its head, by the configuration of main, and as one of so many of its author.
func TestAReaderPushesToRefsFor(t *testing.T) {
	t.Parallel()
	r := newReader(t, "--previews-per-author", "1")
	_, first := r.pushes("theirs", map[string]string{"two.yaml": fmt.Sprintf(configMapNamed, "two")})
	r.waits(strangers, first, "changes from strangers are not looked at")

	r.git(r.dir, "checkout", "-q", "-b", "next", "origin/main")
	r.commit(map[string]string{"waybill.yaml": configOf("previews: {forks: approved}")})
	r.git(r.dir, "push", "-q", r.Clone(r.People["ann"], "waybill/fleet"), "HEAD:main")
	r.git(r.dir, "checkout", "-q", "main")
	number, head := r.pushes("theirs", map[string]string{
		"waybill.yaml": configOf("previews: {forks: open}, scan: {exclude: [one.yaml]}"), "three.yaml": fmt.Sprintf(configMapNamed, "three"),
	})
	r.waits(strangers, head, "from a stranger: a maintainer may comment /waybill preview "+head)
	if said := r.says(number); said != "" {
		t.Errorf("it says\n%s", said)
	}
	r.approves(number, head)
	r.Until(t, "it is shown when a maintainer named its head", func() bool { return r.says(number) != "" })
	if said := r.says(number); !strings.Contains(said, "From a stranger: planned by `waybill.yaml`") || !strings.Contains(said, "2 objects in 1 of 1 cluster**: 2 appear") {
		t.Errorf("by the configuration of main it says\n%s", said)
	}
	_, head = r.pushes("theirs", map[string]string{"four.yaml": fmt.Sprintf(configMapNamed, "four")})
	r.waits(strangers, head, "from a stranger: a maintainer may comment")
	r.approves(number, head)
	r.waits(members, head, "from a stranger: 1 changes of its author were looked at within an hour")
}

// TestAStrangerPushesTheHeadOfAMember: a stranger's pull request whose head is that of a member's leaves the status
// alone that the commit has as the member's, even when a maintainer names it.
func TestAStrangerPushesTheHeadOfAMember(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.git(r.dir, "checkout", "-q", "-b", "approved")
	r.commit(map[string]string{"waybill.yaml": configOf("previews: {forks: approved}")})
	r.git(r.dir, "push", "-q", r.Clone(r.People["ann"], "waybill/fleet"), "HEAD:main")
	head := r.Commit(t, "fleet", "main", "change", "two.yaml", fmt.Sprintf(configMapNamed, "two"))
	r.Do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", hub.Fields{"title": "a member's", "head": "change", "base": "main"}, nil)
	shown := func() forge.Status { return r.Shown(t, "fleet", head, members) }
	r.Until(t, "the member's is shown", func() bool { return shown().State == forge.Success })
	r.git(r.dir, "fetch", "-q", "origin", "change")
	r.git(r.dir, "checkout", "-q", "FETCH_HEAD")
	number, _ := r.pushes("theirs", nil)
	r.waits(strangers, head, "from a stranger: a maintainer may comment")
	r.approves(number, head)
	r.Until(t, "the stranger's is shown, too", func() bool { return r.Shown(t, "fleet", head, strangers).State == forge.Success })
	if s := shown(); s.State != forge.Success || s.Description != "1 object in 1 cluster" {
		t.Errorf("the member's shows %+v", s)
	}
}
