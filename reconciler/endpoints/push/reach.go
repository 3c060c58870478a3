package push

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/endpointslices"
)

const (
	// soon is how long an API server has to answer a small request.
	soon = 5 * time.Second
	// seldom is the longest wait until a cluster that did not answer is asked again.
	seldom = 20 * time.Second
	// steady is how long a cluster is served, or watched, until what failed before counts no more.
	steady = time.Minute
)

var (
	errNoPart  = errors.New("it is not reached from here: it is not registered, is a virtual cluster, or somebody else applies to it")
	errAnother = errors.New("it is another cluster now")
)

// reached is a cluster that answered, and is the one that it should be.
type reached struct {
	*endpointslices.Client

	ask     func(ctx context.Context) (uid string, err error)
	uid     string // of its Namespace kube-system
	isKnown bool   // it is certain that it has to have that one
}

// reach reaches a cluster, and recognises it by the UID that it has to have, where that is known.
func reach(ctx context.Context, access clusters.Access, c *karmada.Cluster, uid string) (*reached, error) {
	config, err := access.Config(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &reached{ask: func(ctx context.Context) (string, error) { return clusters.UIDOf(ctx, c.Name, config) }}
	if r.uid, err = r.asked(ctx); err != nil {
		return nil, err
	}
	if r.isKnown = uid != ""; r.isKnown && uid != r.uid {
		return nil, fmt.Errorf("this is not %s: its Namespace kube-system has the UID %s, and this one has %s; have its kubeconfig looked at", c.Name, uid, r.uid)
	}
	r.Client, err = endpointslices.Open(c.Name, config)
	return r, err
}

// asked asks the cluster who it is.
func (r *reached) asked(ctx context.Context) (uid string, err error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return r.ask(ctx)
}

// pause is how long to wait after so many failures in a row.
func (e *Exchange) pause(failures int) time.Duration {
	const doublings = 5
	d := min(time.Second<<min(failures, doublings), seldom)
	return d/2 + time.Duration(e.random()*float64(d)/2)
}
