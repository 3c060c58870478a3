package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
)

// review is a source at a real forge, and a pull request. There are no clusters: their branches
// are what is shown.
type review struct {
	*fleet

	gitea *forges.Gitea
	bot   forges.User // who the controller and the job are
	pull  int
	head  string
	ui    string // URL
}

const (
	repository = "waybill/fleet"
	moved      = "manifests/web/deployment.apps/web.yaml"
)

// previewStory tells how a pull request shows what it does.
func previewStory(ctx context.Context, out io.Writer, dir string) error {
	f, err := newFleet(ctx, out, dir, "preview")
	if err != nil {
		return err
	}
	r := &review{fleet: f}
	fmt.Fprintln(out, "A forge on this machine: a real Gitea (the first time it is built, which takes some five minutes, and a C compiler).")
	if r.gitea, err = forges.Start(ctx, dir); err != nil {
		return err
	}
	defer r.gitea.Stop()
	defer f.stop()
	return f.tell(r.begin, r.follow, r.propose, r.show, r.merge, r.look)
}

// do makes a call of the forge's API.
func (r *review) do(method, path string, in, out any) error {
	return r.gitea.Do(r.ctx, r.bot, forges.Call{Method: method, Path: path, In: in, Out: out})
}

// begin makes the repository, and pushes the source.
func (r *review) begin() error {
	r.title("A source at a forge")
	var err error
	if r.bot, err = r.gitea.AddUser(r.ctx, "waybill"); err != nil {
		return err
	}
	if err := r.do(http.MethodPost, "/user/repos", map[string]any{"name": "fleet", "default_branch": "main", "private": true}, nil); err != nil {
		return err
	}
	if err := r.repositories(); err != nil {
		return err
	}
	if err := r.git("-C", r.source, "remote", "add", "origin", r.gitea.Clone(r.bot, repository)); err != nil {
		return err
	}
	return r.push("main", "a Deployment for eu-1 and us-1")
}

// push commits what there is, and pushes it to a branch.
func (r *review) push(branch, message string) error {
	if err := r.commit(message); err != nil {
		return err
	}
	if err := r.git("-C", r.source, "push", "-q", "origin", "HEAD:"+branch); err != nil {
		return err
	}
	out, err := r.command("git", "-C", r.source, "rev-parse", "HEAD").Output()
	r.head = strings.TrimSpace(string(out))
	return err
}

// follow starts a controller that hears of pushes by webhooks.
func (r *review) follow() error {
	r.title("A controller that looks every ten minutes, and at once when the forge tells it of a push")
	const secret = "for-the-demo-and-nothing-else"
	port, err := controlplane.Port()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"webhook-secret": secret, "token": r.bot.Token} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := r.do(http.MethodPost, "/repos/"+repository+"/hooks", map[string]any{
		"type": "gitea", "active": true, "events": []string{"push"},
		"config": map[string]string{"url": "http://127.0.0.1:" + port + "/webhooks/gitea", "content_type": "json", "secret": secret},
	}, nil); err != nil {
		return err
	}
	ui, err := controlplane.Port()
	if err != nil {
		return err
	}
	r.ui = "http://127.0.0.1:" + ui
	err = r.start("controller", r.gitea.URL+"/"+repository+".git", "--interval", "10m", "--listen=", "--plain-http", "--username", r.bot.Login, "--password-file", "token",
		"--webhook-secret-file", "webhook-secret", "--webhook-listen", "127.0.0.1:"+port, "--forge", "gitea", "--forge-url", r.gitea.URL, "--forge-repository", repository, "--token-file", "token", "--commit-statuses",
		"--ui-listen", "127.0.0.1:"+ui)
	if err != nil {
		return err
	}
	return r.awaitImage("eu-1", "web:1.0")
}

// awaitImage waits until a cluster's branch has an image.
func (r *review) awaitImage(cluster, image string) error {
	return r.await("the branch of "+cluster+" has "+image, func() (string, bool) {
		_ = r.git("-C", r.source, "fetch", "-q", "origin") // it is tried again
		out, err := r.command("git", "-C", r.source, "show", "origin/waybill/cluster/"+cluster+":"+moved).Output()
		return string(out), err == nil && strings.Contains(string(out), image)
	})
}

// propose opens a pull request.
func (r *review) propose() error {
	r.title("A pull request: the policy has ap-1 in place of us-1, and the image is another one")
	if err := r.git("-C", r.source, "checkout", "-q", "-b", "to-ap"); err != nil {
		return err
	}
	if err := r.replace("policy.yaml", "us-1", "ap-1"); err != nil {
		return err
	}
	if err := r.replace("web.yaml", "web:1.0", "web:2.0"); err != nil {
		return err
	}
	if err := r.push("to-ap", "web moves to ap-1, as 2.0"); err != nil {
		return err
	}
	var pull struct{ Number int }
	err := r.do(http.MethodPost, "/repos/"+repository+"/pulls", map[string]any{"title": "web moves to ap-1, as 2.0", "head": "to-ap", "base": "main"}, &pull)
	r.pull = pull.Number
	return err
}

// show runs what the recipe for Gitea's Actions runs, and shows what the pull request shows then.
func (r *review) show() error {
	r.title("What its CI job runs, and what the pull request shows then")
	event := fmt.Sprintf(`{"pull_request": {"number": %d, "head": {"sha": %q}}}`, r.pull, r.head)
	if err := os.WriteFile(filepath.Join(r.dir, "event.json"), []byte(event), 0o600); err != nil {
		return err
	}
	args := []string{"diff", "origin/main", "HEAD", "-C", r.source, "--to", "origin", "--post", "--plain-http"}
	r.say("\n$ waybill %s", strings.Join(args, " "))
	cmd := r.command("waybill", args...)
	cmd.Env = append(cmd.Env, "GITHUB_ACTIONS=true", "GITEA_ACTIONS=true", "GITHUB_SERVER_URL="+r.gitea.URL, "GITHUB_REPOSITORY="+repository, "GITHUB_RUN_NUMBER=1",
		"GITHUB_EVENT_PATH="+filepath.Join(r.dir, "event.json"), "GITEA_TOKEN="+r.bot.Token)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("waybill diff --post: %w\n%s", err, out)
	}
	var comments []struct{ Body string }
	if err := r.do(http.MethodGet, fmt.Sprintf("/repos/%s/issues/%d/comments", repository, r.pull), nil, &comments); err != nil {
		return err
	}
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "ap-1") {
		return fmt.Errorf("the pull request has the comments %+v", comments)
	}
	r.say("\nThe comment:\n\n%s", comments[0].Body)
	if err := r.status(r.head, post.Context); err != nil {
		return err
	}
	return r.pictures(comments[0].Body)
}

// status shows the status of a commit, which must be a success.
func (r *review) status(commit, about string) error {
	return r.await(about+" of "+commit, func() (string, bool) {
		var all struct {
			Statuses []struct{ Context, Status, Description string }
		}
		if err := r.do(http.MethodGet, "/repos/"+repository+"/commits/"+commit+"/status", nil, &all); err != nil {
			return err.Error(), false
		}
		for _, s := range all.Statuses {
			if s.Context == about && s.Status == "success" {
				r.say("The status: %s %s, %s", s.Status, s.Context, s.Description)
				return "", true
			}
		}
		return fmt.Sprint(all), false
	})
}

// merge merges the pull request, and the branches follow.
func (r *review) merge() error {
	r.title("It is merged; the branches follow by the webhook")
	if err := r.do(http.MethodPost, fmt.Sprintf("/repos/%s/pulls/%d/merge", repository, r.pull), map[string]string{"Do": "merge"}, nil); err != nil {
		return err
	}
	if err := r.awaitImage("ap-1", "web:2.0"); err != nil {
		return err
	}
	for _, args := range [][]string{{"log", "-1", "--format=%h %s%n%b", "origin/waybill/cluster/ap-1"}, {"show", "origin/waybill/cluster/ap-1:" + moved}} {
		r.say("\n$ git %s", strings.Join(args, " "))
		out, err := r.command("git", append([]string{"-C", r.source}, args...)...).Output()
		if err != nil {
			return err
		}
		r.say("%s", strings.TrimSpace(string(out)))
	}
	out, err := r.command("git", "-C", r.source, "rev-parse", "origin/main").Output()
	if err != nil {
		return err
	}
	return r.status(strings.TrimSpace(string(out)), "waybill/published")
}
