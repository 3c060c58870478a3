// Package survey watches a cluster: whether its API server is healthy, what it serves, what its
// nodes offer and what its pods take of it. It changes nothing there.
//
// Nodes and pods come by watches, and only what counts of them is kept. What is served is asked
// for when a CustomResourceDefinition or an APIService changes, and now and then. So a cluster in
// which nothing changes costs one small request a period. Virtual clusters are parts of one API
// server, which is watched once for all of them.
package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

const (
	// patience is how long an API server has to answer a small request.
	patience = 5 * time.Second
	// refresh is how long what a cluster serves is taken for known, whatever the watches say.
	refresh = 10 * time.Minute
	// misses is how many looks in a row may fail before the way to the cluster, and its
	// credential, are looked up anew.
	misses = 2
	// doubted is for how many looks what a cluster serves is asked for again after something
	// changed: until what it did not name at once is recorded to be gone.
	doubted = int(observation.Threshold/observation.Period) + 1
	// early is for how many looks the first report waits until nodes and pods are known.
	early = 6
)

// Cluster is a cluster to look at.
type Cluster struct {
	Name   string
	ID     string // the UID of its Namespace kube-system, or empty
	Config *rest.Config
	Models []karmada.ResourceModel
	// Virtual says which nodes and namespaces are those of a virtual cluster; nil for another.
	Virtual *virtual.Mapping
	// Watch says of which workloads to count the replicas that wait for a node, whenever it is
	// asked; nil, or where it returns nil, of none.
	Watch func() *deschedule.Watch
	// Host is the cluster whose API server a virtual cluster, or the host itself, shares with
	// others; empty for one that shares it with nobody.
	Host string
}

// errUnanswered says that a cluster did not answer for a while.
var errUnanswered = errors.New("its API server does not answer, or is not ready")

// watcher watches an API server.
type watcher struct {
	name  string
	disco *discovery.DiscoveryClient
	usage *usage
	known *observation.Served // nil: it is to be asked for
	// doubts are looks for which it is asked for, known or not; and what is served may have changed
	// when changed says so.
	doubts  int
	changed chan struct{}
}

// watch watches until ctx ends, or the API server does not answer any more. Tell is told of every
// look, but for the first ones where not all that is to be seen of a healthy cluster is here yet.
func (w *watcher) watch(ctx context.Context, config *rest.Config, tell func(observation.Facts)) (err error) {
	if w.disco, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return fmt.Errorf("reaching %s: %w", w.name, err)
	}
	streams, err := w.streams(config)
	if err != nil {
		return fmt.Errorf("reaching %s: %w", w.name, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range streams {
		group.Go(func() error { s.run(ctx); return nil })
	}
	group.Go(func() error { return w.look(ctx, tell) })
	return group.Wait()
}

// look looks once a period.
func (w *watcher) look(ctx context.Context, report func(observation.Facts)) error {
	ticks := time.NewTicker(observation.Period)
	defer ticks.Stop()
	stale := time.NewTicker(refresh)
	defer stale.Stop()
	next := time.NewTimer(time.Second).C // lists are here by then, mostly
	missed := 0
	for looks := 1; ; looks++ {
		f := w.facts(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case f.Health != observation.Healthy:
			report(f)
			if missed++; missed == misses {
				return errUnanswered
			}
		default:
			missed = 0
			if looks > early || f.Served != nil && w.usage.isKnown() {
				report(f)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next:
		case <-ticks.C:
		}
		select {
		case <-stale.C:
			w.known, w.doubts = nil, doubted
		case <-w.changed:
			w.known, w.doubts = nil, doubted
		default:
		}
	}
}

// facts is what there is to see now, but for the room. What is served is asked for again after a failure.
func (w *watcher) facts(ctx context.Context) observation.Facts {
	f := observation.Facts{Health: w.health(ctx)}
	if f.Health != observation.Healthy {
		w.known, w.doubts = nil, doubted
		return f
	}
	if w.known == nil || w.doubts > 0 {
		w.known = w.served(ctx)
		w.doubts = max(w.doubts-1, 0)
	}
	f.Served = w.known
	return f
}

// health asks the API server whether it is ready.
func (w *watcher) health(ctx context.Context) observation.Health {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := w.get(ctx, "/readyz")
	if status == http.StatusNotFound {
		status, err = w.get(ctx, "/healthz")
	}
	switch {
	case err == nil && status == http.StatusOK:
		return observation.Healthy
	case status >= http.StatusInternalServerError:
		return observation.Unhealthy
	default:
		return observation.Unreachable
	}
}

func (w *watcher) get(ctx context.Context, path string) (status int, err error) {
	err = w.disco.RESTClient().Get().AbsPath(path).MaxRetries(0).Do(ctx).StatusCode(&status).Error()
	return status, err
}

// served asks for what is served; nil where that cannot be had.
func (w *watcher) served(ctx context.Context) *observation.Served {
	const most = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	version, err := w.disco.ServerVersionWithContext(ctx)
	if err != nil {
		return nil
	}
	_, lists, err := w.disco.ServerGroupsAndResourcesWithContext(ctx)
	var failed []string
	if partly, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err); ok {
		for gv := range partly.Groups {
			failed = append(failed, gv.String())
		}
	} else if err != nil {
		return nil
	}
	full := make([]*metav1.APIResourceList, 0, len(lists))
	for _, l := range lists {
		if l != nil {
			full = append(full, l)
		}
	}
	return observation.ServedBy(version.GitVersion, full, failed)
}
