package applier

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestWhatIsGoneWakes: an object that was in the way, and one of ours, but none that a round had nothing to do with.
func TestWhatIsGoneWakes(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "shop")
	wanted := map[object.Ref]bool{}
	of := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	for _, name := range []string{"inTheWay", "others", "ours"} {
		s.Put("/api/v1/namespaces/shop/configmaps/"+name, apiserver.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": apiserver.Object{"name": name, "namespace": "shop"}})
		wanted[of(name)] = true
	}
	client, err := clusters.Open("eu", "", "", s.Reach())
	if err == nil {
		_, err = client.Observe(t.Context(), wanted)
	}
	if err != nil {
		t.Fatal(err)
	}
	var res Result
	res.Report.Inventory.Entries = map[object.Ref]inventory.Entry{of("ours"): {}}
	res.Report.Plan.Refused = []apply.Action{{Ref: of("inTheWay")}}
	drifted := make(chan object.Ref)
	defer watch(t.Context(), client, &res, drifted)()
	for _, name := range []string{"others", "inTheWay", "ours"} {
		s.Remove("/api/v1/namespaces/shop/configmaps/" + name)
	}
	for _, want := range []string{"inTheWay", "ours"} {
		select {
		case got := <-drifted:
			if got != of(want) {
				t.Errorf("%s wakes, want %s", got, want)
			}
		case <-time.NewTimer(time.Minute).C:
			t.Fatalf("%s is gone, and nobody is woken", want)
		}
	}
}

// TestAWatchThatCannotGoOnWakes: whoever waits for changes looks again, for none would be seen. One that was ended by a round wakes nobody.
func TestAWatchThatCannotGoOnWakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		happens func(s *apiserver.Server, stop context.CancelFunc)
		wakes   bool
	}{
		"what happened is not kept": {func(s *apiserver.Server, _ context.CancelFunc) { s.Forget(); s.Forget(); s.EndWatches() }, true},
		"watches end, and go on":    {func(s *apiserver.Server, _ context.CancelFunc) { s.EndWatches() }, false},
		"the next round ends it":    {func(_ *apiserver.Server, stop context.CancelFunc) { stop() }, false},
		"something else changes": {func(s *apiserver.Server, _ context.CancelFunc) {
			s.Put("/api/v1/namespaces/shop/configmaps/b", s.Get("/api/v1/namespaces/shop/configmaps/a"))
		}, false},
		"a kind of which nothing is ours": {func(s *apiserver.Server, _ context.CancelFunc) { s.Remove("/api/v1/namespaces/shop/secrets/a") }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := apiserver.InMemory("shop")
			ours, other := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, object.Ref{Kind: "Secret", Namespace: "shop", Name: "a"}
			for _, path := range []string{"/api/v1/namespaces/shop/configmaps/a", "/api/v1/namespaces/shop/secrets/a"} {
				s.Put(path, apiserver.Object{"metadata": apiserver.Object{"name": "a", "namespace": "shop"}})
			}
			client, err := clusters.Open("eu", "", "", s.Direct())
			if err == nil {
				_, err = client.Observe(t.Context(), map[object.Ref]bool{ours: true, other: true})
			}
			if err != nil {
				t.Fatal(err)
			}
			var res Result
			res.Report.Inventory.Entries = map[object.Ref]inventory.Entry{ours: {}}
			drifted := make(chan object.Ref, 10)
			stop := watch(t.Context(), client, &res, drifted)
			synctest.Wait()
			tt.happens(s, stop)
			time.Sleep(time.Minute)
			synctest.Wait()
			if woken := len(drifted) > 0; woken != tt.wakes {
				t.Errorf("%s: it wakes: %t", name, woken)
			}
			stop()
			synctest.Wait()
		})
	}
}

// TestWhatIsSeenBetweenRoundsIsOurs: a round ends with a look at what it applied and at what it has still, and from then on changes of that
// are told; not those of what others have there, and none after a dry run or a round that failed.
func TestWhatIsSeenBetweenRoundsIsOurs(t *testing.T) {
	t.Parallel()
	const below = "/apis/apps/v1/namespaces/shop/deployments/"
	ref := func(name string) object.Ref {
		return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
	}
	deployment := func(name string, ready int) apiserver.Object {
		return apiserver.Object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apiserver.Object{"name": name, "namespace": "shop"}, "spec": apiserver.Object{"replicas": 1},
			"status": apiserver.Object{"replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready, "conditions": []any{apiserver.Object{"type": "Available", "status": map[int]string{0: "False", 1: "True"}[ready]}}},
		}
	}
	for name, tt := range map[string]struct {
		applier Applier
		err     error
		looks   int // how many objects are seen
		told    []string
	}{
		"it looks":         {Applier{Looks: true}, nil, 2, []string{"leaves", "new"}},
		"nobody asked":     {Applier{}, nil, 0, nil},
		"a dry run":        {Applier{Looks: true, DryRun: true}, nil, 0, nil},
		"the round failed": {Applier{Looks: true}, apply.ErrRace, 0, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := apiserver.InMemory("shop")
			for _, name := range []string{"new", "leaves", "others"} {
				s.Put(below+name, deployment(name, 1))
			}
			client, err := clusters.Open("eu", "", "", s.Direct())
			if err == nil {
				_, err = client.Observe(t.Context(), map[object.Ref]bool{ref("new"): true})
			}
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			a := tt.applier
			a.Saw = func(cluster string, r object.Ref, h health.Health) {
				if told = append(told, r.Name); cluster != "eu" || h.Reason != health.InProgress {
					t.Errorf("%s: of %s in %s it is told %+v", name, r, cluster, h)
				}
			}
			res := Result{Cluster: "eu", Err: tt.err, observed: observed{objects: []apply.Object{{Ref: ref("new")}}}}
			res.Report.Inventory.Entries = map[object.Ref]inventory.Entry{ref("new"): {}, ref("leaves"): {}}
			a.look(t.Context(), client, &res)
			if !res.reached || len(res.health) != tt.looks || tt.looks > 0 && len(res.resources) != 1 {
				t.Errorf("%s: it was reached: %t; seen are %v, of %v", name, res.reached, res.health, res.resources)
			}
			ctx, stop := context.WithCancel(t.Context())
			go func() { _ = client.Watch(ctx, nil, nil) }() // it is ended
			synctest.Wait()
			for _, name := range []string{"new", "leaves", "others"} {
				s.Put(below+name, deployment(name, 0))
			}
			synctest.Wait()
			if slices.Sort(told); !slices.Equal(told, tt.told) {
				t.Errorf("%s: told are %q", name, told)
			}
			stop()
			synctest.Wait()
		})
	}
}
