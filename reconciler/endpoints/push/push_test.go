package push_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/endpointslices"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const (
	owner   = "https://git.example/fleet"
	below   = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"
	imports = `{"imports": [{"namespace": "shop", "service": "api", "style": "native", "from": ["eu-1"], "ports": ["http"]}]}`
)

// fleet is API servers of clusters, and what carries endpoints between them, in a bubble of testing/synctest.
type fleet struct {
	*testing.T

	servers    map[string]*apiserver.Server
	registered []*karmada.Cluster
	began      time.Time
	ahead      atomic.Int64 // how far the clock jumped
	logs       logs
	*push.Exchange

	mu     sync.Mutex
	tokens map[string]string // by cluster
}

func newFleet(t *testing.T, names ...string) *fleet {
	t.Helper()
	f := &fleet{T: t, servers: map[string]*apiserver.Server{}, tokens: map[string]string{}, began: time.Now()}
	for _, name := range names {
		f.leads(name, apiserver.InMemory("shop"), "one")
		f.registered = append(f.registered, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{ID: apiserver.UID, SyncMode: karmada.Push}})
	}
	f.begin()
	t.Cleanup(func() { time.Sleep(time.Hour) }) // the context of the test has ended, by which all ends
	return f
}

// leads has the credential of a cluster lead to a server, with a token.
func (f *fleet) leads(name string, s *apiserver.Server, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[name], f.tokens[name] = s, token
}

// opens reaches a cluster as that is done now.
func (f *fleet) opens(_ context.Context, _ []*karmada.Cluster, c *karmada.Cluster) (push.Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	config := f.servers[c.Name].Direct()
	config.BearerToken = f.tokens[c.Name]
	client, err := endpointslices.Open(c.Name, config)
	return push.Server{Client: client, UID: func(ctx context.Context) (string, error) { return clusters.UIDOf(ctx, c.Name, config) }}, err
}

// now is the time by the clock of the fleet.
func (f *fleet) now() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }

// begin begins anew, as a controller that starts.
func (f *fleet) begin() {
	f.Exchange = push.New(f.opens, f.now, rand.Float64, slog.New(slog.NewTextHandler(&f.logs, nil)))
	f.by(exchange.Services{Endpoints: exchange.Apply})
}

func (f *fleet) by(s exchange.Services) { f.Known(f.registered, s, nil) }

// applied says that the branch of a cluster was applied, with a file of services.
func (f *fleet) applied(cluster, file string) {
	a := push.Applied{Cluster: cluster, UID: apiserver.UID, Owner: owner}
	if file != "" {
		a.File = []byte(file)
	}
	f.Applied(f.Context(), a)
}

// has gives a cluster a slice of a service, as its own controller does, with addresses that are ready.
func (f *fleet) has(cluster, service, name string, addresses ...string) {
	var all []any
	for _, a := range addresses {
		all = append(all, apiserver.Object{"addresses": []any{a}, "nodeName": "node-1", "conditions": apiserver.Object{"ready": true}})
	}
	f.servers[cluster].Put(below+name, apiserver.Object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": all,
		"metadata": apiserver.Object{"namespace": "shop", "name": name, "labels": apiserver.Object{
			"kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
		}},
		"ports": []any{apiserver.Object{"name": "http", "port": 8080, "protocol": "TCP"}, apiserver.Object{"name": "admin", "port": 9090, "protocol": "TCP"}},
	})
}

// shown is a slice of a cluster in a line; empty for none.
func (f *fleet) shown(cluster, name string) string {
	o := f.servers[cluster].Get(below + name)
	if o == nil {
		return ""
	}
	var text []string
	ports, _ := o["ports"].([]any)
	for _, p := range ports {
		text = append(text, fmt.Sprint(p.(apiserver.Object)["name"]))
	}
	all, _ := o["endpoints"].([]any)
	for _, e := range all {
		is := e.(apiserver.Object)
		state := ""
		if conditions, _ := is["conditions"].(apiserver.Object); conditions["ready"] == false {
			state = "!"
		}
		text = append(text, fmt.Sprint(is["addresses"].([]any)[0])+state)
		if is["nodeName"] != nil {
			text = append(text, "on a node")
		}
	}
	return strings.Join(text, " ")
}

// soon waits until a cluster has a slice that is shown so.
func (f *fleet) soon(cluster, name, want string, most time.Duration) {
	f.Helper()
	began := time.Now()
	for f.shown(cluster, name) != want {
		if time.Since(began) > most {
			f.Fatalf("after %s %s of %s is %q, want %q", most, name, cluster, f.shown(cluster, name), want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stays holds that a slice is shown so for a while.
func (f *fleet) stays(cluster, name, want string) {
	f.Helper()
	const while = 8 * time.Second
	for began := time.Now(); time.Since(began) < while; time.Sleep(20 * time.Millisecond) {
		if got := f.shown(cluster, name); got != want {
			f.Fatalf("%s of %s is %q after %s, want %q", name, cluster, got, time.Since(began), want)
		}
	}
}

// fail has all requests to a cluster fail, and ends its watches; false ends that.
func (f *fleet) fail(cluster string, fails *atomic.Bool, is bool) {
	fails.Store(is)
	f.servers[cluster].EndWatches()
}

// failing makes a cluster that fails on demand.
func (f *fleet) failing(cluster string) *atomic.Bool {
	fails := &atomic.Bool{}
	f.servers[cluster].Before(func(*http.Request) int {
		if fails.Load() {
			return http.StatusServiceUnavailable
		}
		return 0
	})
	return fails
}

// fast is how long a change may take.
const fast = 5 * time.Second

// TestEndpointsFollow changes what a provider has, and what a consumer imports of it.
func TestEndpointsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.has("eu-1", "api", "api-1", "10.101.0.6", "10.101.0.5")
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5 10.101.0.6", fast)
		f.has("eu-1", "api", "api-2", "10.101.0.7")
		f.soon("us-1", "eu-1-api-2", "http 10.101.0.7", fast)
		f.servers["eu-1"].Remove(below + "api-1")
		f.soon("us-1", "eu-1-api-1", "", fast)
		f.servers["us-1"].Remove(below + "eu-1-api-2") // by hand
		f.soon("us-1", "eu-1-api-2", "http 10.101.0.7", fast)
		for _, field := range []string{"endpoints", "ports"} { // by hand, too
			edited := f.servers["us-1"].Get(below + "eu-1-api-2")
			edited[field] = []any{}
			f.servers["us-1"].Put(below+"eu-1-api-2", edited)
			f.soon("us-1", "eu-1-api-2", "http 10.101.0.7", fast)
		}

		f.has("us-1", "api", "api-1", "10.102.0.5")
		f.applied("us-1", "")
		f.soon("us-1", "eu-1-api-2", "", fast)
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-2", "http 10.101.0.7", fast)
		if got := f.shown("us-1", "api-1"); got != "http admin 10.102.0.5 on a node" {
			t.Errorf("its own slice is %q", got)
		}
		for _, w := range f.servers["eu-1"].Writes() {
			t.Errorf("the provider is written to: %s", w)
		}
	})
}

// TestAProviderThatIsAwayLosesNothing stops a provider's API server, restarts the controller meanwhile, and lets time go by.
func TestAProviderThatIsAwayLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		fails := f.failing("eu-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)

		f.fail("eu-1", fails, true)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		f.by(exchange.Services{Endpoints: exchange.Apply, StaleAfter: metav1.Duration{Duration: time.Hour}})
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		f.ahead.Store(int64(2 * time.Hour))
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5!", 2*fast)
		f.fail("eu-1", fails, false)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", 20*time.Second)
	})
}

// TestAControllerThatStartsLosesNothing starts a controller while a provider is away, or is another cluster than it should be.
func TestAControllerThatStartsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		fails := f.failing("eu-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)

		f.by(exchange.Services{}) // ends the first one
		f.fail("eu-1", fails, true)
		f.begin()
		f.applied("us-1", imports)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")

		f.by(exchange.Services{})
		f.servers["eu-1"].Put("/api/v1/namespaces/kube-system", apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "kube-system", "uid": "another"}})
		f.servers["eu-1"].Remove(below + "api-1")
		f.fail("eu-1", fails, false)
		f.begin()
		f.applied("us-1", imports)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
	})
}

// TestAConsumerThatIsAnotherClusterIsLeftAlone swaps the cluster that a kubeconfig leads to, which no spec.id tells apart.
func TestAConsumerThatIsAnotherClusterIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		for _, c := range f.registered {
			c.Spec.ID = ""
		}
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.by(exchange.Services{})
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		f.servers["us-1"].Put("/api/v1/namespaces/kube-system", apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "kube-system", "uid": "another"}})
		f.by(exchange.Services{Endpoints: exchange.Apply})
		f.applied("us-1", "")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
	})
}

// TestMoreServicesOfOneProvider has a second consumer want another service of a provider that is watched already: until that is
// watched, too, nothing is known of it.
func TestMoreServicesOfOneProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1", "us-2")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.has("eu-1", "web", "web-1", "10.101.0.6")
		web := strings.ReplaceAll(imports, "api", "web")
		f.applied("us-2", web)
		f.soon("us-2", "eu-1-web-1", "http 10.101.0.6", fast)
		f.by(exchange.Services{})
		f.begin()
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.applied("us-2", web)
		f.has("eu-1", "web", "web-1", "10.101.0.7")
		f.soon("us-2", "eu-1-web-1", "http 10.101.0.7", fast)
		if writes := f.servers["us-2"].Writes(); slices.ContainsFunc(writes, func(w string) bool { return strings.HasPrefix(w, http.MethodDelete) }) {
			t.Errorf("something was deleted: %v", writes)
		}
	})
}

const managedBy = "endpointslice.kubernetes.io/managed-by"

// managed are the labels of a slice; who manages it may be nobody.
func managed(by string) apiserver.Object {
	if by == "" {
		return apiserver.Object{}
	}
	return apiserver.Object{managedBy: by}
}

// manager is who manages a slice of a cluster.
func (f *fleet) manager(cluster, name string) any {
	is, _ := f.servers[cluster].Get(below + name)["metadata"].(apiserver.Object)
	labels, _ := is["labels"].(apiserver.Object)
	return labels[managedBy]
}

// TestNamesThatOthersHave lets others have slices of the names that Waybill's would have: Karmada's are taken over, and no other.
func TestNamesThatOthersHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ by, name string }{
			{"endpointslice-dispatch-controller.karmada.io", "eu-1-api-1"},
			{"somebody", apart},
			{"", apart},
		} {
			f := newFleet(t, "eu-1", "us-1")
			us := f.servers["us-1"]
			us.Put(below+"eu-1-api-1", apiserver.Object{
				"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
				"metadata": apiserver.Object{"namespace": "shop", "name": "eu-1-api-1", "labels": managed(c.by)},
			})
			f.has("eu-1", "api", "api-1", "10.101.0.5")
			f.applied("us-1", imports)
			f.soon("us-1", c.name, "http 10.101.0.5", 2*fast)
			want := any(endpoints.ManagedBy)
			if c.name == apart {
				want = managed(c.by)[managedBy]
			}
			if by := f.manager("us-1", "eu-1-api-1"); by != want {
				t.Errorf("the slice of %q is now of %v", c.by, by)
			}
		}
	})
}

// apart is the name of a slice whose plain name somebody else has.
const apart = "eu-1-api-1-7eff0ea3"

// TestALabelThatSomebodyEdits says who manages a slice: with the label of somebody else it is theirs, is left as it is for good, and another
// one has what the provider has; where the label is taken away it is put back.
func TestALabelThatSomebodyEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		edit := func(by string) {
			s := f.servers["us-1"].Get(below + "eu-1-api-1")
			s["metadata"].(apiserver.Object)["labels"] = managed(by)
			f.servers["us-1"].Put(below+"eu-1-api-1", s)
		}
		edit("")
		f.has("eu-1", "api", "api-1", "10.101.0.6")
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.6", fast)
		if by := f.manager("us-1", "eu-1-api-1"); by != endpoints.ManagedBy {
			t.Errorf("without its label it is of %v", by)
		}

		edit("somebody")
		f.soon("us-1", apart, "http 10.101.0.6", fast)
		f.has("eu-1", "api", "api-1", "10.101.0.7")
		f.soon("us-1", apart, "http 10.101.0.7", fast)
		f.applied("us-1", "")
		f.soon("us-1", apart, "", fast)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.6")
		if by := f.manager("us-1", "eu-1-api-1"); by != "somebody" {
			t.Errorf("the slice of somebody else is of %v", by)
		}
		for text, want := range map[string]int{"an EndpointSlice is left alone": 1, `is \"somebody`: 1, "not all brought": 0} {
			if n := f.logs.count(text); n != want {
				t.Errorf("%q is said %d times, want %d:\n%s", text, n, want, f.logs.text.String())
			}
		}
	})
}

// TestNothingIsDeletedUntilAllIsApplied replaces a slice while the consumer takes no new one.
func TestNothingIsDeletedUntilAllIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		var refuses atomic.Bool
		f.servers["us-1"].Before(func(r *http.Request) int {
			if refuses.Load() && r.Method == http.MethodPatch {
				return http.StatusInternalServerError
			}
			return 0
		})
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		refuses.Store(true)
		f.has("eu-1", "api", "api-2", "10.101.0.6")
		f.servers["eu-1"].Remove(below + "api-1")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		refuses.Store(false)
		f.soon("us-1", "eu-1-api-2", "http 10.101.0.6", 20*time.Second)
		f.soon("us-1", "eu-1-api-1", "", fast)
	})
}

// TestWhoTakesNoPart: where endpoints are off, or a person suspended the cluster, what is there stays as it is.
func TestWhoTakesNoPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.by(exchange.Services{Endpoints: exchange.Off})
		f.has("eu-1", "api", "api-1", "10.101.0.6")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		f.by(on)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.6", fast)
		suspended := *f.registered[1]
		suspended.Annotations = map[string]string{suspend.Suspended: "the disks are replaced"}
		f.registered = []*karmada.Cluster{f.registered[0], &suspended}
		f.by(on)
		f.has("eu-1", "api", "api-1", "10.101.0.7")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.6")
	})
}

// TestRanges bounds the addresses of a provider: what is outside is refused, and where the bound cannot be read all stays.
func TestRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		bounded := func(by string) {
			eu := *f.registered[0]
			eu.Annotations = map[string]string{karmada.RangesAnnotation: by}
			f.registered = []*karmada.Cluster{&eu, f.registered[1]}
			f.by(exchange.Services{Endpoints: exchange.Apply})
		}
		bounded("10.101.0.0/16")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.has("eu-1", "api", "api-1", "10.102.0.5")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		bounded("10.101")
		f.servers["eu-1"].Remove(below + "api-1")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		bounded("")
		f.soon("us-1", "eu-1-api-1", "", fast)
	})
}
