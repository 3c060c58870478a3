package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/waybill-dev/waybill/test/forges"
)

// waves is a fleet with a forge, in which changes reach clusters in stages.
type waves struct {
	*hosted

	image, strategy string // of web, without a version; and the strategy's manifest

	ann    forges.User       // who may write to the repository
	pull   int               // the pull request that was merged last
	before map[string]string // the branches of clusters when that was merged
}

// The clusters, by the stages that they are in.
const (
	canary = "eu-1"
	early  = "us-1"
	prod   = "ap-1"
)

// careful is the strategy.
const careful = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata:
  name: careful
  annotations: {waybill.dev/settle: 5s}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, afterStageTasks: [{type: TimedWait, waitTime: 10s}]}
  - {name: early, labelSelector: {matchLabels: {ring: early}}, afterStageTasks: [{type: TimedWait, waitTime: 10s}]}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}, beforeStageTasks: [{type: Approval}]}
`

// rolloutStory tells how changes reach clusters in stages.
func rolloutStory(ctx context.Context, out io.Writer, dir string) error {
	fmt.Fprintln(out, threeClusters)
	f, err := startFleet(ctx, out, dir, rollout, canary, early, prod)
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	h, err := f.host()
	if err != nil {
		return err
	}
	w := &waves{hosted: h, image: "registry.example.com/web", strategy: careful}
	return f.tell(w.begin, w.follow, w.bind, w.improve, w.approve, w.spoil, w.revert, w.lose, w.finish)
}

// begin registers the clusters, with the ring that each is in.
func (w *waves) begin() error {
	w.title("Three clusters, each with a ring, and a source at the forge")
	if err := w.create(); err != nil {
		return err
	}
	var err error
	if w.ann, err = w.gitea.AddUser(w.ctx, "ann"); err != nil {
		return err
	}
	if err := w.do(http.MethodPut, "/repos/"+repository+"/collaborators/ann", map[string]any{"permission": "write"}, nil); err != nil {
		return err
	}
	for _, c := range []struct{ name, ring string }{{canary, "canary"}, {early, "early"}, {prod, "prod"}} {
		if err := w.show("cluster", "join", c.name, "-C", w.source, "--kubeconfig-dir", w.kubeconfigs, "--label", "ring="+c.ring); err != nil {
			return err
		}
	}
	return w.push("main", "six replicas of web 1.0")
}

// follow starts the controller.
func (w *waves) follow() error {
	w.title("The controller publishes and applies; it hears of pushes and comments by webhooks")
	if err := w.controlled([]string{"push", "pull_request", "issue_comment"}, "--interval", "10m", "--orders", "--apply", "--kubeconfig-dir", w.kubeconfigs); err != nil {
		return err
	}
	return w.run(copies{canary, "1.0", 2}, copies{early, "1.0", 2}, copies{prod, "1.0", 2})
}

// bind adds the strategy, which changes no cluster.
func (w *waves) bind() error {
	w.title("Changes of web go out in stages from now on; that alone starts nothing")
	if err := os.WriteFile(filepath.Join(w.dir, w.source, "careful.yaml"), []byte(w.strategy), 0o600); err != nil {
		return err
	}
	w.say("\n%s", w.strategy)
	if err := w.rewrite("waybill.yaml", func(s string) (string, bool) { return s + "  rollout: {default: careful}\n", true }); err != nil {
		return err
	}
	if err := w.push("main", "web goes out by careful"); err != nil {
		return err
	}
	if err := w.phase("Done", ""); err != nil {
		return err
	}
	return w.typed("get", "rollouts")
}

// improve merges a good change, which goes to one stage after the other until somebody has to approve.
func (w *waves) improve() error {
	w.title("A good change is merged: canary has it, then early, each for ten seconds; prod waits for somebody")
	if err := w.merge("1.0", "1.1"); err != nil {
		return err
	}
	if err := w.run(copies{canary, "1.1", 2}, copies{early, "1.0", 2}, copies{prod, "1.0", 2}); err != nil {
		return err
	}
	if err := w.phase("Soaking", ""); err != nil {
		return err
	}
	if err := w.typed("get", "rollouts"); err != nil {
		return err
	}
	if err := w.run(copies{early, "1.1", 2}, copies{prod, "1.0", 2}); err != nil {
		return err
	}
	if err := w.soaked(canary, early); err != nil {
		return err
	}
	if err := w.phase("Waiting", "ApprovalMissing"); err != nil {
		return err
	}
	if err := w.untouched(prod); err != nil {
		return err
	}
	if err := w.typed("explain", "deployment/web", "-n", "web"); err != nil {
		return err
	}
	return w.typed("rollout", "status", "web")
}

// approve has ann approve the last stage, by a comment.
func (w *waves) approve() error {
	w.title("Ann approves by a comment on the pull request that was merged; prod gets it")
	r, err := w.record()
	if err != nil {
		return err
	}
	body := "/waybill rollout approve web/web@" + r.Status.Run + " prod"
	w.say("\n%s", body)
	call := forges.Call{Method: http.MethodPost, Path: fmt.Sprintf("/repos/%s/issues/%d/comments", repository, w.pull), In: map[string]any{"body": body}}
	if err := w.gitea.Do(w.ctx, w.ann, call); err != nil {
		return err
	}
	if err := w.run(copies{prod, "1.1", 2}); err != nil {
		return err
	}
	if r, err = w.record(); err != nil {
		return err
	}
	if c := r.Status.Commands; len(c) != 1 || c[0].By != "ann" || c[0].Via != "comment" {
		return fmt.Errorf("what is recorded of the approval is %+v", c)
	}
	return w.over()
}

// spoil merges an image that no node can pull.
func (w *waves) spoil() error {
	w.title("A bad image is merged: it stops at canary by itself, and nobody else ever has it")
	if err := w.merge("1.1", "1.2-broken"); err != nil {
		return err
	}
	if err := w.awaitImage(canary, "web:1.2-broken"); err != nil {
		return err
	}
	if err := w.phase("Stopped", "TooManyFailed"); err != nil {
		return err
	}
	if err := w.untouched(early, prod); err != nil {
		return err
	}
	if err := w.run(copies{early, "1.1", 2}, copies{prod, "1.1", 2}); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"get", "rollouts"},
		{"explain", "deployment/web", "-n", "web"},
		{"get", "pods", "-n", "web", "--clusters", "--kubeconfig-dir", filepath.Join("..", w.kubeconfigs)},
	} {
		if err := w.typed(args...); err != nil {
			return err
		}
	}
	return w.status(w.head, ofWeb, "failure")
}

// revert takes it back.
func (w *waves) revert() error {
	w.title("It is reverted: what canary had it has again, at once")
	for _, args := range [][]string{{"checkout", "-q", "main"}, {"pull", "-q", "origin", "main"}, {"revert", "-m", "1", "--no-edit", "HEAD"}, {"push", "-q", "origin", "main"}} {
		if err := w.ask(args...); err != nil {
			return err
		}
	}
	if err := w.run(copies{canary, "1.1", 2}); err != nil {
		return err
	}
	if err := w.phase("Done", ""); err != nil {
		return err
	}
	if err := w.untouched(early, prod); err != nil {
		return err
	}
	return w.typed("get", "rollouts")
}

// lose kills a cluster in the middle of a run.
func (w *waves) lose() error {
	w.title("Another change is half way when the API server of eu-1 is killed: its replicas come up elsewhere, in the version that is there")
	if err := w.merge("1.1", "1.3"); err != nil {
		return err
	}
	if err := w.run(copies{canary, "1.3", 2}); err != nil {
		return err
	}
	if err := w.awaitImage(early, "web:1.3"); err != nil {
		return err
	}
	w.clusters[canary].APIServer.Stop() // which is seen after 40 seconds
	if err := w.run(copies{early, "1.3", 3}, copies{prod, "1.1", 3}); err != nil {
		return err
	}
	if err := w.phase("Waiting", "ApprovalMissing"); err != nil {
		return err
	}
	if err := w.ask("log", "-1", "--grep=leaves "+canary, "--format=%b", "origin/waybill/state"); err != nil {
		return err
	}
	return w.typed("get", "rollouts")
}

// finish approves by the command line.
func (w *waves) finish() error {
	w.title("The run goes on: prod is approved by the command line")
	if err := w.typed("rollout", "approve", "web", "prod"); err != nil {
		return err
	}
	if err := w.run(copies{early, "1.3", 3}, copies{prod, "1.3", 3}); err != nil {
		return err
	}
	if err := w.over(); err != nil {
		return err
	}
	return w.typed("verify", "waybill/cluster/"+prod, "--to", "origin")
}
