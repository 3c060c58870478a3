package pods

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

// When pods are asked for: of an object that has not been healthy for a while, and then no oftener than this.
const (
	firstAfter = 30 * time.Second
	thenEvery  = time.Minute
)

// NoRight says that the pods may not be listed.
const NoRight = "no right to list pods"

// Watch passes on how objects are, and has pods of those that are not healthy add why.
type Watch struct {
	objects dynamic.Interface
	kinds   map[schema.GroupKind]schema.GroupVersionResource
	saw     func(object.Ref, health.Health)

	mu   sync.Mutex
	last map[object.Ref]*asked
}

// asked is an object that is not healthy.
type asked struct {
	health health.Health
	timer  *time.Timer
}

// New returns a watch that asks a cluster, which serves kinds so, and tells saw: of one object after the other, the newest last. Saw must
// not call the watch.
func New(objects dynamic.Interface, kinds map[schema.GroupKind]schema.GroupVersionResource, saw func(object.Ref, health.Health)) *Watch {
	return &Watch{objects: objects, kinds: kinds, saw: saw, last: map[object.Ref]*asked{}}
}

// Saw passes on the health of an object. Pods are asked for until the context ends, or the object is healthy.
func (w *Watch) Saw(ctx context.Context, r object.Ref, h health.Health) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(ctx, r, &h)
	w.saw(r, h)
}

// Begin notes the health of an object that is known already.
func (w *Watch) Begin(ctx context.Context, r object.Ref, h *health.Health) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(ctx, r, h)
}

// begin notes the health of an object, under the lock.
func (w *Watch) begin(ctx context.Context, r object.Ref, h *health.Health) {
	a := w.last[r]
	switch isUnwell := h.State == karmada.ResourceUnhealthy && h.Reason != health.NotFound && h.Reason != health.Suspended; {
	case isUnwell && a != nil:
		a.health = *h
	case isUnwell:
		w.last[r] = &asked{health: *h, timer: time.AfterFunc(firstAfter, func() { w.ask(ctx, r) })}
	case a != nil:
		a.timer.Stop()
		delete(w.last, r)
	}
}

// Stop asks no more.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.last {
		a.timer.Stop()
	}
	w.last = map[object.Ref]*asked{}
}

// ask asks for the pods of an object, and tells what they say.
func (w *Watch) ask(ctx context.Context, r object.Ref) {
	if ctx.Err() != nil {
		return
	}
	words, err := w.list(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.last[r]
	if a == nil || ctx.Err() != nil {
		return
	}
	h := a.health
	a.timer.Reset(thenEvery)
	switch {
	case apierrors.IsForbidden(err):
		h.PodsUnknown = NoRight
	case err != nil || words == nil:
		return // it has no pods, or the next time says more
	}
	h.Pods = words
	w.saw(r, h)
}

// list says what pods of an object say; nil for one that has none.
func (w *Watch) list(ctx context.Context, r object.Ref) ([]health.Pods, error) {
	at, isServed := w.kinds[schema.GroupKind{Group: r.Group, Kind: r.Kind}]
	if !isServed {
		return nil, nil
	}
	u, err := w.objects.Resource(at).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	selector := selectorOf(u)
	if selector == "" {
		return nil, nil
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	found, err := w.objects.Resource(pods).Namespace(r.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: mostPods})
	if err != nil {
		return nil, err
	}
	all := make([]corev1.Pod, 0, len(found.Items))
	for i := range found.Items {
		var p corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Items[i].Object, &p); err == nil {
			all = append(all, p)
		}
	}
	return Words(all), nil
}

// selectorOf selects the pods of a workload; empty for what has none.
func selectorOf(u *unstructured.Unstructured) string {
	content, isThere, err := unstructured.NestedMap(u.Object, "spec", "selector")
	if err != nil || !isThere {
		return ""
	}
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &s); err != nil {
		return ""
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return "" // it would be every pod of the namespace
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return ""
	}
	return selector.String()
}
