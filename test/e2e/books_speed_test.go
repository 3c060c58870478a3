//go:build e2e

package e2e

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// stopwatch notes when addresses were seen first.
type stopwatch struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func (w *stopwatch) note(addresses ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range addresses {
		if _, ok := w.seen[a]; !ok {
			w.seen[a] = time.Now()
		}
	}
}

func (w *stopwatch) at(address string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[address]
}

func (w *stopwatch) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for a := range w.seen {
		all = append(all, a)
	}
	return all
}

// TestBooksSpeed measures how long it takes from a pod that is ready in a cluster until its address is in an EndpointSlice of another one, where
// agents write and read books at the usual interval. Pods come at drawn times, some of them while a change waits.
func TestBooksSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost")
	}
	x := importing(t, "eu-1", "us-1")
	x.agent("eu-1")
	x.agent("us-1")
	x.arrives(15*time.Second, 25*time.Second)
}

// TestEndpointsSpeed measures the same where the controller reaches both clusters.
func TestEndpointsSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures cost")
	}
	importing(t).arrives(3*time.Second, 2*time.Second)
}

// importing has a controller serve a cluster that exports the Service api and one that imports it, some of which are pulled to.
func importing(t *testing.T, pulled ...string) *apart {
	t.Helper()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for _, name := range []string{"eu-1", "us-1"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 1)
	}
	x := newApart(t, p, apis, pulled...)
	x.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {services: {endpoints: apply, minInterval: 10s}}\n")
	x.remove("policy.yaml")
	x.exportsAPI(0, "eu-1")
	x.consumedBy("us-1")
	x.commit()
	x.control()
	return x
}

// arrives has pods come, up to so long apart, and holds that 95 % of them arrive within so long of when they are ready.
func (x *apart) arrives(between, most time.Duration) {
	t := x.t
	t.Helper()
	eventually(t, "eu-1 has the Service", func() (bool, string) {
		status, body := x.apis["eu-1"].do("GET", "/api/v1/namespaces/shop/services/api", "", nil)
		return status == 200, string(body)
	})
	ready, arrived := &stopwatch{seen: map[string]time.Time{}}, &stopwatch{seen: map[string]time.Time{}}
	x.apis["eu-1"].stream(func(line string) {
		if address, is, _ := strings.Cut(line, " "); is == "True" && address != "" {
			ready.note(address)
		}
	}, "get", "pods", "-n", "shop", "-l", "app=api", "-w", "-o", `jsonpath={.status.podIP} {.status.conditions[?(@.type=="Ready")].status}{"\n"}`)
	x.apis["us-1"].stream(func(line string) { arrived.note(strings.Fields(line)...) },
		"get", "endpointslices", "-n", "shop", "-l", "endpointslice.kubernetes.io/managed-by=services.waybill.dev", "-w", "-o",
		`jsonpath={.endpoints[*].addresses[*]}{"\n"}`)
	x.gain("eu-1")
	x.follows("the first pod is there", "us-1", "eu-1")

	const pods = 40
	draw := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // times, and no secrets
	for range pods {
		time.Sleep(time.Duration(draw.Float64() * float64(between)))
		x.gain("eu-1")
	}
	x.follows("all are there", "us-1", "eu-1")
	var took []time.Duration
	for _, address := range ready.all() {
		if arrived.at(address).IsZero() {
			t.Errorf("%s never arrived", address)
		}
		took = append(took, arrived.at(address).Sub(ready.at(address)))
	}
	if len(took) != pods+1 {
		t.Fatalf("%d pods were ready", len(took))
	}
	slices.Sort(took)
	of := func(percent int) time.Duration {
		return took[(len(took)*percent+99)/100-1].Round(10 * time.Millisecond)
	}
	t.Logf("of %d pods it took half at most %s, 95 %% at most %s, and all at most %s", len(took), of(50), of(95), of(100))
	if of(95) > most {
		t.Errorf("want 95 %% within %s", most)
	}
}
