package survey_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/clusters/survey"
)

const (
	kinds  = "healthy, apps/v1=deployments, example.com/v1=things, v1=pods, "
	room   = "nodes 2/2, cpu 12 2 0, pods 2 0"
	full   = kinds + "v1.35.0, " + room
	gone   = "ended, its API server does not answer, or is not ready"
	denied = "the credential may not list and watch nodes, so that its room is not known"
)

// TestWhatIsToldOfACluster follows one cluster from look to look.
func TestWhatIsToldOfACluster(t *testing.T) {
	type step struct {
		at time.Duration
		do func(*server)
	}
	answers := func(at time.Duration, status int, paths ...string) step {
		return step{at, func(s *server) { s.answers(status, paths...) }}
	}
	puts := func(at time.Duration, list string, o dict) step {
		return step{at, func(s *server) { s.put(list, o) }}
	}
	const second = time.Second
	for _, tt := range []struct {
		name  string
		steps []step
		until time.Duration
		want  []string
	}{
		{"all is well", nil, 25 * second, []string{"1s-20s 3x: " + full}},
		{"its nodes and pods change", []step{
			puts(2*second, nodes, node("x", "2", "v")), puts(2*second, pods, pod("a/idle", "", "")), // it requests nothing
			puts(12*second, nodes, unready(node("n", "8", "v"))), puts(12*second, pods, pod("a/idle", "m", "")),
			puts(22*second, nodes, node("m", "6", "w")), puts(22*second, pods, ended(pod("shop-v/a", "n", "1"))),
			{32 * second, func(s *server) { s.happens(nodes, "DELETED", node("x", "2", "v")) }},
			puts(32*second, pods, pod("shop-v/b", "m", "2")),
		}, 45 * second, []string{
			"1s: " + full,
			"10s: " + kinds + "v1.35.0, nodes 3/3, cpu 14 2 0, pods 2 1",
			"20s: " + kinds + "v1.35.0, nodes 2/3, cpu 14 2 0, pods 3 0",
			"30s: " + kinds + "v1.35.0, nodes 2/3, cpu 16 1 0, pods 2 0",
			"40s: " + kinds + "v1.35.0, nodes 1/2, cpu 14 2 0, pods 2 0",
		}},
		{"an older one", []step{{0, func(s *server) { s.isOld = true }}, puts(2*second, pods, pod("a/p", "m", "2"))}, 15 * second, []string{
			"1s: " + full, "10s: " + kinds + "v1.35.0, nodes 2/2, cpu 12 4 0, pods 3 0",
		}},
		{"nodes may not be listed at first", []step{answers(0, http.StatusForbidden, nodes), answers(30*second, 0, nodes)}, 85 * second, []string{
			"1s-1m0s 7x: " + kinds + "v1.35.0, " + denied, "1m10s-1m20s 2x: " + full,
		}},
		{"nodes may not be listed, and are not told then", []step{
			answers(0, http.StatusForbidden, nodes), answers(30*second, http.StatusInternalServerError, nodes),
		}, 85 * second, []string{"1s-1m20s 9x: " + kinds + "v1.35.0, " + denied}},
		{"pods are told a little later", []step{
			answers(0, http.StatusInternalServerError, pods), answers(2*second, 0, pods),
		}, 15 * second, []string{"10s: " + full}},
		{"nobody lists nodes or pods without a token", []step{answers(0, http.StatusUnauthorized, nodes, pods)}, 15 * second, []string{
			"1s-10s 2x: " + kinds + "v1.35.0, the credential may not list and watch nodes and pods, so that its room is not known",
		}},
		{"nodes are not told", []step{answers(0, silent, nodes)}, 65 * second, []string{"50s-1m0s 2x: " + kinds + "v1.35.0"}},
		{"pods are not told", []step{answers(0, http.StatusInternalServerError, pods)}, 65 * second, []string{
			"50s-1m0s 2x: " + kinds + "v1.35.0",
		}},
		{"it does not say its version", []step{
			answers(0, http.StatusInternalServerError, "/version"), answers(52*second, 0, "/version"),
		}, 65 * second, []string{
			"50s: healthy, " + room, "1m0s: " + full,
		}},
		{"it does not say what it serves", []step{
			answers(0, http.StatusInternalServerError, "/api", "/apis"),
		}, 55 * second, []string{"50s: healthy, " + room}},
		{"it does not say all that it serves", []step{answers(0, http.StatusServiceUnavailable, "/apis/example.com/v1")}, 5 * second, []string{
			"1s: healthy, apps/v1=deployments, v1=pods, v1.35.0, without example.com/v1, " + room,
		}},
		{"it does not know whether it is ready", []step{
			answers(0, http.StatusNotFound, "/readyz"), answers(0, 0, "/healthz"), answers(5*second, http.StatusBadGateway, "/healthz"),
		}, 25 * second, []string{
			"1s: " + full, "10s-20s 2x: unhealthy, waiting unknown", "20s: " + gone,
		}},
		{"it is not ready", []step{answers(0, http.StatusInternalServerError, "/readyz")}, 5 * second, []string{
			"0s-1s 2x: unhealthy, waiting unknown", "1s: " + gone,
		}},
		{"it refuses to say whether it is ready", []step{answers(5*second, http.StatusForbidden, "/readyz")}, 25 * second, []string{
			"1s: " + full, "10s-20s 2x: unreachable, waiting unknown", "20s: " + gone,
		}},
		{"it is not ready now and then", []step{
			answers(5*second, http.StatusInternalServerError, "/readyz"), answers(15*second, 0, "/readyz"),
			answers(25*second, http.StatusInternalServerError, "/readyz"), answers(35*second, 0, "/readyz"),
		}, 45 * second, []string{
			"1s: " + full, "10s: unhealthy, waiting unknown", "20s: " + full, "30s: unhealthy, waiting unknown", "40s: " + full,
		}},
		{"it falls silent", []step{answers(5*second, silent, "/readyz")}, 35 * second, []string{
			"1s: " + full, "15s-25s 2x: unreachable, waiting unknown", "25s: " + gone,
		}},
		{"it is upgraded behind its watches, twice", []step{
			{45 * second, func(s *server) { s.is("v1.36.0") }}, {650 * second, func(s *server) { s.is("v1.37.0") }},
		}, 1215 * second, []string{
			"1s-9m50s 60x: " + full, "10m0s-19m50s 60x: " + kinds + "v1.36.0, " + room, "20m0s-20m10s 2x: " + kinds + "v1.37.0, " + room,
		}},
		{"it is upgraded while it is not ready", []step{
			{45 * second, func(s *server) { s.is("v1.36.0") }}, answers(
				45*second, http.StatusInternalServerError, "/readyz",
			), answers(55*second, 0, "/readyz"),
		}, 65 * second, []string{
			"1s-40s 5x: " + full, "50s: unhealthy, waiting unknown", "1m0s: " + kinds + "v1.36.0, " + room,
		}},
		{"it gets a kind", []step{
			answers(45*second, http.StatusServiceUnavailable, "/apis/example.com/v1"), puts(52*second, crds, crd()), answers(
				75*second, 0, "/apis/example.com/v1",
			),
		}, 85 * second, []string{
			"1s-50s 6x: " + full, "1m0s-1m10s 2x: healthy, apps/v1=deployments, v1=pods, v1.35.0, without example.com/v1, " + room, "1m20s: " + full,
		}},
		{"it loses a kind", []step{
			puts(2*second, crds, crd()), {65 * second, func(s *server) { s.is("v1.36.0"); s.happens(crds, "DELETED", crd()) }},
		}, 75 * second, []string{"1s-1m0s 7x: " + full, "1m10s: " + kinds + "v1.36.0, " + room}},
		{"an extension of it changes", []step{
			puts(2*second, apiservices, crd()), {45 * second, func(s *server) { s.is("v1.36.0") }}, puts(45*second, apiservices, crd()),
		}, 55 * second, []string{
			"1s-40s 5x: " + full, "50s: " + kinds + "v1.36.0, " + room,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := newWatching(t), newServer()
				for _, do := range tt.steps {
					if do.at == 0 {
						do.do(s)
					}
				}
				w.watch(s, &survey.Cluster{Name: "eu"})
				for _, do := range tt.steps {
					if do.at > 0 {
						w.until(do.at)
						do.do(s)
					}
				}
				w.until(tt.until)
				if diff := cmp.Diff(tt.want, w.told["eu"]); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	_, _ = answers, puts
	_ = http.StatusOK
}
