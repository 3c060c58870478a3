package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
)

// hosted is a fleet whose source is at a real forge, and is published there.
type hosted struct {
	*fleet

	bot  forges.User // who the controller and CI jobs are
	head string      // the commit that was pushed last
}

const (
	repository = "waybill/fleet"
	deployed   = "manifests/web/deployment.apps/web.yaml" // on a branch
)

// host starts a Gitea.
func (f *fleet) host() (h *hosted, err error) {
	f.say("A forge on this machine: a real Gitea (the first time it is built, which takes some five minutes, and a C compiler).")
	f.gitea, err = forges.Start(f.ctx, f.dir)
	return &hosted{fleet: f}, err
}

// do makes a call of the forge's API.
func (h *hosted) do(method, path string, in, out any) error {
	return h.gitea.Do(h.ctx, h.bot, forges.Call{Method: method, Path: path, In: in, Out: out})
}

// create makes the repository at the forge, and the source here.
func (h *hosted) create() (err error) {
	if h.bot, err = h.gitea.AddUser(h.ctx, "waybill"); err != nil {
		return err
	}
	if err := h.do(http.MethodPost, "/user/repos", map[string]any{"name": "fleet", "default_branch": "main", "private": true}, nil); err != nil {
		return err
	}
	if err := h.repositories(); err != nil {
		return err
	}
	return h.git("-C", h.source, "remote", "add", "origin", h.gitea.Clone(h.bot, repository))
}

// push commits what there is, and pushes it to a branch.
func (h *hosted) push(branch, message string) error {
	if err := h.commit(message); err != nil {
		return err
	}
	if err := h.git("-C", h.source, "push", "-q", "origin", "HEAD:"+branch); err != nil {
		return err
	}
	var err error
	h.head, err = h.commitOf("HEAD")
	return err
}

// controlled starts a controller of the repository, which the forge tells of events.
func (h *hosted) controlled(events []string, more ...string) error {
	const secret = "for-the-demo-and-nothing-else"
	port, err := controlplane.Port()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"webhook-secret": secret, "token": h.bot.Token} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := h.do(http.MethodPost, "/repos/"+repository+"/hooks", map[string]any{
		"type": "gitea", "active": true, "events": events,
		"config": map[string]string{"url": "http://127.0.0.1:" + port + "/webhooks/gitea", "content_type": "json", "secret": secret},
	}, nil); err != nil {
		return err
	}
	return h.start(append([]string{
		"controller", h.gitea.URL + "/" + repository + ".git", "--listen=", "--plain-http", "--username", h.bot.Login, "--password-file", "token",
		"--webhook-secret-file", "webhook-secret", "--webhook-listen", "127.0.0.1:" + port,
		"--forge", "gitea", "--forge-url", h.gitea.URL, "--forge-repository", repository, "--token-file", "token", "--commit-statuses",
	}, more...)...)
}

// open pushes what there is to a branch, and opens a pull request of it.
func (h *hosted) open(branch, title string) (number int, err error) {
	if err := h.push(branch, title); err != nil {
		return 0, err
	}
	var pull struct{ Number int }
	err = h.do(http.MethodPost, "/repos/"+repository+"/pulls", map[string]any{"title": title, "head": branch, "base": "main"}, &pull)
	return pull.Number, err
}

// accept merges a pull request.
func (h *hosted) accept(number int) error {
	const patience = time.Minute
	deadline := time.Now().Add(patience)
	for {
		err := h.do(http.MethodPost, fmt.Sprintf("/repos/%s/pulls/%d/merge", repository, number), map[string]string{"Do": "merge"}, nil)
		if err == nil || !strings.Contains(err.Error(), "405") || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond) // Gitea looks first whether it can be
	}
}

// awaitImage waits until a cluster's branch has an image.
func (h *hosted) awaitImage(cluster, image string) error {
	return h.await("the branch of "+cluster+" has "+image, func() (string, bool) {
		_ = h.git("-C", h.source, "fetch", "-q", "origin") // it is tried again
		out, err := h.command("git", "-C", h.source, "show", "origin/waybill/cluster/"+cluster+":"+deployed).Output()
		return string(out), err == nil && strings.Contains(string(out), image)
	})
}

// status waits for a status of a commit that is as it should be, and shows it.
func (h *hosted) status(commit, about, state string) error {
	return h.await(about+" of "+commit+" is "+state, func() (string, bool) {
		var all struct {
			Statuses []struct{ Context, Status, Description string }
		}
		if err := h.do(http.MethodGet, "/repos/"+repository+"/commits/"+commit+"/status", nil, &all); err != nil {
			return err.Error(), false
		}
		for _, s := range all.Statuses {
			if s.Context == about && s.Status == state {
				h.say("The status at Gitea: %s %s, %s", s.Status, s.Context, s.Description)
				return "", true
			}
		}
		return fmt.Sprint(all), false
	})
}

// commitOf is the commit that a name of Git's stands for.
func (h *hosted) commitOf(name string) (string, error) {
	out, err := h.command("git", "-C", h.source, "rev-parse", "--verify", name+"^{commit}").Output()
	return strings.TrimSpace(string(out)), err
}

// ask shows what git says in the source.
func (h *hosted) ask(args ...string) error {
	h.say("\n$ git %s", shell(args))
	out, err := h.command("git", append([]string{"-C", h.source}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w\n%s", shell(args), err, out)
	}
	if said := strings.TrimSpace(string(out)); said != "" {
		h.say("%s", said)
	}
	return nil
}

// shell is how people type arguments.
func shell(args []string) string {
	typed := make([]string, len(args))
	for i, a := range args {
		if typed[i] = a; strings.ContainsAny(a, " %()") {
			typed[i] = "'" + a + "'"
		}
	}
	return strings.Join(typed, " ")
}
