package agent

import (
	"context"
	"errors"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
)

const (
	// tellAgain is how long what could not be read waits until it is read again.
	tellAgain = 10 * time.Second
	// askTime is how long an API server has to say who it is.
	askTime = 10 * time.Second
)

// servicesOnly is an agent that applies nothing: something else, as Flux or Argo CD, brings the clusters to the heads of their branches.
// What a head says of services counts once it is there.
type servicesOnly struct {
	*Agent

	exchange *push.Exchange
	chosen   chan []string      // branches
	last     files.ID           // head of the state branch that was gone by
	told     map[string]*counts // by cluster
	failed   endpoints.Failure
}

// counts is what of a cluster's branch counts.
type counts struct {
	commit  files.ID
	applied func(push.Applied) // tells the exchange, for which that counts until stop is called
	stop    context.CancelFunc
}

// run has the exchange go by what is published, whenever that is another, until ctx ends.
func (s *servicesOnly) run(ctx context.Context, wakes <-chan struct{}) error {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wakes:
		case <-again:
		}
		again = nil
		err := s.look(ctx)
		if err != nil {
			again = time.NewTimer(tellAgain/2 + time.Duration(s.Random()*float64(tellAgain)/2)).C
		}
		if s.failed.Becomes(err) && err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "endpoints go by what counted before", "clusters", s.Clusters, "err", err)
		}
	}
}

// look reads what is published.
func (s *servicesOnly) look(ctx context.Context) error {
	in, err := s.Applier.Published.Desired(ctx, "", s.last)
	if err != nil {
		return err
	}
	s.last = in.Head
	own := s.own(&in, s.chosen)
	s.exchange.Known(in.Clusters, in.Services, in.Booked)
	isOwn := map[string]bool{}
	var errs []error
	for _, c := range own {
		isOwn[c.Name] = true
		errs = append(errs, s.tell(ctx, &in, c))
	}
	for name, of := range s.told {
		if !isOwn[name] {
			of.stop()
			delete(s.told, name)
		}
	}
	return errors.Join(errs...)
}

// tell has the exchange go by the head of a cluster's branch, if it may be gone by.
func (s *servicesOnly) tell(ctx context.Context, in *published.Desired, c *karmada.Cluster) error {
	d, err := s.Applier.Published.WithoutObjects(ctx, in, c.Name)
	if errors.Is(err, published.ErrUnpublished) {
		return nil // it wakes when it is
	}
	if err != nil {
		return err
	}
	before := s.told[c.Name]
	if before != nil {
		if _, err := applier.Admit(ctx, s.Applier.Published, d, inventory.Inventory{Commit: before.commit}); err != nil {
			return err
		}
	}
	uid, err := s.uidOf(ctx, in, c)
	if err != nil {
		return err
	}
	if before == nil {
		own, stop := context.WithCancel(ctx)
		before = &counts{stop: stop, applied: func(a push.Applied) { s.exchange.Applied(own, a) }}
		s.told[c.Name] = before
	}
	before.commit = d.Commit
	before.applied(push.Applied{Cluster: c.Name, UID: uid, Owner: d.Owner, Formerly: in.FormerOwners(c.Name), File: d.Services})
	return nil
}

// uidOf asks a cluster for the UID of its Namespace kube-system.
func (s *servicesOnly) uidOf(ctx context.Context, in *published.Desired, c *karmada.Cluster) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	config, err := s.Applier.Access.Among(in.Clusters).Config(ctx, c)
	if err != nil {
		return "", err
	}
	return clusters.UIDOf(ctx, c.Name, config)
}
