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
)

// review is a pull request at a real forge. There are no clusters: their branches are what is shown.
type review struct {
	*hosted

	pull int
	ui   string // URL
}

// previewStory tells how a pull request shows what it does.
func previewStory(ctx context.Context, out io.Writer, dir string) error {
	f, err := newFleet(ctx, out, dir, "preview")
	if err != nil {
		return err
	}
	defer f.stop()
	h, err := f.host()
	if err != nil {
		return err
	}
	r := &review{hosted: h}
	return f.tell(r.begin, r.follow, r.propose, r.show, r.merge, r.look)
}

// begin makes the repository, and pushes the source.
func (r *review) begin() error {
	r.title("A source at a forge")
	if err := r.create(); err != nil {
		return err
	}
	return r.push("main", "a Deployment for eu-1 and us-1")
}

// follow starts a controller that hears of pushes by webhooks.
func (r *review) follow() error {
	r.title("A controller that looks every ten minutes, and at once when the forge tells it of a push")
	ui, err := controlplane.Port()
	if err != nil {
		return err
	}
	r.ui = "http://127.0.0.1:" + ui
	if err := r.controlled([]string{"push"}, "--interval", "10m", "--ui-listen", "127.0.0.1:"+ui); err != nil {
		return err
	}
	return r.awaitImage("eu-1", "web:1.0")
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
	var err error
	r.pull, err = r.open("to-ap", "web moves to ap-1, as 2.0")
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
	if err := r.status(r.head, post.Context, "success"); err != nil {
		return err
	}
	return r.pictures(comments[0].Body)
}

// merge merges the pull request, and the branches follow.
func (r *review) merge() error {
	r.title("It is merged; the branches follow by the webhook")
	if err := r.accept(r.pull); err != nil {
		return err
	}
	if err := r.awaitImage("ap-1", "web:2.0"); err != nil {
		return err
	}
	for _, args := range [][]string{{"log", "-1", "--format=%h %s%n%b", "origin/waybill/cluster/ap-1"}, {"show", "origin/waybill/cluster/ap-1:" + deployed}} {
		if err := r.ask(args...); err != nil {
			return err
		}
	}
	head, err := r.commitOf("origin/main")
	if err != nil {
		return err
	}
	return r.status(head, "waybill/published", "success")
}
