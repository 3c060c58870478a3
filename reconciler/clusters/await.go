package clusters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// noAnswer is what is said of objects of which an API server said nothing.
const noAnswer = "the API server did not answer in time"

// Await implements apply.Cluster. It asks for each object that is not healthy yet, ever later.
func (c *Client) Await(ctx context.Context, objects []object.Ref, most time.Duration) ([]apply.Unhealthy, error) {
	objects = slices.DeleteFunc(slices.Clone(objects), func(r object.Ref) bool { return !health.Has(r) })
	var left []apply.Unhealthy
	for _, r := range objects { // until they answer
		left = append(left, apply.Unhealthy{Ref: r, Why: noAnswer})
	}
	look := func(ctx context.Context) (bool, error) {
		now, err := c.unhealthy(ctx, objects)
		if err != nil {
			return false, err
		}
		left, objects = now, objects[:0]
		for _, u := range now {
			objects = append(objects, u.Ref)
		}
		return len(left) == 0 || slices.ContainsFunc(left, func(u apply.Unhealthy) bool { return u.Failed }), nil
	}
	patience := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.5, Cap: 5 * time.Second, Steps: 1 << 30}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := patience.DelayFunc().Until(bounded, true, true, look)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return left, nil // the time is over
	}
	return left, err
}

// unhealthy asks for objects, several at once, and returns those that are not healthy.
func (c *Client) unhealthy(ctx context.Context, objects []object.Ref) ([]apply.Unhealthy, error) {
	answers := make([]*apply.Unhealthy, len(objects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, r := range objects {
		group.Go(func() (err error) {
			answers[i], err = c.health(ctx, r)
			return err
		})
	}
	err := group.Wait()
	var all []apply.Unhealthy
	for _, u := range answers {
		if u != nil {
			all = append(all, *u)
		}
	}
	return all, err
}

// health returns nil for an object that is healthy.
func (c *Client) health(ctx context.Context, r object.Ref) (*apply.Unhealthy, error) {
	m, err := c.resource(schema.GroupKind{Group: r.Group, Kind: r.Kind})
	if err != nil {
		return nil, err
	}
	var u *unstructured.Unstructured
	err = retried(ctx, func(ctx context.Context) (err error) {
		u, err = c.objects.Resource(m.Resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return &apply.Unhealthy{Ref: r, Failed: true, Why: "it is gone, and nobody saw how it ended"}, nil
	}
	if err != nil {
		return nil, err
	}
	s, why := c.syncHealth(u)
	if s == status.CurrentStatus {
		return nil, nil
	}
	return &apply.Unhealthy{Ref: r, Failed: s == status.FailedStatus, Why: fmt.Sprintf("%s: %s", s, why)}, nil
}

// syncHealth is the health that a sync waits for, which is Argo CD's where that is not
// ours: a Job, and a Pod that is to end, are healthy when they have succeeded.
func (c *Client) syncHealth(u *unstructured.Unstructured) (s status.Status, why string) {
	switch u.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return jobHealth(u)
	case schema.GroupKind{Kind: "Pod"}:
		if policy, _, _ := unstructured.NestedString(u.Object, "spec", "restartPolicy"); policy != "Always" {
			return endingHealth(u, "status", "phase")
		}
	case schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}:
		return endingHealth(u, "status", "phase")
	}
	h := c.judge().Of(u.Object, health.Moment{Now: c.clock.last()})
	if h.State == karmada.ResourceHealthy {
		return status.CurrentStatus, ""
	}
	return status.Status(h.Reason), h.Message
}

func jobHealth(u *unstructured.Unstructured) (s status.Status, why string) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range conditions {
		c, _ := x.(map[string]any)
		if c["status"] != "True" {
			continue
		}
		switch c["type"] {
		case "Complete":
			return status.CurrentStatus, ""
		case "Failed":
			return status.FailedStatus, fmt.Sprint(c["message"])
		}
	}
	return status.InProgressStatus, "the Job runs"
}

// endingHealth is the health of what says in a phase how it ended.
func endingHealth(u *unstructured.Unstructured, path ...string) (s status.Status, why string) {
	phase, _, _ := unstructured.NestedString(u.Object, path...)
	switch phase {
	case "Succeeded":
		return status.CurrentStatus, ""
	case "Failed", "Error":
		return status.FailedStatus, "it ended in the phase " + phase
	}
	return status.InProgressStatus, "it runs"
}
