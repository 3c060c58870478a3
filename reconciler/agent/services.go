package agent

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Books are where books of endpoints are.
type Books struct {
	// Agents is where this agent writes its own, which is signed, and reads those of others; nil: it does neither.
	Agents pull.Repository
	// Published is where the controller writes those of clusters that it reaches; nil: they are not read.
	Published pull.Repository
	// Signed says why a commit there does not count; nil if it does.
	Signed func(git.Head) error
}

// exchange brings endpoints to the clusters of this agent.
func (a *Agent) exchange() *push.Exchange {
	e := push.New(push.By(a.Applier.Access), a.Applier.Now, a.Random, a.Log)
	e.Reaches = func(c *karmada.Cluster) bool { return slices.Contains(a.Clusters, c.Name) }
	if a.Books.Agents != nil {
		e.Writer = &pull.Writer{
			Repo: a.Books.Agents, May: a.mayTell, Host: refs.Host{What: "endpoints", Now: a.Applier.Now, Log: a.Log},
			Wrote: func(h git.Head) error { return a.Key.Verify(signing.Git, h.Signed, h.Signature) },
		}
	}
	return e
}

// reader reads what others have.
func (a *Agent) reader(e *push.Exchange) *pull.Reader {
	return &pull.Reader{Books: e.Books, Agents: a.Books.Agents, Published: a.Books.Published, Signed: a.Books.Signed, Log: a.Log}
}

// exchanges brings endpoints from and to the clusters, and does nothing else, until ctx ends.
func (a *Agent) exchanges(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	wakes := make(chan struct{}, 1)
	s := &servicesOnly{Agent: a, exchange: a.exchange(), chosen: make(chan []string, 1), told: map[string]*counts{}}
	poller := a.poller(s.chosen, wakes)
	group.Go(func() error { return poller.Run(ctx) })
	group.Go(func() error { return s.run(ctx, wakes) })
	group.Go(func() error { return a.reader(s.exchange).Run(ctx) })
	return group.Wait()
}
