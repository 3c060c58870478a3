package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// of is an object of a kind of apps, in a namespace.
func of(namespace, name string) object.Ref {
	return object.Ref{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name}
}

// TestWhatASharedServerIsAskedFor: the namespaces of what is wanted, where others are on it, too, unless these are many; else all at once.
// What is found is the same.
func TestWhatASharedServerIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shared     bool
		namespaces int
		lists      int32 // of Deployments
	}{
		"it is the cluster's alone":  {false, 2, 1},
		"it is shared":               {true, 2, 2},
		"it is shared, by sixteen":   {true, 16, 16},
		"it is shared, by seventeen": {true, 17, 1},
	} {
		s := apiserver.InMemory()
		var lists atomic.Int32
		s.Before(func(r *http.Request) int {
			if strings.HasSuffix(r.URL.Path, "/deployments") {
				lists.Add(1)
			}
			return 0
		})
		wanted := map[object.Ref]bool{{Kind: "Namespace", Name: "kube-system"}: true}
		for n := range tt.namespaces {
			r := of(fmt.Sprint("n", n), "web")
			wanted[r] = true
			o := deployment("web", n%2)
			o["metadata"].(apiserver.Object)["namespace"] = r.Namespace
			s.Put("/apis/apps/v1/namespaces/"+r.Namespace+"/deployments/web", o)
		}
		other := deployment("other", 1)
		s.Put(deployments+"other", other)
		c := calling(t, s)
		c.Shared = tt.shared
		facts, err := c.Observe(t.Context(), wanted)
		if err != nil || len(facts.Live) != len(wanted) || lists.Load() != tt.lists {
			t.Errorf("%s: by %d lists %d of %d are found: %v", name, lists.Load(), len(facts.Live), len(wanted), err)
		}
		lists.Store(0)
		refs := []object.Ref{{Kind: "ConfigMap", Namespace: "n0", Name: "it has no health"}, of("n0", "none")}
		for r := range wanted {
			refs = append(refs, r)
		}
		all, err := c.Health(t.Context(), refs)
		if err != nil || len(all) != len(wanted)+1 || lists.Load() != tt.lists {
			t.Errorf("%s: by %d lists there is said of %d: %v", name, lists.Load(), len(all), err)
		}
		for r, h := range all {
			want := karmada.ResourceHealthy
			if r.Name == "none" || r.Namespace != "" && r.Namespace[len(r.Namespace)-1]%2 == 0 { // n0, n2 and so on
				want = karmada.ResourceUnhealthy
			}
			if h.State != want {
				t.Errorf("%s: %s is %s (%s)", name, r, h.State, h.Message)
			}
		}
	}
}

// TestHealthOfWhatCannotBeAskedFor is not said; that of a kind that is not served is that nothing is there.
func TestHealthOfWhatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory()
	c := calling(t, s)
	widget := object.Ref{Group: "example.org", Kind: "Widget", Namespace: "shop", Name: "w"}
	kind := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	if got := c.Resource(kind); got != "" {
		t.Errorf("before anything is known, it is called %q", got)
	}
	if all, err := c.Health(t.Context(), []object.Ref{widget}); err != nil || all[widget].Reason != health.NotFound {
		t.Errorf("of a kind that is not served it is said %v, %v", all, err)
	}
	if got, other := c.Resource(kind), c.Resource(schema.GroupKind{Group: widget.Group, Kind: widget.Kind}); got != "deployments" || other != "" {
		t.Errorf("kinds are called %q and %q", got, other)
	}
	s.Before(func(*http.Request) int { return http.StatusForbidden })
	c = calling(t, s)
	if all, err := c.Health(t.Context(), []object.Ref{widget}); err == nil {
		t.Errorf("where nothing may be asked for it is said %v", all)
	}
	if id, err := clusters.Identify(t.Context(), "eu", s.Direct()); err == nil {
		t.Errorf("where nothing may be asked for, it is %v", id)
	}
	s.Before(func(r *http.Request) int { return map[bool]int{true: http.StatusForbidden}[r.URL.Path == "/version"] })
	if id, err := clusters.Identify(t.Context(), "eu", s.Direct()); err == nil {
		t.Errorf("where its version may not be asked for, it is %v", id)
	}
	s.Before(nil)
	if id, err := clusters.Identify(t.Context(), "eu", s.Direct()); err != nil || id != (clusters.Identity{ID: apiserver.UID, Version: "v1.35.0"}) {
		t.Errorf("it is %v, %v", id, err)
	}
}

// TestWaitingForHealth: it ends when all is healthy, or one has failed, or the time is over, and then it is said what is not; whoever does
// not wait any more, or may not ask, is told that.
func TestWaitingForHealth(t *testing.T) {
	t.Parallel()
	web, api := of("shop", "web"), of("shop", "api")
	failed := func() apiserver.Object {
		o := deployment("web", 0)
		o["status"].(apiserver.Object)["conditions"] = []any{apiserver.Object{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}}
		return o
	}
	for name, tt := range map[string]struct {
		then  func(s *apiserver.Server, cancel func()) // after ten seconds
		left  string
		fails bool
		took  time.Duration
	}{
		"nothing happens": {func(*apiserver.Server, func()) {}, "api web", false, time.Minute},
		"one is healthy":  {func(s *apiserver.Server, _ func()) { s.Put(deployments+"web", deployment("web", 1)) }, "api", false, time.Minute},
		"both are": {func(s *apiserver.Server, _ func()) {
			s.Put(deployments+"web", deployment("web", 1))
			s.Put(deployments+"api", deployment("api", 1))
		}, "", false, 11 * time.Second},
		"one has failed": {func(s *apiserver.Server, _ func()) { s.Put(deployments+"web", failed()) }, "api web", false, 11 * time.Second},
		"nobody waits":   {func(_ *apiserver.Server, cancel func()) { cancel() }, "api web", true, 10 * time.Second},
		"it may not be asked for": {func(s *apiserver.Server, _ func()) {
			s.Before(func(*http.Request) int { return http.StatusForbidden })
		}, "", true, 11 * time.Second},
		"it does not answer": {func(s *apiserver.Server, _ func()) {
			s.Before(func(r *http.Request) int { <-r.Context().Done(); return http.StatusGatewayTimeout })
		}, "api web", false, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := apiserver.InMemory("shop")
				s.Put(deployments+"web", deployment("web", 0))
				s.Put(deployments+"api", deployment("api", 0))
				began := time.Now()
				time.AfterFunc(10*time.Second+time.Millisecond, func() { tt.then(s, cancel) })
				left, err := calling(t, s).Wait(ctx, []object.Ref{web, api}, time.Minute)
				names := []string{}
				for _, u := range left {
					names = append(names, u.Object.Name)
				}
				if got := strings.Join(names, " "); got != tt.left || (err != nil) != tt.fails {
					t.Errorf("it comes to %q, %v", got, err)
				}
				if took := time.Since(began).Truncate(time.Second); took != tt.took {
					t.Errorf("it takes %s", took)
				}
			})
		})
	}
}

// TestWhatNeverAnsweredIsNotHealthy, however little time there is to wait.
func TestWhatNeverAnsweredIsNotHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("shop")
		s.Put(deployments+"web", deployment("web", 1))
		c := looked(t, s)
		s.Before(func(r *http.Request) int { <-r.Context().Done(); return apiserver.Lost })
		refs := []object.Ref{of("shop", "web"), {Kind: "ConfigMap", Namespace: "shop", Name: "it has no health"}}
		left, err := c.Wait(t.Context(), refs, time.Minute)
		want := []clusters.Unready{{Object: of("shop", "web"), Status: health.Unknown, Message: "the API server did not answer in time"}}
		if err != nil || !slices.Equal(left, want) {
			t.Errorf("it comes to %v, %v", left, err)
		}
	})
}

// TestWhatASyncWaitsFor is that a Job, a Workflow, or a Pod that is to end, has ended well; that all else is healthy.
func TestWhatASyncWaitsFor(t *testing.T) {
	t.Parallel()
	pod := func(policy string) func(string) apiserver.Object {
		return func(phase string) apiserver.Object {
			conditions := []any{}
			if phase == "Running" {
				conditions = []any{apiserver.Object{"type": "Ready", "status": "True"}}
			}
			return apiserver.Object{
				"apiVersion": "v1", "kind": "Pod", "metadata": apiserver.Object{"name": "x", "namespace": "shop"},
				"spec": apiserver.Object{"restartPolicy": policy}, "status": apiserver.Object{"phase": phase, "conditions": conditions},
			}
		}
	}
	workflow := func(phase string) apiserver.Object {
		return apiserver.Object{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": apiserver.Object{"name": "x", "namespace": "shop"}, "status": apiserver.Object{"phase": phase}}
	}
	rollout := func(phase string) apiserver.Object {
		return deployment("x", map[string]int{"Running": 1}[phase])
	}
	for name, tt := range map[string]struct {
		at     string
		kind   schema.GroupKind
		is     func(phase string) apiserver.Object
		done   string // phases in which it is; of Running, Succeeded, Failed and Error
		failed string // and in which it has failed; in the others it is waited for
	}{
		"a Pod that ends":   {"/api/v1/namespaces/shop/pods/x", schema.GroupKind{Kind: "Pod"}, pod("Never"), "Succeeded", "Failed Error"},
		"a Pod that may":    {"/api/v1/namespaces/shop/pods/x", schema.GroupKind{Kind: "Pod"}, pod("OnFailure"), "Succeeded", "Failed Error"},
		"a Pod that serves": {"/api/v1/namespaces/shop/pods/x", schema.GroupKind{Kind: "Pod"}, pod("Always"), "Running Succeeded", ""},
		"a Workflow":        {"/apis/argoproj.io/v1alpha1/namespaces/shop/workflows/x", schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}, workflow, "Succeeded", "Failed Error"},
		"a Deployment":      {deployments + "x", schema.GroupKind{Group: "apps", Kind: "Deployment"}, rollout, "Running", ""},
	} {
		var done, failed []string
		for _, phase := range []string{"Running", "Succeeded", "Failed", "Error"} {
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("shop")
				s.Put(tt.at, tt.is(phase))
				c := looked(t, s)
				left, err := c.Await(t.Context(), []object.Ref{{Group: tt.kind.Group, Kind: tt.kind.Kind, Namespace: "shop", Name: "x"}}, time.Minute)
				switch {
				case err != nil:
					t.Errorf("%s in the phase %s: %v", name, phase, err)
				case len(left) == 0:
					done = append(done, phase)
				case left[0].Failed:
					failed = append(failed, phase)
				}
			})
		}
		if strings.Join(done, " ") != tt.done || strings.Join(failed, " ") != tt.failed {
			t.Errorf("%s: it is done in the phases %q, and has failed in %q", name, done, failed)
		}
	}
}

// TestWhatIsWaitedForIsAskedEverLessOften, and no more when it is done; that it may not be asked for, or that nobody waits, is an error.
func TestWhatIsWaitedForIsAskedEverLessOften(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refuses int
		ends    time.Duration // when who waits goes away; zero: never
		is      error
		fails   bool
		least   int // requests for what is not done
		most    int
	}{
		"it is never done":           {least: 100, most: 140},
		"it may not be asked for":    {refuses: http.StatusForbidden, fails: true, least: 1, most: 1},
		"who waits for it goes away": {ends: time.Minute, fails: true, is: context.Canceled, least: 10, most: 25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := apiserver.InMemory("shop")
				s.Put(deployments+"web", deployment("web", 0))
				s.Put(deployments+"api", deployment("api", 1))
				c := looked(t, s)
				var mu sync.Mutex
				var asked []string
				s.Before(func(r *http.Request) int {
					if name, isOne := strings.CutPrefix(r.URL.Path, deployments); isOne {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, name)
						return tt.refuses
					}
					return 0
				})
				if tt.ends > 0 {
					time.AfterFunc(tt.ends, cancel)
				}
				left, err := c.Await(ctx, []object.Ref{of("shop", "web"), ref}, 10*time.Minute)
				if (err != nil) != tt.fails || tt.is != nil && !errors.Is(err, tt.is) || len(left) != 1 {
					t.Errorf("it comes to %v, %v", left, err)
				}
				if len(asked) < tt.least || len(asked) > tt.most {
					t.Errorf("it is asked for %d times", len(asked))
				}
				asked = nil
				if tt.fails {
					return
				}
				if _, err := c.Await(ctx, []object.Ref{of("shop", "web"), of("shop", "api")}, time.Minute); err != nil {
					t.Fatal(err)
				}
				done := slices.DeleteFunc(slices.Clone(asked), func(n string) bool { return n != "api" })
				if len(done) != 1 || len(asked) < 10 {
					t.Errorf("what is done is asked for %d times of %d", len(done), len(asked))
				}
			})
		})
	}
}
