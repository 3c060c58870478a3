package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"

	"github.com/waybill-dev/waybill/reconciler/apply"
)

// refusal is what a server answered to a change, and what it would create instead.
type refusal struct {
	anew []byte
	err  error
}

// recreate has an object be created anew, unless more would go with what is live than the manifest says.
func recreate(
	ctx context.Context, c *Client, m *meta.RESTMapping, a apply.Action, by refusal,
) (*metav1.PartialObjectMetadata, apply.Verb, error) {
	is, err := c.get(ctx, m, a)
	if err != nil {
		return nil, a.Verb, fmt.Errorf("looking at it, before it is deleted to be created anew: %w", err)
	}
	if o := (&apply.Object{Ref: a.Ref, Manifest: is.Object}); !apply.Recreatable(o) {
		a.Object = o
		return nil, a.Verb, explained(a, by.err)
	}
	live, err := renew(ctx, c.at(m, a.Ref), a, by.anew)
	return live, apply.Recreate, explained(a, err)
}

// onlyNew reports whether a server refuses to change an object because a field may not change:
// it says that a field is invalid or forbidden, and would create the same manifest. What is
// wrong in itself, and what an admission policy denies, is wrong for a new object, too; it says
// that the object exists only after it has looked at all of it.
func (c *Client) onlyNew(ctx context.Context, m *meta.RESTMapping, anew []byte, err error) bool {
	if !refusesField(err) {
		return false
	}
	u := &unstructured.Unstructured{}
	if json.Unmarshal(anew, &u.Object) != nil {
		return false
	}
	err = retried(ctx, func(ctx context.Context) error {
		_, err := c.writes.objects.Resource(m.Resource).Namespace(u.GetNamespace()).Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: apply.Manager})
		return err
	})
	return err == nil || apierrors.IsAlreadyExists(err)
}

func refusesField(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeFieldValueInvalid || c.Type == metav1.CauseTypeForbidden
	})
}

// renew deletes the object that an action means, waits until it is gone, and creates it. Where
// that ends midway, the object is not there, and the next round creates it.
func renew(ctx context.Context, at metadata.ResourceInterface, a apply.Action, anew []byte) (*metav1.PartialObjectMetadata, error) {
	uid, background := types.UID(a.UID), metav1.DeletePropagationBackground
	err := retried(ctx, func(ctx context.Context) error {
		return at.Delete(ctx, a.Ref.Name, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}})
	})
	switch {
	case apierrors.IsConflict(err):
		return nil, errReplaced
	case err != nil && !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("deleting it, to create it anew: %w", err)
	}
	if err := gone(ctx, at, a); err != nil {
		return nil, err
	}
	return sent(ctx, at, a, anew, false)
}

// gone waits, for a while, until an object is not there.
func gone(ctx context.Context, at metadata.ResourceInterface, a apply.Action) error {
	var last error
	const interval, most = 100 * time.Millisecond, 30 * time.Second
	err := wait.PollUntilContextTimeout(ctx, interval, most, true, func(ctx context.Context) (bool, error) {
		live, err := look(ctx, at, a, "")
		if live == nil || err != nil {
			return true, err
		}
		last = fmt.Errorf("%s; it is created anew when it is gone", deleting(live))
		return false, nil
	})
	if last != nil && wait.Interrupted(err) && ctx.Err() == nil {
		return last
	}
	return err
}
