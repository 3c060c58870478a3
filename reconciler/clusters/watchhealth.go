package clusters

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// healthWatch tells of the health of a kind's objects whenever it changes.
type healthWatch struct {
	*Client

	kind      schema.GroupKind
	resource  schema.GroupVersionResource
	hasStatus bool                       // one of the kind has a status
	later     map[object.Ref]*time.Timer // by which objects are looked at again
}

// watchHealth tells of the health of a kind's objects whenever it changes since Health looked.
func (c *Client) watchHealth(ctx context.Context, j *judgement, m *meta.RESTMapping) error {
	w := healthWatch{Client: c, kind: j.at.kind, resource: m.Resource, hasStatus: j.hasStatus, later: map[object.Ref]*time.Timer{}}
	defer func() {
		for _, t := range w.later {
			t.Stop()
		}
	}()
	for i, r := range j.of {
		w.lookAgain(ctx, r, &j.is[i])
	}
	return watching(ctx, j.version, c.objectsIn(m, j.at).Watch, func(e watch.EventType, o metav1.Object) {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return
		}
		h := health.Missing()
		if e != watch.Deleted {
			w.hasStatus = w.hasStatus || hasStatus(u)
			c.judge().Renew()
			h = c.judge().Of(u.Object, health.Moment{Now: c.clock.last(), HasPeers: w.hasStatus})
		}
		r := refIn(w.kind, u)
		w.lookAgain(ctx, r, &h)
		c.Saw(r, h)
	})
}

// lookAgain has an object looked at again whose health becomes another one by itself.
func (w *healthWatch) lookAgain(ctx context.Context, r object.Ref, h *health.Health) {
	if t := w.later[r]; t != nil {
		t.Stop()
		delete(w.later, r)
	}
	if h.Again == 0 {
		return
	}
	w.later[r] = time.AfterFunc(h.Again, func() {
		u, err := w.objects.Resource(w.resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
		if err == nil { // otherwise the watch tells
			w.Saw(r, w.judge().Of(u.Object, health.Moment{Now: w.clock.last()}))
		}
	})
}

// hasStatus reports an object whose status says something.
func hasStatus(u *unstructured.Unstructured) bool {
	s, _ := u.Object["status"].(map[string]any)
	return len(s) > 0
}
