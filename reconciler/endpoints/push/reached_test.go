package push_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// logs is what was logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// count counts the lines with a text.
func (l *logs) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// named has a server be the cluster whose Namespace kube-system has a UID.
func named(s *apiserver.Server, uid string) *apiserver.Server {
	s.Put("/api/v1/namespaces/kube-system", apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "kube-system", "uid": uid}})
	return s
}

// changed replaces a registered cluster.
func (f *fleet) changed(at int, change func(*karmada.Cluster), by exchange.Services) {
	c := *f.registered[at]
	change(&c)
	all := append([]*karmada.Cluster{}, f.registered...)
	all[at] = &c
	f.registered = all
	f.by(by)
}

var on = exchange.Services{Endpoints: exchange.Apply}

// TestChangesThatNeverEnd has a provider whose endpoints change all the time.
func TestChangesThatNeverEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		ctx, stop := context.WithCancel(t.Context())
		var changing sync.WaitGroup
		changing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				f.has("eu-1", "api", "api-2", fmt.Sprintf("10.101.%d.%d", n/250, n%250+1))
				time.Sleep(10 * time.Millisecond)
			}
		})
		defer changing.Wait()
		defer stop()
		f.has("eu-1", "api", "api-1", "10.101.255.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.255.5", fast)
	})
}

// TestAConsumerThatIsMadeAnew has the kubeconfig of a consumer lead to another cluster, to which its branch was applied.
func TestAConsumerThatIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.changed(1, func(c *karmada.Cluster) { c.Spec.ID = "" }, on)
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		old := f.servers["us-1"]
		f.leads("us-1", named(apiserver.InMemory("shop"), "another"), "one")
		f.Applied(t.Context(), push.Applied{Cluster: "us-1", UID: "another", Owner: owner, File: []byte(imports)})
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		before := len(old.Writes())
		f.has("eu-1", "api", "api-1", "10.101.0.6")
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.6", fast)
		if now := old.Writes(); len(now) != before {
			t.Errorf("the cluster that it was is written to: %v", now[before:])
		}
	})
}

// TestAProviderThatIsMadeAnew has the kubeconfig of a provider lead to another cluster: what that has counts once spec.id says so.
func TestAProviderThatIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.changed(0, func(c *karmada.Cluster) { c.Spec.ID = "" }, on)
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.leads("eu-1", named(apiserver.InMemory("shop"), "another"), "one")
		f.has("eu-1", "api", "api-2", "10.101.0.6")
		f.by(on)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		f.by(exchange.Services{}) // the controller starts anew
		f.begin()
		f.applied("us-1", imports)
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		if f.logs.count("this is not the cluster that it was") == 0 {
			t.Error("nobody says why")
		}
		f.changed(0, func(c *karmada.Cluster) { c.Spec.ID = "another" }, on)
		f.soon("us-1", "eu-1-api-2", "http 10.101.0.6", 3*fast)
		f.soon("us-1", "eu-1-api-1", "", fast)
	})
}

// watches counts the watches of a cluster that are open.
func (f *fleet) watches(cluster string) *atomic.Int64 {
	n := &atomic.Int64{}
	f.servers[cluster].Before(func(r *http.Request) int {
		if r.URL.Query().Get("watch") != "" {
			n.Add(1)
			context.AfterFunc(r.Context(), func() { n.Add(-1) })
		}
		return 0
	})
	return n
}

// ends waits until nobody watches a cluster.
func (f *fleet) ends(watches *atomic.Int64) {
	f.Helper()
	for began := time.Now(); watches.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > fast {
			f.Fatalf("it is watched %d times", watches.Load())
		}
	}
}

// TestAProviderThatNobodyImportsFrom is watched no more.
func TestAProviderThatNobodyImportsFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		watches := f.watches("eu-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.applied("us-1", "")
		f.soon("us-1", "eu-1-api-1", "", fast)
		f.ends(watches)
	})
}

// TestAnImportThatGoesAtOnce has imports go as soon as their slices are there, of which the watch may not have told yet: they go, too.
func TestAnImportThatGoesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		for range 100 {
			f.applied("us-1", imports)
			f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
			f.applied("us-1", "")
			f.soon("us-1", "eu-1-api-1", "", fast)
		}
	})
}

// TestAProviderThatShouldBeAnother has spec.id of a provider say that it is another cluster than the one that is reached: whoever begins
// to import gets nothing of that one.
func TestAProviderThatShouldBeAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1", "us-2")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.changed(0, func(c *karmada.Cluster) { c.Spec.ID = "another" }, on)
		f.applied("us-2", imports)
		f.stays("us-2", "eu-1-api-1", "")
		if got := f.shown("us-1", "eu-1-api-1"); got != "http 10.101.0.5" {
			t.Errorf("what was there is %q", got)
		}
	})
}

// TestAProviderThatIsPulledTo takes no part any more: nobody watches it, and what is there of it stays, ready as it was.
func TestAProviderThatIsPulledTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		watches := f.watches("eu-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		stale := exchange.Services{Endpoints: exchange.Apply, StaleAfter: metav1.Duration{Duration: time.Hour}}
		f.changed(0, func(c *karmada.Cluster) { c.Spec.SyncMode = karmada.Pull }, stale)
		f.ends(watches)
		f.ahead.Store(int64(2 * time.Hour))
		f.has("eu-1", "api", "api-1", "10.101.0.6")
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
	})
}

// TestAWatchThatIsRefused may list slices, and not watch them: it is asked more and more seldom.
func TestAWatchThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		began := f.now()
		var lists atomic.Int64
		f.servers["eu-1"].Before(func(r *http.Request) int {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/endpointslices"):
			case r.URL.Query().Get("watch") != "":
				return http.StatusForbidden
			default:
				lists.Add(1)
			}
			return 0
		})
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		time.Sleep(5 * time.Second)
		n, most, took := lists.Load(), int64(1), f.now().Sub(began) // by a clock that goes on while a busy machine does not
		for wait := 500 * time.Millisecond; took >= wait; wait *= 2 {
			took -= wait
			most++
		}
		if n > most {
			t.Errorf("it is listed %d times, want at most %d: after half a second at least, and twice as long each time", n, most)
		}
		if n := f.logs.count("endpoints of a cluster stay as they are"); n != 1 {
			t.Errorf("that is said %d times", n)
		}
	})
}

// refuses has a cluster fail whenever a slice is applied to it.
func (f *fleet) refuses(cluster, slice string) {
	f.servers[cluster].Before(func(r *http.Request) int {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/"+slice) {
			return http.StatusInternalServerError
		}
		return 0
	})
}

// TestWhatFailsIsSaidOnce has a slice that cannot be applied beside one that changes again and again.
func TestWhatFailsIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.refuses("us-1", "eu-1-api-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		for n := range 5 {
			address := fmt.Sprintf("10.101.0.%d", n+6)
			f.has("eu-1", "api", "api-2", address)
			f.soon("us-1", "eu-1-api-2", "http "+address, fast)
		}
		if n := f.logs.count("endpoints are not all brought to a cluster"); n != 1 {
			t.Errorf("that is said %d times", n)
		}
	})
}

// TestWhatFailsHoldsBackItsServiceAlone has a slice that cannot be applied, and another Service of its namespace that has none any more.
func TestWhatFailsHoldsBackItsServiceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.refuses("us-1", "eu-1-api-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.has("eu-1", "web", "web-1", "10.101.0.6")
		line := func(service string) string {
			return `{"namespace": "shop", "service": "` + service + `", "style": "native", "from": ["eu-1"], "ports": ["http"]}`
		}
		f.applied("us-1", `{"imports": [`+line("api")+","+line("web")+"]}")
		f.soon("us-1", "eu-1-web-1", "http 10.101.0.6", fast)
		f.servers["eu-1"].Remove(below + "web-1")
		f.soon("us-1", "eu-1-web-1", "", fast)
	})
}

// TestACredentialThatIsReplaced ends the token of a consumer while its watch goes on.
func TestACredentialThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		var ended atomic.Bool
		f.servers["us-1"].Before(func(r *http.Request) int {
			if ended.Load() && r.Header.Get("Authorization") != "Bearer two" {
				return http.StatusUnauthorized
			}
			return 0
		})
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.leads("us-1", f.servers["us-1"], "two")
		ended.Store(true)
		f.has("eu-1", "api", "api-1", "10.101.0.6")
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.6", 2*fast)
	})
}

// TestManyServices has a consumer import more services than the URL of one request may name.
func TestManyServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		var longest atomic.Int64
		f.servers["eu-1"].Before(func(r *http.Request) int {
			longest.Store(max(longest.Load(), int64(len(r.URL.RawQuery))))
			return 0
		})
		var lines []string
		for n := range 1000 {
			lines = append(lines, fmt.Sprintf(`{"namespace": "shop", "service": "api-%d", "style": "native", "from": ["eu-1"]}`, n))
		}
		f.has("eu-1", "api-999", "x", "10.101.0.5")
		f.has("eu-1", "other", "y", "10.101.0.6")
		f.applied("us-1", `{"imports": [`+strings.Join(lines, ",")+`]}`)
		f.soon("us-1", "eu-1-x", "admin http 10.101.0.5", fast)
		if got := f.shown("us-1", "eu-1-y"); got != "" {
			t.Errorf("what is not imported is %q", got)
		}
		const most = 8 << 10 // what proxies take
		if n := longest.Load(); n > most {
			t.Errorf("a request has %d bytes", n)
		}
	})
}

// TestAFileThatIsEmpty is one that was lost: what counted before counts on.
func TestAFileThatIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, "eu-1", "us-1")
		f.has("eu-1", "api", "api-1", "10.101.0.5")
		f.applied("us-1", imports)
		f.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		f.Applied(t.Context(), push.Applied{Cluster: "us-1", UID: apiserver.UID, Owner: owner, File: []byte{}})
		f.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
	})
}
