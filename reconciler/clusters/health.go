package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/waybill-dev/waybill/render/object"
)

// Unready is an object that is not as healthy as it should be.
type Unready struct {
	Object object.Ref `json:"object"`
	// Status is kstatus's: InProgress, Failed, Terminating, NotFound or Unknown.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// healthless are core kinds that have no health: being there is all that they do.
var healthless = []string{"ConfigMap", "Secret", "ServiceAccount", "LimitRange", "ResourceQuota", "Endpoints"}

func hasHealth(r object.Ref) bool {
	return r.Group != "rbac.authorization.k8s.io" && (r.Group != "" || !slices.Contains(healthless, r.Kind)) && !strings.HasSuffix(r.Kind, "Class")
}

// Unready lists, in the order of refs, those that are not ready, by kstatus: one list a kind
// that has a health.
func (c *Client) Unready(ctx context.Context, refs []object.Ref) ([]Unready, error) {
	byKind := map[schema.GroupKind][]object.Ref{}
	for _, r := range refs {
		if hasHealth(r) {
			k := schema.GroupKind{Group: r.Group, Kind: r.Kind}
			byKind[k] = append(byKind[k], r)
		}
	}
	if c.mapper == nil {
		if err := c.discover(ctx); err != nil {
			return nil, err
		}
	}
	lists := make(chan []Unready, len(byKind))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for k, wanted := range byKind {
		group.Go(func() error {
			l, err := c.unreadyOf(ctx, k, wanted)
			lists <- l
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // it names the request
	}
	close(lists)
	var all []Unready
	for l := range lists {
		all = append(all, l...)
	}
	slices.SortFunc(all, func(a, b Unready) int { return a.Object.Compare(b.Object) })
	return all, nil
}

func (c *Client) unreadyOf(ctx context.Context, k schema.GroupKind, wanted []object.Ref) ([]Unready, error) {
	m, err := c.resource(k)
	if err != nil && !errors.Is(err, errNotServed) {
		return nil, err
	}
	live := map[object.Ref]*unstructured.Unstructured{}
	if err == nil {
		var l *unstructured.UnstructuredList
		err = retried(ctx, func(ctx context.Context) (err error) {
			l, err = c.objects.Resource(m.Resource).List(ctx, metav1.ListOptions{})
			return err //nolint:wrapcheck // it names the request
		})
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			u := &l.Items[i]
			live[object.Ref{Group: k.Group, Kind: k.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}] = u
		}
	}
	var all []Unready
	for _, r := range wanted {
		u := live[r]
		if u == nil {
			all = append(all, Unready{Object: r, Status: string(status.NotFoundStatus)})
			continue
		}
		result, err := status.Compute(u)
		if err != nil {
			all = append(all, Unready{r, string(status.UnknownStatus), fmt.Sprintf("its status cannot be read: %v", err)})
		} else if result.Status != status.CurrentStatus {
			all = append(all, Unready{r, string(result.Status), result.Message})
		}
	}
	return all, nil
}

// Wait waits until objects are ready, or one has failed, or the time is over, and returns those
// that are not ready.
func (c *Client) Wait(ctx context.Context, refs []object.Ref, most time.Duration) (left []Unready, err error) {
	const interval = time.Second
	poll := wait.PollUntilContextTimeout(ctx, interval, most, true, func(ctx context.Context) (bool, error) {
		now, lookErr := c.Unready(ctx, refs)
		if lookErr != nil && ctx.Err() != nil {
			return false, nil // what was seen last counts
		}
		left = now
		return len(now) == 0 || slices.ContainsFunc(now, func(u Unready) bool { return u.Status == string(status.FailedStatus) }), lookErr
	})
	if wait.Interrupted(poll) && ctx.Err() == nil {
		return left, nil
	}
	return left, poll //nolint:wrapcheck // it names the request
}
