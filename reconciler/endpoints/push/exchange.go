// Package push carries endpoints of services from clusters to others: where both are reached from here, from watches to server-side
// apply, in memory. What a cluster has follows from endpoints.Resolve.
//
// A consumer is served as long as its branch is applied. The clusters that it imports from are watched for that, whoever applies
// to them, and once for all consumers that are served here. What clusters have that are not reached from here, their books say, which
// somebody else reads; and books are written of clusters that are served here, for those who do not reach them.
package push

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/tree"
)

// Exchange carries endpoints. New makes one that serves nobody yet.
type Exchange struct {
	// Reaches says which of the registered clusters are reached from here; nil: those that are pushed to.
	Reaches func(*karmada.Cluster) bool
	// Books are those of clusters that are not reached from here. It is there from the beginning.
	Books *Books
	// Writer writes books of clusters that are served here; nil: nobody does.
	Writer Writer
	// Refused is told what is not taken of others for a cluster, whenever that changes; nil: nobody is.
	Refused func(cluster string, all []endpoints.Refusal)

	opens  Opener
	now    func() time.Time
	random func() float64 // in [0, 1)
	log    *slog.Logger

	mu         sync.Mutex
	registered []*karmada.Cluster
	settings   exchange.Services
	booked     map[string]map[types.NamespacedName]bool // by cluster: what it exports by its book; nil: nobody says
	providers  map[string]*provider                     // that anybody wants something of
	consumers  map[string]*consumer
	collectors map[string]*collector
}

// New makes an Exchange.
func New(opens Opener, now func() time.Time, random func() float64, log *slog.Logger) *Exchange {
	e := &Exchange{
		opens: opens, now: now, random: random, log: log,
		providers: map[string]*provider{}, consumers: map[string]*consumer{}, collectors: map[string]*collector{},
	}
	e.Books = &Books{exchange: e, latest: map[string]*latest{}}
	return e
}

// Known says which clusters are registered, how they exchange services, and which of them they export by books, from now on.
func (e *Exchange) Known(registered []*karmada.Cluster, settings exchange.Services, booked []services.Booked) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.registered, e.settings, e.booked = registered, settings, services.BookedBy(booked)
	for _, c := range e.consumers {
		c.wake()
	}
	for _, c := range e.collectors {
		c.wake()
	}
	for _, p := range e.providers {
		p.look()
	}
}

// Applied is a cluster whose branch was applied.
type Applied struct {
	Cluster string
	UID     string // of its Namespace kube-system
	Owner   string // what the source is known by there
	// Formerly is what the source was known by there before it moved.
	Formerly []string
	File     []byte // by which it exchanges services; nil for none
}

// Applied says that the branch of a cluster was applied. It counts until ctx ends.
func (e *Exchange) Applied(ctx context.Context, a Applied) {
	f, err := services.Decode(a.File)
	if err != nil {
		e.log.WarnContext(ctx, "endpoints stay as they are", "cluster", a.Cluster, "file", tree.ServicesFile, "err", err)
		return
	}
	e.mu.Lock()
	c := e.consumers[a.Cluster]
	isNew := c == nil || c.hasEnded()
	if isNew {
		c = newConsumer(ctx, e, a.Cluster)
		e.consumers[a.Cluster] = c
	}
	c.uid = a.UID
	e.mu.Unlock()
	c.set(&a, f.Imports)
	if isNew {
		go c.run(ctx)
	}
	e.collect(ctx, a.Cluster, f.Exports)
}

// left forgets a consumer.
func (e *Exchange) left(ctx context.Context, c *consumer) {
	e.want(ctx, c, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.consumers[c.name] == c {
		delete(e.consumers, c.name)
	}
}

// cluster returns a registered cluster, as it is now, and by which settings it exchanges services; nil for one that is not served from
// here: it is not registered, is virtual, or is not reached.
func (e *Exchange) cluster(name string) (*karmada.Cluster, exchange.Services) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.takesPart(name); c != nil && e.reaches(c) {
		return c, e.settings
	}
	return nil, e.settings
}

// elsewhere returns a registered cluster that takes part, and is not reached from here; nil for another one.
func (e *Exchange) elsewhere(name string) *karmada.Cluster {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.takesPart(name); c != nil && !e.reaches(c) {
		return c
	}
	return nil
}

// takesPart returns a cluster that is registered, and has an API server of its own. The lock is held.
func (e *Exchange) takesPart(name string) *karmada.Cluster {
	i := slices.IndexFunc(e.registered, func(c *karmada.Cluster) bool { return c.Name == name })
	if i < 0 || virtual.Of(e.registered[i]) != nil {
		return nil
	}
	return e.registered[i]
}

func (e *Exchange) reaches(c *karmada.Cluster) bool {
	if e.Reaches != nil {
		return e.Reaches(c)
	}
	return c.Spec.SyncMode != karmada.Pull
}

// serves reports that endpoints are brought to a cluster now: no person suspended it. Sync windows do not count: they are about what
// people change.
func (e *Exchange) serves(name string) bool {
	c, settings := e.cluster(name)
	return c != nil && settings.Endpoints == exchange.Apply && suspend.Of(name, c.Annotations, nil, e.now()).Why == ""
}

// open finds how a cluster is reached now, and recognises it.
func (e *Exchange) open(ctx context.Context, name string) (*reached, error) {
	c, _ := e.cluster(name)
	if c == nil {
		return nil, errNoPart
	}
	e.mu.Lock()
	registered := e.registered
	e.mu.Unlock()
	server, err := e.opens(ctx, registered, c)
	if err != nil {
		return nil, err
	}
	return recognise(ctx, server, c.Name, e.uidOf(c))
}

// uidOf is the UID that the Namespace kube-system of a cluster has to have; empty where that is not known.
func (e *Exchange) uidOf(c *karmada.Cluster) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.consumers[c.Name]; c.Spec.ID == "" && known != nil {
		return known.uid
	}
	return c.Spec.ID
}

// isStill reports a cluster that is reached, for all that is known, as the one that it was.
func (e *Exchange) isStill(name string, r *reached) bool {
	c, _ := e.cluster(name)
	if c == nil {
		return false
	}
	uid := e.uidOf(c)
	return uid == "" || uid == r.uid
}
