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

// Server is the API server of a cluster.
type Server struct {
	*endpointslices.Client

	// UID asks for that of the Namespace kube-system.
	UID func(context.Context) (string, error)
}

// Opener finds how a cluster is reached, which is one of those that are registered. It sends nothing to it.
type Opener func(ctx context.Context, registered []*karmada.Cluster, c *karmada.Cluster) (Server, error)

// By reaches clusters by an access.
func By(access clusters.Access) Opener {
	return func(ctx context.Context, registered []*karmada.Cluster, c *karmada.Cluster) (Server, error) {
		config, err := access.Among(registered).Config(ctx, c)
		if err != nil {
			return Server{}, err
		}
		client, err := endpointslices.Open(c.Name, config)
		return Server{client, func(ctx context.Context) (string, error) { return clusters.UIDOf(ctx, c.Name, config) }}, err
	}
}

// reached is a cluster that answered, and is the one that it should be.
type reached struct {
	Server

	uid     string // of its Namespace kube-system
	isKnown bool   // it is certain that it has to have that one
}

// recognise asks a cluster who it is, and compares that with the UID that it has to have, where that is known.
func recognise(ctx context.Context, s Server, cluster, uid string) (*reached, error) {
	r := &reached{Server: s}
	var err error
	if r.uid, err = r.asked(ctx); err != nil {
		return nil, err
	}
	if r.isKnown = uid != ""; r.isKnown && uid != r.uid {
		return nil, fmt.Errorf("this is not %s: its Namespace kube-system has the UID %s, and this one has %s; have its kubeconfig looked at", cluster, uid, r.uid)
	}
	return r, nil
}

// asked asks the cluster who it is.
func (r *reached) asked(ctx context.Context) (uid string, err error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return r.UID(ctx)
}

// pause is how long to wait after so many failures in a row.
func (e *Exchange) pause(failures int) time.Duration {
	const doublings = 5
	d := min(time.Second<<min(failures, doublings), seldom)
	return d/2 + time.Duration(e.random()*float64(d)/2)
}
