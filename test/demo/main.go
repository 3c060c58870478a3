// Demo shows Waybill on real servers, which it starts on this machine, and tells one of six
// stories, or leaves them to whoever started it.
//
// clusters (make demo-clusters) registers three clusters, commits a Deployment with weighted
// replicas, a HelmRelease and a CRD with its object, and has waybill controller keep the
// clusters there while it changes the source, and a cluster.
//
// failover (make demo-failover) has one cluster that is pushed to, one with an agent inside,
// and one that is divided into two virtual clusters; it kills an API server, and starts it
// again.
//
// preview (make demo-preview) starts a forge, opens a pull request that moves a Deployment and
// changes its image, shows the comment and the status that it gets, and merges it. There are
// no clusters. Where there is Chromium, it saves pictures of the comment and of the report's page.
//
// rollout (make demo-rollout) has three clusters and a forge. A good change goes out in stages, and
// somebody approves the last one by a comment; a bad image stops at the first stage, and is reverted;
// and a cluster is killed while a third change is half way.
//
// update (make demo-update) has two clusters, a forge and a registry. A new image becomes a pull request with its
// preview, is merged, and goes out in stages; a bad one fails at the first stage, goes back by itself, is reverted,
// and is not proposed again, while the version after it is.
//
// services (make demo-services) has three clusters, of which two export a Service and the third imports it. Its
// endpoints follow pods that are replaced; one of the two dies, and returns; and an autoscaler in it raises its part of a
// FederatedHPA while no controller runs. A watch sees that no Deployment ever has fewer replicas than before.
//
// Every step is checked, so that it is a test as well: it ends with status 1 where something is
// not as it should be.
//
// playground (make playground) starts two clusters with Flux in each, and a Git server, and leaves
// them until it is interrupted: the README goes on there.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// story is what is told: its clusters, and its steps.
type story struct {
	clusters []string
	steps    func(*fleet) []func() error
}

var stories = map[string]story{
	"clusters": {[]string{"eu-1", "us-1", "ap-1"}, func(f *fleet) []func() error {
		return []func() error{f.register, f.deliver, f.edit, f.drift, f.remove}
	}},
	"failover": {[]string{"eu-1", "us-1", "edge"}, func(f *fleet) []func() error {
		return []func() error{f.gather, f.spread, f.lose, f.regain}
	}},
}

const threeClusters = "Three clusters on this machine: real control planes, simulated nodes (the first time they are built, which takes some ten minutes)."

// The stories at a forge, of which preview has no clusters, and the one that is watched.
const (
	preview  = "preview"
	rollout  = "rollout"
	update   = "update"
	services = "services"
)

func main() {
	if len(os.Args) != 2 || stories[os.Args[1]].steps == nil && !slices.Contains([]string{preview, rollout, update, services, playground}, os.Args[1]) {
		fmt.Fprintln(os.Stderr, "usage: demo clusters|failover|preview|rollout|update|services|playground")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, name string) (err error) {
	dir, err := os.MkdirTemp("", "waybill-demo-"+name+"-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	switch name {
	case preview:
		return previewStory(ctx, out, dir)
	case rollout:
		return rolloutStory(ctx, out, dir)
	case update:
		return updateStory(ctx, out, dir)
	case services:
		return servicesStory(ctx, out, dir)
	case playground:
		return play(ctx, out, dir)
	}
	fmt.Fprintln(out, threeClusters)
	s := stories[name]
	f, err := startFleet(ctx, out, dir, name, s.clusters...)
	if f != nil {
		defer f.stop()
	}
	if err != nil {
		return err
	}
	return f.tell(s.steps(f)...)
}
