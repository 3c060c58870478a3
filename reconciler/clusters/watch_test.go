package clusters_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const (
	deployments = "/apis/apps/v1/namespaces/shop/deployments/"
	things      = "/apis/example.com/v1/namespaces/shop/things/"
)

// calling returns a client that calls a server in memory, or reaches another one.
func calling(t *testing.T, s *apiserver.Server) *clusters.Client {
	t.Helper()
	config := s.Direct()
	if s.Server != nil {
		config = s.Reach()
	}
	c, err := clusters.Open("eu", "", "", config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// deployment is one of one replica, of which so many are ready.
func deployment(name string, ready int) apiserver.Object {
	available := map[bool]string{true: "True", false: "False"}[ready > 0]
	return apiserver.Object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apiserver.Object{"name": name, "namespace": "shop", "generation": 1},
		"spec": apiserver.Object{"replicas": 1, "selector": apiserver.Object{"matchLabels": apiserver.Object{"app": name}}},
		"status": apiserver.Object{
			"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready,
			"conditions": []any{apiserver.Object{"type": "Available", "status": available}, apiserver.Object{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}},
		},
	}
}

// thing is an object of a kind of which nobody has a rule, made now.
func thing(name string, status apiserver.Object) apiserver.Object {
	o := apiserver.Object{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": apiserver.Object{"name": name, "namespace": "shop", "creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
	}
	if status != nil {
		o["status"] = status
	}
	return o
}

// watched is what a client tells of health while it watches.
type watched struct {
	client *clusters.Client
	end    func() // the watch

	mu   sync.Mutex
	told []string
}

// has reports that something was told since the last time.
func (w *watched) has(said string) bool {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.told, said)
}

// next is what was told since the last time.
func (w *watched) next() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	said := strings.Join(w.told, " ")
	w.told = nil
	return said
}

// watching has a client look at the health of objects, and watch it.
func watching(t *testing.T, s *apiserver.Server, refs ...object.Ref) *watched {
	t.Helper()
	w := &watched{client: calling(t, s)}
	if _, err := w.client.Health(t.Context(), refs); err != nil {
		t.Fatal(err)
	}
	w.client.Saw = func(r object.Ref, h health.Health) {
		said := r.Name + ":" + h.Reason
		if len(h.Pods) > 0 {
			said += fmt.Sprint(h.Pods)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.client.Watch(ctx, nil, nil) // it is ended
	}()
	w.end = func() {
		cancel()
		<-ended
	}
	synctest.Wait()
	return w
}

// TestHealthIsToldWhenItChanges: while a client watches, and not before or after. Of what is not healthy for a while, its pods say why.
func TestHealthIsToldWhenItChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("shop")
		s.Put(deployments+"web", deployment("web", 1))
		s.Put(deployments+"api", deployment("api", 0))
		s.Put("/api/v1/namespaces/shop/pods/api-1", apiserver.Object{
			"apiVersion": "v1", "kind": "Pod", "metadata": apiserver.Object{"name": "api-1", "namespace": "shop", "labels": apiserver.Object{"app": "api"}},
			"status": apiserver.Object{"containerStatuses": []any{apiserver.Object{"name": "c", "state": apiserver.Object{"waiting": apiserver.Object{"reason": "ImagePullBackOff"}}}}},
		})
		w := watching(t, s, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"})
		for _, tt := range []struct {
			name   string
			change func()
			want   string
		}{
			{"nothing changes", func() {}, ""},
			{"one is not ready any more", func() { s.Put(deployments+"web", deployment("web", 0)) }, "web:InProgress"},
			{"and is ready", func() { s.Put(deployments+"web", deployment("web", 1)) }, "web:"},
			{"and is gone", func() { s.Remove(deployments + "web") }, "web:NotFound"},
			{"time passes, and one has not been ready from the beginning", func() { time.Sleep(31 * time.Second) }, "api:InProgress[{ImagePullBackOff c 1}]"},
			{"a minute later it is no other way", func() { time.Sleep(time.Minute) }, "api:InProgress[{ImagePullBackOff c 1}]"},
			{"it is ready", func() { s.Put(deployments+"api", deployment("api", 1)) }, "api:"},
			{"and stays so", func() { time.Sleep(time.Hour) }, ""},
			{"it is not ready", func() { s.Put(deployments+"api", deployment("api", 0)) }, "api:InProgress"},
		} {
			tt.change()
			if told := w.next(); told != tt.want {
				t.Errorf("%s: it tells %q, want %q", tt.name, told, tt.want)
			}
		}
		before := fmt.Sprintf("%p", w.client.Saw)
		w.end()
		s.Put(deployments+"web", deployment("web", 1))
		time.Sleep(time.Hour)
		if told := w.next(); told != "" {
			t.Errorf("when it watches no more, it tells %q", told)
		}
		if after := fmt.Sprintf("%p", w.client.Saw); after == before {
			t.Error("whoever is told when it watches again is told by the watch before")
		}
	})
}

// TestHealthThatTimeChanges: an object without a status is not ready at first, for longer where others of its kind have one, and then is
// if nothing says otherwise. It is told when that is so, and not if it is gone, or has a status, or nobody watches by then.
func TestHealthThatTimeChanges(t *testing.T) {
	t.Parallel()
	const path = things + "b"
	type step func(*apiserver.Server, *watched)
	hasPeer := func(s *apiserver.Server, _ *watched) {
		s.Put(things+"a", thing("a", apiserver.Object{"phase": "Ready"}))
	}
	comes := func(s *apiserver.Server, _ *watched) { s.Put(path, thing("b", nil)) }
	for name, tt := range map[string]struct {
		before    []step        // the watch
		begin     []step        // as soon as there is one
		meanwhile step          // after five seconds; nil: nothing
		after     time.Duration // when it is told
		want      string        // all that is told
	}{
		"it was there":                     {before: []step{comes}, after: 10 * time.Second, want: "b:"},
		"it was there, and has peers":      {before: []step{hasPeer, comes}, after: time.Minute, want: "b:"},
		"it comes":                         {begin: []step{comes}, after: 10 * time.Second, want: "b:InProgress b:"},
		"it comes, and has peers":          {before: []step{hasPeer}, begin: []step{comes}, after: time.Minute, want: "b:InProgress b:"},
		"it comes after the first of them": {begin: []step{hasPeer, comes}, after: time.Minute, want: "a: b:InProgress b:"},
		"it is gone before":                {before: []step{comes}, meanwhile: func(s *apiserver.Server, _ *watched) { s.Remove(path) }, want: "b:NotFound"},
		"it may not be read": {before: []step{comes}, meanwhile: func(s *apiserver.Server, _ *watched) {
			s.Before(func(*http.Request) int { return http.StatusInternalServerError })
		}},
		"nobody watches": {before: []step{comes}, meanwhile: func(_ *apiserver.Server, w *watched) { w.end() }},
		"it has a status before": {before: []step{comes}, meanwhile: func(s *apiserver.Server, _ *watched) {
			s.Put(path, thing("b", apiserver.Object{"conditions": []any{apiserver.Object{"type": "Ready", "status": "False"}}}))
		}, want: "b:InProgress"},
		"it is made anew, and is new again": {before: []step{comes}, meanwhile: func(s *apiserver.Server, _ *watched) { s.Put(path, thing("b", nil)) }, after: 15 * time.Second, want: "b:InProgress b:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("shop")
				for _, do := range tt.before {
					do(s, nil)
				}
				began := time.Now()
				w := watching(t, s, object.Ref{Group: "example.com", Kind: "Thing", Namespace: "shop", Name: "b"})
				for _, do := range tt.begin {
					do(s, w)
				}
				const five = 5 * time.Second
				time.Sleep(five)
				if tt.meanwhile != nil {
					tt.meanwhile(s, w)
				}
				for time.Since(began) < 2*time.Minute {
					if w.has("b:") != (tt.after > 0 && time.Since(began) >= tt.after) {
						t.Fatalf("after %s there is told %q", time.Since(began), w.next())
					}
					time.Sleep(time.Second)
				}
				if told := w.next(); told != tt.want {
					t.Errorf("it tells %q, want %q", told, tt.want)
				}
				w.end()
			})
		})
	}
}

// following has a client watch metadata, and returns what it is told of, one name a change, and how it ends.
func following(ctx context.Context, t *testing.T, s *apiserver.Server, kinds ...schema.GroupKind) (told *[]string, ended chan error) {
	t.Helper()
	c := calling(t, s)
	if _, err := c.Observe(ctx, map[object.Ref]bool{ref: true, {Kind: "Secret", Namespace: "shop", Name: "s"}: true}); err != nil {
		t.Fatal(err)
	}
	told, ended = &[]string{}, make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, kinds, func(r object.Ref, live *metav1.PartialObjectMetadata) {
			*told = append(*told, map[bool]string{true: "", false: "-"}[live != nil]+r.Kind+"/"+r.Name)
		})
	}()
	synctest.Wait()
	return told, ended
}

// TestAWatchThatEndsGoesOn where it was: nothing that happens between is lost, and nothing is told twice. Only kinds that are asked for
// are watched.
func TestAWatchThatEndsGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := apiserver.InMemory("shop")
		told, ended := following(ctx, t, s, schema.GroupKind{Kind: "ConfigMap"})
		want := []string{}
		for n := range 50 {
			name := fmt.Sprint("c", n)
			if n%2 == 0 {
				s.EndWatches()
				synctest.Wait()
			}
			o := configMap("kubectl", owner)
			o["metadata"].(apiserver.Object)["name"] = name
			s.Put(maps+name, o)
			s.Put(strings.Replace(maps, "configmaps", "secrets", 1)+name, o)
			want = append(want, "ConfigMap/"+name)
			time.Sleep(2 * time.Second) // whoever was answered asks again at once, however often that was
			synctest.Wait()
			if !slices.Equal(*told, want) {
				t.Fatalf("it tells of %v, want %v", *told, want)
			}
		}
		s.Remove(maps + "c1")
		synctest.Wait()
		if last := (*told)[len(*told)-1]; last != "-ConfigMap/c1" {
			t.Errorf("of one that is deleted it tells %s", last)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("it ends without an error")
		}
	})
}

// TestAWatchThatIsRefusedIsTriedAgain, ever more seldom; it ends only where what happened since is not kept any more, or where there was
// one and the server does not answer.
func TestAWatchThatIsRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, then int
		ends        bool
	}{
		"it is refused":                     {http.StatusForbidden, http.StatusForbidden, false},
		"the server has errors":             {http.StatusInternalServerError, http.StatusInternalServerError, false},
		"connections end without an answer": {apiserver.Lost, apiserver.Lost, true},
		"it is refused after there was one": {0, http.StatusForbidden, false},
		"the server is gone":                {0, apiserver.Lost, true},
		"what happened is not kept":         {0, http.StatusGone, true},
		"it was never kept":                 {http.StatusGone, http.StatusGone, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := apiserver.InMemory("shop")
				var asked atomic.Int32
				s.Before(func(r *http.Request) int {
					if r.URL.Query().Get("watch") == "" {
						return 0
					}
					return map[bool]int{true: tt.first, false: tt.then}[asked.Add(1) == 1]
				})
				_, ended := following(ctx, t, s, schema.GroupKind{Kind: "ConfigMap"})
				s.EndWatches()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				select {
				case err := <-ended:
					if !tt.ends || err == nil {
						t.Errorf("it ends with %v", err)
					}
					return
				default:
				}
				if tt.ends {
					t.Errorf("it does not end")
				}
				if n := asked.Load(); n < 15 || n > 40 { // once in half a minute, or a bit later
					t.Errorf("%s: it is asked for %d times in ten minutes", name, n)
				}
				s.Before(nil)
				time.Sleep(time.Minute)
				cancel()
				<-ended //nolint:errcheck // whatever it says, it has ended
			})
		})
	}
}
