package survey_test

import (
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters/survey"
	"github.com/waybill-dev/waybill/render/object"
)

// hosted is a virtual cluster of the host h, whose nodes have a label.
func hosted(name string) *survey.Cluster {
	return &survey.Cluster{
		Name: name, Host: "h", Virtual: &virtual.Mapping{Cluster: name, Host: "h", Suffix: "-" + name, Selector: map[string]string{"at": name}},
	}
}

// TestClustersOnOneServerAreWatchedOnce follows clusters that come and go: who comes is told at once what is known, who goes is told
// nothing more, and a server is asked while somebody is there.
func TestClustersOnOneServerAreWatchedOnce(t *testing.T) {
	const virtually = "healthy, apps/v1=deployments, example.com/v1=things, v1=pods, v1.35.0, "
	synctest.Test(t, func(t *testing.T) {
		w, s, alone := newWatching(t), newServer(), newServer()
		for _, step := range []struct {
			at    time.Duration
			do    func()
			asked int // how often the server was asked whether it is ready
			want  map[string][]string
		}{
			{0, func() { w.watch(s, hosted("v")) }, 0, map[string][]string{}},
			{15 * time.Second, func() { w.watch(s, hosted("w")) }, 3, map[string][]string{
				"v": {"1s-10s 2x: " + virtually + "nodes 1/1, cpu 8 1 0, pods 1 0"},
			}},
			{15 * time.Second, func() { w.watch(s, &survey.Cluster{Name: "h", Host: "h"}) }, 0, map[string][]string{"w": {
				"15s: " + virtually + "nodes 1/1, cpu 4 1 0, pods 1 0",
			}}},
			{15 * time.Second, func() { w.watch(alone, &survey.Cluster{Name: "alone"}) }, 0, map[string][]string{"h": {"15s: " + full}}},
			// what waits is of whose namespace it is in; what runs is of whose node it is on
			{16 * time.Second, func() {
				s.put(pods, pod("shop-v/waits", "", "2"))
				s.put(pods, pod("shop-w/waits", "", "1"))
				s.put(pods, pod("shop-v/there", "m", "1"))
			}, 0, map[string][]string{"alone": {"16s: " + full}}},
			{25 * time.Second, func() { w.ends["v"]() }, 1, map[string][]string{
				"v":     {"20s: " + virtually + "nodes 1/1, cpu 8 1 2, pods 1 1"},
				"w":     {"20s: " + virtually + "nodes 1/1, cpu 4 2 1, pods 2 1"},
				"h":     {"20s: " + virtually + "nodes 2/2, cpu 12 3 3, pods 3 2"},
				"alone": {"25s: " + full},
			}},
			{26 * time.Second, func() { w.ends["alone"]() }, 0, map[string][]string{"v": {"25s: ended, <nil>"}}},
			{35 * time.Second, func() { w.ends["w"](); w.ends["h"]() }, 1, map[string][]string{
				"w": {"30s: " + virtually + "nodes 1/1, cpu 4 2 1, pods 2 1"}, "h": {"30s: " + virtually + "nodes 2/2, cpu 12 3 3, pods 3 2"},
				"alone": {"26s: ended, <nil>"},
			}},
			{95 * time.Second, func() { w.watch(s, hosted("w")) }, 0, map[string][]string{"w": {"35s: ended, <nil>"}, "h": {"35s: ended, <nil>"}}},
			// who is there is told that it does not answer, and whoever watches anew finds it as it is then
			{108 * time.Second, func() { s.answers(http.StatusBadGateway, "/readyz"); w.watch(s, hosted("v")) }, 3, map[string][]string{
				"w": {"1m36s-1m45s 2x: " + virtually + "nodes 1/1, cpu 4 2 1, pods 2 1"},
			}},
			{118 * time.Second, func() { w.ends["w"]() }, 1, map[string][]string{
				"v": {
					"1m48s: " + virtually + "nodes 1/1, cpu 8 1 2, pods 1 1", "1m55s: unhealthy, waiting unknown",
				}, "w": {"1m55s: unhealthy, waiting unknown"},
			}},
			{128 * time.Second, func() { s.answers(0, "/readyz"); w.watch(s, hosted("v")) }, 1, map[string][]string{
				"v": {"2m5s: unhealthy, waiting unknown", "2m5s: " + gone}, "w": {"1m58s: ended, <nil>"},
			}},
			{138 * time.Second, func() {}, 3, map[string][]string{"v": {"2m9s-2m18s 2x: " + virtually + "nodes 1/1, cpu 8 1 2, pods 1 1"}}},
		} {
			w.until(step.at)
			if got := w.took(); !cmp.Equal(step.want, got) {
				t.Errorf("after %s: %s", step.at, cmp.Diff(step.want, got))
			}
			if n := s.times("/readyz"); n != step.asked {
				t.Errorf("until %s it was asked %d times, want %d", step.at, n, step.asked)
			}
			step.do()
		}
	})
}

// TestWhatAQuietClusterCosts is a small request a period, when it is known what is served.
func TestWhatAQuietClusterCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWatching(t), newServer()
		w.watch(s, &survey.Cluster{Name: "eu"})
		w.until(65 * time.Second)
		if n := s.times("/version"); n != 5 { // at first, and for four looks after there were kinds
			t.Errorf("it is asked %d times what it serves", n)
		}
		s.requests()
		w.until(9 * time.Minute)
		if diff := cmp.Diff(map[string]int{"/readyz": 48}, s.requests()); diff != "" {
			t.Error(diff)
		}
		s.put(crds, crd())
		w.until(11*time.Minute + 30*time.Second)
		if n := s.times("/version"); n != 8 { // for four looks after a kind came, and for four when it is not known any more
			t.Errorf("it is asked %d times what it serves after a kind came", n)
		}
	})
}

// TestWhoIsAnotherClusterIsNotWatched: nor is one that does not say who it is, or cannot be reached as it is said.
func TestWhoIsAnotherClusterIsNotWatched(t *testing.T) {
	for _, tt := range []struct {
		name   string
		id     string
		status int
		config *rest.Config
		want   []string
		asked  []string
	}{
		{"it is the one", "5f0c", 0, nil, []string{"1s: " + full}, []string{
			"/api", "/api/v1", "/api/v1/namespaces/kube-system", nodes, pods,
			"/apis", crds, apiservices, "/apis/apps/v1", "/apis/example.com/v1", "/readyz", "/version",
		}},
		{"it is another one", "5f0d", 0, nil, []string{
			"0s: ended, this is not eu: its Cluster has the id 5f0d, and this one has 5f0c; have its kubeconfig looked at",
		}, []string{"/api/v1/namespaces/kube-system"}},
		{"it does not say who it is", "5f0c", silent, nil, []string{
			`5s: ended, Get "https://example.com/api/v1/namespaces/kube-system": context deadline exceeded`,
		}, []string{"/api/v1/namespaces/kube-system"}},
		{"its address is none", "", 0, &rest.Config{Host: "https://"}, []string{
			`0s: ended, reaching eu: host must be a URL or a host:port pair: "https://"`,
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := newWatching(t), newServer()
				s.answers(tt.status, "/api/v1/namespaces/kube-system")
				w.watch(s, &survey.Cluster{Name: "eu", ID: tt.id, Config: tt.config})
				w.until(8 * time.Second)
				if diff := cmp.Diff(tt.want, w.told["eu"]); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(tt.asked, slices.Sorted(maps.Keys(s.requests()))); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestReplicasAreCountedOfWhatIsAskedForNow: whoever watches asks for other workloads while it does.
func TestReplicasAreCountedOfWhatIsAskedForNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWatching(t), newServer()
		web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
		var asked atomic.Pointer[deschedule.Watch]
		c := hosted("v")
		c.Watch = asked.Load
		c.Models = []karmada.ResourceModel{}
		s.put(pods, pod("shop-v/c", "", "1"))
		w.watch(s, c)
		w.until(5 * time.Second)
		asked.Store(&deschedule.Watch{Workloads: []object.Ref{web}})
		w.until(15 * time.Second)
		asked.Store(nil)
		w.until(25 * time.Second)
		const seen = kinds + "v1.35.0, nodes 1/1, cpu 8 1 1, pods 1 1"
		if diff := cmp.Diff(
			[]string{"1s: " + seen, "10s: " + seen + ", web: of 3 ready 2 waiting [shop-v/c]", "20s: " + seen}, w.told["v"],
		); diff != "" {
			t.Error(diff)
		}
	})
}
