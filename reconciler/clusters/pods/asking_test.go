package pods_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters/pods"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

var deployments = map[schema.GroupKind]schema.GroupVersionResource{
	{Group: "apps", Kind: "Deployment"}: {Group: "apps", Version: "v1", Resource: "deployments"},
}

// unwell is the health of an object that is not healthy.
func unwell(reason string) health.Health {
	return health.Health{State: karmada.ResourceUnhealthy, Reason: reason}
}

// Only an object that selects its pods is asked about, in its own namespace, and of any other nothing more is told.
func TestWhichPodsAreAskedFor(t *testing.T) {
	labels := map[string]any{"app": "web"}
	selecting := func(selector any) map[string]any { return map[string]any{"selector": selector} }
	for _, c := range []struct {
		name   string
		spec   map[string]any
		about  object.Ref
		reason string
		asked  []string
		told   int // times, in a minute
	}{
		{"labels", selecting(map[string]any{"matchLabels": labels}), web, health.InProgress, []string{"get shop", "list shop app=web 50"}, 2},
		{"an expression", selecting(map[string]any{"matchExpressions": []any{
			map[string]any{"key": "app", "operator": "In", "values": []any{"web"}},
		}}), web, health.InProgress, []string{"get shop", "list shop app in (web) 50"}, 2},
		{"no spec", nil, web, health.InProgress, []string{"get shop"}, 1},
		{"no selector", map[string]any{"replicas": int64(1)}, web, health.InProgress, []string{"get shop"}, 1},
		{"a selector of everything", selecting(map[string]any{}), web, health.InProgress, []string{"get shop"}, 1},
		{"a selector that is none", selecting("app=web"), web, health.InProgress, []string{"get shop"}, 1},
		{
			"a selector half of which is none", selecting(map[string]any{"matchLabels": labels, "matchExpressions": "x"}), web, health.InProgress,
			[]string{"get shop"},
			1,
		},
		{"an operator that there is not", selecting(map[string]any{"matchLabels": labels, "matchExpressions": []any{
			map[string]any{"key": "app", "operator": "Near"},
		}}), web, health.InProgress, []string{"get shop"}, 1},
		{
			"a kind that is not served", nil,
			object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "web"},
			health.InProgress,
			nil, 1,
		},
		{
			"an object that is not there", nil,
			object.Ref{Group: "apps", Kind: "Deployment", Namespace: "bank", Name: "web"},
			health.InProgress,
			[]string{"get bank"},
			1,
		},
		{"one that is suspended", selecting(map[string]any{"matchLabels": labels}), web, health.Suspended, nil, 1},
		{"one that is not there, as is known", selecting(map[string]any{"matchLabels": labels}), web, health.NotFound, nil, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := clusterOf(t, c.spec)
			var told []health.Health
			w := pods.New(client, deployments, func(r object.Ref, h health.Health) {
				if r != c.about {
					t.Errorf("%s: it was told of %s", c.name, r)
				}
				told = append(told, h)
			})
			w.Saw(t.Context(), c.about, unwell(c.reason))
			time.Sleep(time.Minute)
			w.Stop()
			synctest.Wait()
			var asked []string
			for _, a := range client.Actions() {
				text := a.GetVerb() + " " + a.GetNamespace()
				if list, ok := a.(clienttesting.ListActionImpl); ok {
					text += fmt.Sprintf(" %s %d", list.ListRestrictions.Labels, list.ListOptions.Limit)
				}
				asked = append(asked, text)
			}
			if !slices.Equal(asked, c.asked) || len(told) != c.told {
				t.Errorf("%s: it was asked %q and told %v", c.name, asked, told)
			}
			if last := told[len(told)-1]; c.told == 2 && fmt.Sprint(last.Pods) != "[{ImagePullBackOff api 1}]" {
				t.Errorf("%s: it was told %+v last", c.name, last)
			}
		})
	}
}

// What is known of an object already is not told again, its pods are asked for half a minute after it began not to be well, and what
// they say is told with the newest that is known.
func TestWhatPodsAreToldWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := pods.New(cluster(t), deployments, func(_ object.Ref, h health.Health) {
			told = append(told, fmt.Sprint(h.Reason, h.Pods))
		})
		after := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if !slices.Equal(told, want) {
				t.Errorf("it was told %q, want %q", told, want)
			}
			told = nil
		}
		first, second, healthy := unwell("First"), unwell("Second"), health.Health{State: karmada.ResourceHealthy}
		w.Begin(t.Context(), web, &healthy)
		after(time.Minute)
		w.Begin(t.Context(), web, &first)
		after(20 * time.Second)
		w.Saw(t.Context(), web, second)
		after(11*time.Second, "Second[]", "Second[{ImagePullBackOff api 1}]")
		w.Begin(t.Context(), web, &healthy)
		after(2 * time.Minute)
		w.Begin(t.Context(), web, &first) // once more
		after(29 * time.Second)
		after(2*time.Second, "First[{ImagePullBackOff api 1}]")
		w.Stop()
		after(5 * time.Minute)
	})
}

// Nothing is asked once nobody waits for it, and an answer that comes after that, or after the object is well, is not told.
func TestAnAnswerThatComesTooLate(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, w *pods.Watch, cancel func()){
		"the context ends": func(_ context.Context, _ *pods.Watch, cancel func()) { cancel() },
		"it stops":         func(_ context.Context, w *pods.Watch, _ func()) { w.Stop() },
		"it is well": func(ctx context.Context, w *pods.Watch, _ func()) {
			w.Begin(ctx, web, &health.Health{State: karmada.ResourceHealthy})
		},
	} {
		for _, isAsked := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				client := cluster(t)
				client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					time.Sleep(20 * time.Second)
					return false, nil, nil
				})
				told := 0
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := pods.New(client, deployments, func(object.Ref, health.Health) { told++ })
				defer w.Stop()
				w.Saw(ctx, web, unwell(health.InProgress))
				if time.Sleep(20 * time.Second); isAsked {
					time.Sleep(20 * time.Second)
				}
				end(ctx, w, cancel)
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				if asked := len(client.Actions()) > 0; told != 1 || asked != isAsked {
					t.Errorf("%s, after it was asked %t: it was told %d times, asked %t", name, isAsked, told, asked)
				}
			})
		}
	}
}

// TestWhatPodsAreToldWithIsOfNow: while pods are not asked for yet, the object is seen again, and that is what their words are told with.
func TestWhatPodsAreToldWithIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan health.Health, 9)
		w := pods.New(cluster(t), deployments, func(_ object.Ref, h health.Health) { told <- h })
		defer w.Stop()
		first, second := unwell(health.InProgress), unwell(health.Failed)
		first.Message, first.Generation = "1 of 3 are there", 1
		second.Message, second.Generation = "too late", 2
		w.Saw(t.Context(), web, first)
		time.Sleep(20 * time.Second)
		w.Saw(t.Context(), web, second)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		want := []health.Health{first, second, second}
		want[2].Pods = []health.Pods{{Reason: "ImagePullBackOff", Container: "api", Count: 1}}
		var got []health.Health
		for range len(told) {
			got = append(got, <-told)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
