package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/waybill-dev/waybill/reconciler/clusters/pods"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

var (
	// errExpired says that a watch cannot go on from where it was.
	errExpired = errors.New("what happened since is not kept; list again")
	// errSilent says that watches end at once, one after the other.
	errSilent = errors.New("watching: each connection ends, and nothing comes")
)

// Watch tells of every change of metadata since Observe listed it, until ctx ends or until the
// server does not remember what happened, or does not answer. Live is nil for what was deleted. A kind that was not
// served then is watched from now on.
func (c *Client) Watch(ctx context.Context, kinds []schema.GroupKind, changed func(r object.Ref, live *metav1.PartialObjectMetadata)) error {
	group, ctx := errgroup.WithContext(ctx)
	if c.Saw != nil {
		defer askingPods(ctx, c)()
	}
	for p, version := range c.listed {
		if m, err := c.resource(p.kind); err == nil && slices.Contains(kinds, p.kind) {
			group.Go(func() error { return c.watch(ctx, p.kind, version, c.metadataIn(m, p).Watch, changed) })
		}
	}
	for p, j := range c.judged {
		if m, err := c.resource(p.kind); err == nil && c.Saw != nil {
			group.Go(func() error { return c.watchHealth(ctx, &j, m) })
		}
	}
	c.mapper = nil // a watch takes long, and this takes much
	return group.Wait()
}

// askingPods has pods of what is not healthy add why to what is told while a client watches, until end is called.
func askingPods(ctx context.Context, c *Client) (end func()) {
	before, at := c.Saw, map[schema.GroupKind]schema.GroupVersionResource{}
	for p := range c.judged {
		if m, err := c.resource(p.kind); err == nil {
			at[p.kind] = m.Resource
		}
	}
	w := pods.New(c.objects, at, before)
	c.Saw = func(r object.Ref, h health.Health) { w.Saw(ctx, r, h) }
	for _, j := range c.judged {
		for i, r := range j.of {
			w.Begin(ctx, r, &j.is[i])
		}
	}
	return func() {
		w.Stop()
		c.Saw = before
	}
}

// watch watches metadata of a kind.
func (*Client) watch(ctx context.Context, k schema.GroupKind, version string, start starter, changed func(object.Ref, *metav1.PartialObjectMetadata)) error {
	return watching(ctx, version, start, func(e watch.EventType, o metav1.Object) {
		live, ok := o.(*metav1.PartialObjectMetadata)
		switch {
		case !ok:
		case e == watch.Deleted:
			changed(refTo(k, live), nil)
		default:
			changed(refTo(k, live), live)
		}
	})
}

// starter begins a watch.
type starter func(context.Context, metav1.ListOptions) (watch.Interface, error)

// watching watches again and again, for servers end a watch after some minutes. Where there
// was a watch, and the cluster does not answer any more, it ends with an error: whoever waits
// for changes has to know that none would be seen. A connection that ends without an answer is a
// watch that ended for client-go; but one brings bookmarks at least, so that it counts as one when
// something comes.
func watching(ctx context.Context, version string, start starter, tell func(watch.EventType, metav1.Object)) error {
	patience := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 30 * time.Second}
	pause, began := patience, false
	for {
		w, err := start(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		switch {
		case err == nil:
			began = true
			var came bool
			if version, came, err = told(w, version, tell); came {
				pause = patience
			} else if err == nil && pause.Steps == 0 {
				err = errSilent
			}
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			err = errExpired
		case began && !answered(err):
			err = fmt.Errorf("watching: %w", err)
		default:
			err = nil // it is tried again
		}
		if err != nil {
			return err
		}
		timer := time.NewTimer(pause.Step())
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// told tells of what a watch brings until it ends, and returns how far it came, and whether anything came.
func told(w watch.Interface, version string, tell func(watch.EventType, metav1.Object)) (last string, came bool, err error) {
	defer w.Stop()
	for e := range w.ResultChan() {
		live, err := meta.Accessor(e.Object)
		if err != nil || e.Type == watch.Error {
			return version, came, errExpired // an error of the server, of which this is the usual one
		}
		version, came = live.GetResourceVersion(), true
		if e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted {
			tell(e.Type, live)
		}
	}
	return version, came, nil
}
