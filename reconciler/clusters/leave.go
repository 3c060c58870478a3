package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/waybill-dev/waybill/reconciler/apply"
)

// leave deletes an object that left the branch, or lets it go as nobody's. It returns "" when
// the object is not there any more, or is not ours, and else what it waits for.
func (c *Client) leave(ctx context.Context, a apply.Action, owner string) (waits string, err error) {
	m, err := c.resource(schema.GroupKind{Group: a.Ref.Group, Kind: a.Ref.Kind})
	if errors.Is(err, errNotServed) {
		if unsure, asked := c.unsure[schema.GroupKind{Group: a.Ref.Group, Kind: a.Ref.Kind}]; asked {
			return "", unsure // nil: none of it is there
		}
		return "", err // it was served when the round began
	}
	if err != nil {
		return "", err
	}
	at := c.at(m, a.Ref)
	const tries = 4 // as its status may change between the look and the deletion
	for range tries {
		live, err := look(ctx, at, a, owner)
		if live == nil || err != nil {
			return "", err
		}
		if live.DeletionTimestamp != nil {
			return deleting(live), nil
		}
		if a.Verb == apply.Release {
			err = release(ctx, at, live)
		} else {
			err = remove(ctx, at, live)
		}
		switch {
		case apierrors.IsConflict(err):
			continue
		case err != nil && !apierrors.IsNotFound(err):
			return "", err
		case a.Verb == apply.Release:
			return "", nil
		}
		if live, err = look(ctx, at, a, owner); live == nil || err != nil {
			return "", err
		}
		return deleting(live), nil
	}
	return "", errReplaced
}

// look returns the object of an entry, if it is there and ours; nil if not.
func look(ctx context.Context, at metadata.ResourceInterface, a apply.Action, owner string) (live *metav1.PartialObjectMetadata, err error) {
	err = retried(ctx, func(ctx context.Context) (err error) {
		live, err = at.Get(ctx, a.Ref.Name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if a.UID != "" && a.UID != string(live.UID) || a.UID == "" && !apply.Owned(live, owner) {
		return nil, nil
	}
	return live, nil
}

// remove deletes exactly the object that was looked at.
func remove(ctx context.Context, at metadata.ResourceInterface, live *metav1.PartialObjectMetadata) error {
	background := metav1.DeletePropagationBackground
	return retried(ctx, func(ctx context.Context) error {
		return at.Delete(ctx, live.Name, metav1.DeleteOptions{
			PropagationPolicy: &background,
			Preconditions:     &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion},
		})
	})
}

// release takes our marks off an object, which stays.
func release(ctx context.Context, at metadata.ResourceInterface, live *metav1.PartialObjectMetadata) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.UID, "resourceVersion": live.ResourceVersion,
		"labels":      map[string]any{apply.ManagedLabel: nil},
		"annotations": map[string]any{apply.OwnerAnnotation: nil, apply.PreserveAnnotation: nil},
	}})
	if err != nil {
		return fmt.Errorf("encoding a patch: %w", err)
	}
	return retried(ctx, func(ctx context.Context) error {
		_, err := at.Patch(ctx, live.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: apply.Manager})
		return err
	})
}

func deleting(live *metav1.PartialObjectMetadata) string {
	if len(live.Finalizers) == 0 {
		return "it is being deleted"
	}
	return "it is being deleted, and waits for the finalizers " + strings.Join(live.Finalizers, ", ")
}
