package survey

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// stream keeps a store as a resource of a cluster is.
type stream struct {
	reflector *cache.Reflector
	// ended is told how listing and watching ended, once it is known whether it is refused.
	ended func(error)
}

// streams are those of what a watcher counts, and of what says that kinds come and go.
func (w *watcher) streams(plain *rest.Config) ([]stream, error) {
	config := rest.CopyConfig(plain)
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	core, err := typed.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(plain)
	if err != nil {
		return nil, err
	}
	all := []stream{
		newStream(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return core.Nodes().List(ctx, o)
			},
			WatchFuncWithContext: core.Nodes().Watch,
		}, core, &corev1.Node{}, kept{w.usage, nodes}, func(err error) { w.usage.ended(nodes, err) }),
		newStream(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return core.Pods(metav1.NamespaceAll).List(ctx, o)
			},
			WatchFuncWithContext: core.Pods(metav1.NamespaceAll).Watch,
		}, core, &corev1.Pod{}, kept{w.usage, pods}, func(err error) { w.usage.ended(pods, err) }),
	}
	for _, r := range []schema.GroupVersionResource{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
	} {
		all = append(all, newStream(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return meta.Resource(r).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return meta.Resource(r).Watch(ctx, o)
			},
		}, meta, &metav1.PartialObjectMetadata{}, bell(w.changed), func(error) {}))
	}
	return all, nil
}

func newStream(lw *cache.ListWatch, client, of any, into cache.ReflectorStore, ended func(error)) stream {
	return stream{cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, client), of, into, cache.ReflectorOptions{
		Name: "survey", Logger: &klog.Logger{}, // what goes wrong is seen here
	}), ended}
}

func isRefused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// run lists and watches until ctx ends. Where that is refused it is tried once a minute.
func (s *stream) run(ctx context.Context) {
	const seldom = time.Minute
	patience := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 6, Cap: seldom}
	pauses := patience
	for ctx.Err() == nil {
		err := s.reflector.ListAndWatchWithContext(ctx)
		pause := pauses.Step()
		if isRefused(err) {
			pause = seldom
		}
		if err == nil || isRefused(err) {
			pauses = patience
			s.ended(err)
		}
		select {
		case <-ctx.Done():
		case <-time.NewTimer(pause).C:
		}
	}
}

// bell is a store that keeps nothing and rings when something changes.
type bell chan struct{}

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// Add implements cache.ReflectorStore.
func (b bell) Add(any) error { b.ring(); return nil }

// Update implements cache.ReflectorStore.
func (b bell) Update(any) error { b.ring(); return nil }

// Delete implements cache.ReflectorStore.
func (b bell) Delete(any) error { b.ring(); return nil }

// Replace implements cache.ReflectorStore.
func (b bell) Replace([]any, string) error { b.ring(); return nil }

// Resync implements cache.ReflectorStore.
func (bell) Resync() error { return nil }
