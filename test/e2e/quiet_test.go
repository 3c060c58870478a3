//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/git"
)

// TestAQuietFleet runs all of a controller by a clock that runs sixty times too fast, beside
// clusters with nodes that live: by that clock an hour passes, in which nothing makes a commit. Where
// it waits, it waits by the clock of the machine, so that it looks at everything as often as it
// does in a minute.
func TestAQuietFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute passes in which nothing happens")
	}
	t.Parallel() // it waits for most of its time
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu, us := startCluster(t, p, etcd, filepath.Join(dir, "eu"), 2), startAPI(t, p, etcd, filepath.Join(dir, "us"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu, "us-1": us})
	s.namespace("follow", "0", 20)
	s.write("web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: follow}\n"+
		"spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}}}\n")
	s.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n"+
		"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}]\n  placement: {clusterAffinity: {clusterNames: [eu-1]}}\n")
	s.commit()

	c := newInside(t, s)
	c.run(t)
	s.converges("eu-1", time.Now().Add(time.Minute))
	eventually(t, "all is well, and both are observed", func() (bool, string) {
		_, out := s.run("status", "-C", s.source, "--to", s.bare)
		return strings.Contains(out, "eu-1      Healthy") && s.observed("eu-1") != "" && s.observed("us-1") != "", out
	})
	refs := func() string { return s.git(s.bare, "for-each-ref", "--format=%(refname) %(objectname)") }
	before, same := refs(), time.Now()
	eventually(t, "it comes to rest", func() (bool, string) {
		if now := refs(); now != before {
			before, same = now, time.Now()
		}
		return time.Since(same) > 15*time.Second, before // what is told is gathered for ten
	})

	node, start := eu.with(t).list("/api/v1/nodes")[0].Metadata.Name, c.now()
	turns := c.turns.Load()
	for n := 0; c.now().Sub(start) < time.Hour; n++ { // what lives in a cluster, and no decision sees
		s.status("eu-1", node, fmt.Sprintf(`{"status":{"conditions":[{"type":"PIDPressure","status":"False","reason":"KubeletHasSufficientPID","message":"look %d"}]}}`, n))
		s.pod("eu-1", fmt.Sprintf("small-%d", n), node, "10m")
		time.Sleep(2 * time.Second)
	}
	if after := refs(); after != before {
		t.Errorf("an hour in which nothing happened made commits:\n%s\nafter\n%s\n%s", before, after, s.git(s.bare, "log", "--all", "-5", "-p"))
	}
	t.Logf("in %s the loop turned %d times", c.now().Sub(start).Round(time.Minute), c.turns.Load()-turns)
}

// inside is a controller in the process of the test, with a clock of its own.
type inside struct {
	began, base time.Time
	turns       atomic.Int64

	loop     *reconciler.Loop
	follower *applier.Follower
	observer *observe.Observer
	wakes    chan struct{}
}

// now is the time by a clock that runs sixty times too fast.
func (c *inside) now() time.Time {
	const fast = 60
	return c.base.Add(time.Since(c.began) * fast)
}

func newInside(t *testing.T, s *site) *inside {
	t.Helper()
	open := func(at string) *git.Repo {
		repo, err := git.Open(t.Context(), git.Options{Location: at, CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return repo
	}
	c := &inside{began: time.Now(), base: time.Now(), wakes: make(chan struct{}, 1)}
	wake := func(on chan struct{}) {
		select {
		case on <- struct{}{}:
		default:
		}
	}
	quietly, looks := slog.New(slog.DiscardHandler), make(chan struct{}, 1)
	r := reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: open(s.source), Target: open(s.bare), Version: "test", Now: c.now, Cache: cache.Memory(),
		Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
	}
	r.Seen = reconciler.NewCache()
	reader := r
	reader.Seen = reconciler.NewCache()
	c.loop = &reconciler.Loop{
		Reconciler: &r, Rev: "main", Interval: time.Second, Now: c.now, Wake: looks, Log: quietly,
		Report: func(s reconciler.Sync) {
			if c.turns.Add(1); !s.UpToDate {
				wake(c.wakes)
			}
		},
	}
	access := clusters.Access{Folder: s.kubeconfigs, Agent: "test"}
	statuses := writer.New(reader.Target, c.now, quietly)
	c.follower = &applier.Follower{
		Applier: applier.Applier{Published: reader.Published(), Now: c.now, Access: access, Looks: true, Saw: statuses.Saw}, Rev: "main", Resync: 10 * time.Second,
		Log: quietly, Random: func() float64 { return 0 }, Status: statuses, Report: func(applier.Result) {}, Forget: func(string) {},
	}
	c.observer = observe.NewObserver(observe.Recorder{Target: r.Target, Version: "test", Now: c.now}, access, quietly, func() { wake(looks) })
	c.follower.Observe = c.observer.Observe
	return c
}

// run has it work until the test ends.
func (c *inside) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.loop.Run(ctx) })
	group.Go(func() error { return c.follower.Run(ctx, c.wakes) })
	group.Go(func() error { return c.follower.Status.Run(ctx) })
	group.Go(func() error { return c.observer.Run(ctx) })
	t.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
}
