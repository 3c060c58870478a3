package clusters

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
)

// retained returns an object that is there with what its cluster owns of it, by the hook Retain of
// a ResourceInterpreterCustomization, or of those for kinds of other projects (Karmada sections
// D.5 and E.9). What the built-in kinds retain is told from metadata alone, and left out by
// then.
func (c *Client) retained(ctx context.Context, m *meta.RESTMapping, a apply.Action) (*apply.Object, error) {
	in := c.judge().Kinds
	if by := in.Answered(a.Object.Manifest, karmada.InterpreterOperationRetain); a.UID == "" || by == "" || by == "native" {
		return a.Object, nil
	}
	live, err := c.get(ctx, m, a)
	if err != nil {
		return nil, err
	}
	if string(live.GetUID()) != a.UID {
		return nil, errReplaced
	}
	if a.Object.Private {
		in = in.Hushed()
	}
	desired, err := in.Retain(a.Object.Manifest, live.Object)
	if err != nil {
		return nil, fmt.Errorf("it stays as it is: %w", err)
	}
	o := *a.Object
	o.Manifest = apply.Retain(o.Manifest, desired, live.Object, live.GetManagedFields())
	return &o, nil
}

// get returns a whole object.
func (c *Client) get(ctx context.Context, m *meta.RESTMapping, a apply.Action) (live *unstructured.Unstructured, err error) {
	err = retried(ctx, func(ctx context.Context) (err error) {
		live, err = c.writes.objects.Resource(m.Resource).Namespace(a.Ref.Namespace).Get(ctx, a.Ref.Name, metav1.GetOptions{})
		return err
	})
	return live, err
}
