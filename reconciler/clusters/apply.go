package clusters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/object"
)

// errReplaced says that an object is not the one that was looked at.
var errReplaced = errors.New("somebody replaced it meanwhile; apply again")

// Apply implements apply.Cluster. Actions that are not begun when ctx ends have its error.
func (c *Client) Apply(ctx context.Context, actions []apply.Action, owner string) []apply.Outcome {
	outcomes := make([]apply.Outcome, len(actions))
	c.judge().Renew() // before there are several
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, a := range actions {
		group.Go(func() error {
			outcomes[i] = c.one(ctx, a, owner)
			return nil
		})
	}
	_ = group.Wait() // outcomes have the errors
	return outcomes
}

func (c *Client) one(ctx context.Context, a apply.Action, owner string) apply.Outcome {
	out := apply.Outcome{Action: a}
	if out.Err = ctx.Err(); out.Err != nil {
		return out
	}
	if a.Object == nil {
		out.Waits, out.Err = c.leave(ctx, a, owner)
		return out
	}
	out.Live, out.Verb, out.Err = c.apply(ctx, a, owner)
	if out.Err != nil && a.Object.Private && answered(out.Err) {
		out.Err = fmt.Errorf("the API server refused it (%s); its message may hold values of Secrets, and is not shown", apierrors.ReasonForError(out.Err))
	}
	return out
}

// apply applies an object, and says what it did.
func (c *Client) apply(ctx context.Context, a apply.Action, owner string) (*metav1.PartialObjectMetadata, apply.Verb, error) {
	_, version := object.GroupVersion(a.Object.APIVersion)
	m, err := c.resource(a.Object.Kind(), version)
	if err != nil {
		return nil, a.Verb, err
	}
	if !a.Reads() {
		return deliver(ctx, c, m, a, owner)
	}
	const tries = 5
	for n := 1; ; n++ {
		as := a
		if as.Object, as.Version, err = c.filled(ctx, m, a); err != nil {
			return nil, a.Verb, err
		}
		live, verb, err := deliver(ctx, c, m, as, owner)
		if !errors.Is(err, errReplaced) || n == tries {
			return live, verb, err
		}
	}
}

// deliver applies an object as it is to be sent, and says what it did.
func deliver(
	ctx context.Context, c *Client, m *meta.RESTMapping, a apply.Action, owner string,
) (*metav1.PartialObjectMetadata, apply.Verb, error) {
	at := c.at(m, a.Ref)
	if a.Verb == apply.Adopt {
		if err := adopt(ctx, at, a); err != nil {
			return nil, a.Verb, err
		}
	}
	if a.Renew == apply.RenewFirst {
		anew, err := patch(asNew(a), owner)
		if err != nil {
			return nil, a.Verb, err
		}
		live, err := renew(ctx, at, a, anew)
		return live, a.Verb, explained(a, err)
	}
	changed := a
	var err error
	if changed.Object, err = c.retained(ctx, m, a); err != nil {
		return nil, a.Verb, err
	}
	live, err := change(ctx, at, changed, owner)
	if err != nil && a.Renew == apply.RenewRefused {
		anew, failed := patch(asNew(a), owner)
		if failed == nil && c.onlyNew(ctx, m, anew, err) {
			return recreate(ctx, c, m, a, refusal{anew, err})
		}
	}
	return live, a.Verb, explained(a, err)
}

// asNew is an action for an object that is not there.
func asNew(a apply.Action) apply.Action {
	a.UID, a.Version, a.Left, a.Filled = "", "", nil, nil
	return a
}

// change applies an object, and takes fields from those from whom they may be taken.
func change(ctx context.Context, at metadata.ResourceInterface, a apply.Action, owner string) (*metav1.PartialObjectMetadata, error) {
	body, err := patch(a, owner)
	if err != nil {
		return nil, err
	}
	live, err := sent(ctx, at, a, body, a.Take == apply.TakeAll)
	if a.Take == apply.TakeEdits && hasConflict(err) {
		if err = withoutApplier(ctx, at, a, err); err == nil {
			live, err = sent(ctx, at, a, body, true)
		}
	}
	return live, err
}

// sent sends an Apply patch.
func sent(ctx context.Context, at metadata.ResourceInterface, a apply.Action, body []byte, force bool) (live *metav1.PartialObjectMetadata, err error) {
	options := metav1.PatchOptions{FieldManager: apply.Manager, Force: &force}
	err = retried(ctx, func(ctx context.Context) (err error) {
		live, err = at.Patch(ctx, a.Ref.Name, types.ApplyPatchType, body, options)
		return err
	})
	return live, err
}

// patch is what is sent of a manifest: it names its owner, lacks what is left to the cluster,
// and has the UID of the object that is meant, so that no other one is changed.
func patch(a apply.Action, owner string) ([]byte, error) {
	content := object.Annotate(a.Object.Manifest, apply.OwnerAnnotation, owner)
	if a.Run != "" {
		content = object.Annotate(content, apply.RunAnnotation, a.Run)
	}
	meta, _ := content["metadata"].(map[string]any) // a copy
	if a.UID != "" {
		meta["uid"] = a.UID
	}
	if a.Version != "" {
		meta["resourceVersion"] = a.Version
	}
	content = apply.Without(content, a.Left)
	if a.Ref.Group == "" && a.Ref.Kind == "Secret" {
		u := &unstructured.Unstructured{Object: content}
		u = u.DeepCopy()
		if err := normalize.Unstructured(u); err != nil { // stringData is write-only, and leaves data behind
			return nil, errors.New("its data cannot be read as that of a Secret")
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
		content = u.Object
	}
	data, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encoding it: %w", err)
	}
	return data, nil
}

// filled returns the object with the fields that are to be sent as they are live, and the resource version of that: what is sent
// as it was would undo what somebody has changed meanwhile. What is adopted is changed by that itself, and may have any.
func (c *Client) filled(ctx context.Context, m *meta.RESTMapping, a apply.Action) (*apply.Object, string, error) {
	live, err := c.get(ctx, m, a)
	if err != nil {
		return nil, "", err
	}
	o := *a.Object
	for _, path := range a.Filled {
		manifest, ok := apply.Fill(o.Manifest, live.Object, live.GetManagedFields(), path)
		if !ok {
			return nil, "", fmt.Errorf("its field /%s is to stay as it is, and cannot be told; write it into the manifest", strings.Join(path, "/"))
		}
		o.Manifest = manifest
	}
	if a.Back != nil {
		o.Manifest = a.Back.Returned(o.Manifest, live.Object, live.GetManagedFields())
	}
	if a.Verb == apply.Adopt {
		return &o, "", nil
	}
	return &o, live.GetResourceVersion(), nil
}

// adopt makes the fields of former managers ours, if the object is still as it was seen.
func adopt(ctx context.Context, at metadata.ResourceInterface, a apply.Action) error {
	live := &unstructured.Unstructured{}
	live.SetManagedFields(a.Live.ManagedFields)
	var former []ssa.FieldManager
	for _, e := range a.Live.ManagedFields {
		if apply.Delivers(e) {
			former = append(former, ssa.FieldManager{Name: e.Manager, ExactMatch: true, OperationType: e.Operation})
		}
	}
	ops, err := ssa.PatchReplaceFieldsManagers(live, former, apply.Manager)
	if err != nil || len(ops) == 0 {
		return err
	}
	patch := []any{map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": a.Live.ResourceVersion}}
	for _, op := range ops {
		patch = append(patch, op)
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding the field managers: %w", err)
	}
	err = retried(ctx, func(ctx context.Context) error {
		_, err := at.Patch(ctx, a.Ref.Name, types.JSONPatchType, data, metav1.PatchOptions{FieldManager: apply.Manager})
		return err
	})
	if apierrors.IsInvalid(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errReplaced
	}
	return err
}

func hasConflict(err error) bool {
	return apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

// withoutApplier returns nil if nobody who applies, too, owns a field that is in conflict: an
// edit is undone, but two who apply would undo each other for ever.
func withoutApplier(ctx context.Context, at metadata.ResourceInterface, a apply.Action, conflict error) error {
	var live *metav1.PartialObjectMetadata
	err := retried(ctx, func(ctx context.Context) (err error) {
		live, err = at.Get(ctx, a.Ref.Name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range conflicts(conflict) {
		isApplier := slices.ContainsFunc(live.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == c.manager && e.Operation == metav1.ManagedFieldsOperationApply
		})
		if isApplier {
			return fmt.Errorf("%s applies %s, too; take the field out of one of the two, or say conflictResolution: Overwrite in its policy", c.manager, c.field)
		}
	}
	return nil
}

// explained says of what an API server answered what a person can do about it.
func explained(a apply.Action, err error) error {
	switch {
	case err == nil:
		return nil
	case hasConflict(err):
		return fmt.Errorf("it is in conflict: %s", conflicts(err))
	case apierrors.IsConflict(err):
		return errReplaced
	case a.UID != "" && isImmutable(err):
		advice := "delete the object, and it is created anew; the annotation " + apply.RecreateAnnotation + `: "true" has Waybill do so`
		if !apply.Recreatable(a.Object) {
			advice = "a " + a.Ref.Kind + " is never deleted for that"
			if a.Ref.Kind == "StatefulSet" {
				advice += " while its persistentVolumeClaimRetentionPolicy deletes its volumes with it"
			}
		}
		return fmt.Errorf("a field that cannot be changed is to be changed: %w; %s", err, advice)
	case apierrors.IsNotFound(err) && a.Ref.Namespace != "":
		return fmt.Errorf("%w; is its Namespace in the source, and placed here?", err)
	}
	return err
}

// isImmutable reports an update that an API server refused because a field may not change. A
// field may also be invalid for other reasons, so that only the words tell.
func isImmutable(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return strings.Contains(c.Message, "immutable") || strings.Contains(c.Message, "may not change") || strings.Contains(c.Message, "updates to ")
	})
}
