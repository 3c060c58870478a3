package clusters

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// Unready is an object that is not as healthy as it should be.
type Unready struct {
	Object object.Ref `json:"object"`
	// Status is kstatus's, InProgress, Failed, Terminating, NotFound or Unknown, or Argo CD's Suspended.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// judge returns what knows who is healthy.
func (c *Client) judge() *health.Judge {
	if c.Judge == nil {
		c.Judge = &health.Judge{Kinds: interpret.New()}
	}
	return c.Judge
}

// Health judges the objects whose kinds have a health: one list a scope. Watch goes on from
// there.
func (c *Client) Health(ctx context.Context, refs []object.Ref) (map[object.Ref]health.Health, error) {
	refs = slices.DeleteFunc(slices.Clone(refs), func(r object.Ref) bool { return !health.Has(r) })
	scopes := c.scopes(slices.Values(refs))
	wanted := make(map[scope][]object.Ref, len(scopes))
	for _, p := range scopes {
		wanted[p] = nil
	}
	for _, r := range refs {
		p := scope{schema.GroupKind{Group: r.Group, Kind: r.Kind}, r.Namespace}
		if _, alone := wanted[p]; !alone {
			p.namespace = "" // all are looked at
		}
		wanted[p] = append(wanted[p], r)
	}
	if c.mapper == nil {
		if err := c.discover(ctx); err != nil {
			return nil, err
		}
	}
	c.judge().Renew()
	judgements := make(chan judgement, len(scopes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, p := range scopes {
		group.Go(func() error {
			j, err := c.judgeAll(ctx, p, wanted[p])
			judgements <- j
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	close(judgements)
	all := make(map[object.Ref]health.Health, len(refs))
	c.judged = map[scope]judgement{}
	for j := range judgements {
		for i, r := range j.of {
			all[r] = j.is[i]
		}
		if j.version != "" {
			c.judged[j.at] = j
		}
	}
	return all, nil
}

// judgement is the health of objects of a scope, and as of which version. That is empty for a
// kind that the cluster does not serve.
type judgement struct {
	at        scope
	of        []object.Ref
	is        []health.Health
	hasStatus bool // one of the kind has a status
	version   string
}

func (c *Client) judgeAll(ctx context.Context, p scope, wanted []object.Ref) (judgement, error) {
	j := judgement{at: p, of: wanted, is: make([]health.Health, len(wanted))}
	at := make(map[object.Ref]int, len(wanted))
	for i, r := range wanted {
		j.is[i], at[r] = health.Missing(), i
	}
	m, err := c.resource(p.kind)
	if errors.Is(err, errNotServed) {
		return j, nil
	}
	if err != nil {
		return j, err
	}
	var l *unstructured.UnstructuredList
	err = retried(ctx, func(ctx context.Context) (err error) {
		l, err = c.objectsIn(m, p).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return j, err
	}
	j.version = l.GetResourceVersion()
	j.hasStatus = slices.ContainsFunc(l.Items, func(u unstructured.Unstructured) bool { return hasStatus(&u) })
	moment := health.Moment{Now: c.clock.last(), HasPeers: j.hasStatus}
	for i := range l.Items {
		u := &l.Items[i]
		if n, ok := at[refIn(p.kind, u)]; ok {
			j.is[n] = c.judge().Of(u.Object, moment)
		}
	}
	return j, nil
}

func refIn(k schema.GroupKind, u *unstructured.Unstructured) object.Ref {
	return object.Ref{Group: k.Group, Kind: k.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Resource returns what a kind is called in paths of the API; empty if the cluster does not
// serve it.
func (c *Client) Resource(k schema.GroupKind) string {
	if c.mapper == nil {
		return ""
	}
	m, err := c.resource(k)
	if err != nil {
		return ""
	}
	return m.Resource.Resource
}

// unhealthy lists, in their order, objects that are not healthy, but for reasons that are accepted.
func unhealthy(all map[object.Ref]health.Health, accepted []string) []Unready {
	var list []Unready
	for r, h := range all {
		if h.State != karmada.ResourceHealthy && !slices.Contains(accepted, h.Reason) {
			list = append(list, Unready{r, h.Reason, h.Message})
		}
	}
	slices.SortFunc(list, func(a, b Unready) int { return a.Object.Compare(b.Object) })
	return list
}

// Wait waits until objects are healthy, or one has failed, or the time is over, and returns
// those that are not healthy. One that is not for a reason that is accepted counts as healthy, and one of which the API server
// said nothing does not.
func (c *Client) Wait(ctx context.Context, refs []object.Ref, most time.Duration, accepted ...string) (left []Unready, err error) {
	for _, r := range refs { // until they answer
		if health.Has(r) {
			left = append(left, Unready{r, health.Unknown, noAnswer})
		}
	}
	const interval = time.Second
	poll := wait.PollUntilContextTimeout(ctx, interval, most, true, func(ctx context.Context) (bool, error) {
		all, lookErr := c.Health(ctx, refs)
		if lookErr != nil && ctx.Err() != nil {
			return false, nil // what was seen last counts
		}
		left = unhealthy(all, accepted)
		return len(left) == 0 || slices.ContainsFunc(left, func(u Unready) bool { return u.Status == health.Failed }), lookErr
	})
	if wait.Interrupted(poll) && ctx.Err() == nil {
		return left, nil
	}
	return left, poll
}
