package applier

import (
	"context"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/object"
)

// reaches writes the kubeconfig of a cluster whose API server is a server.
func reaches(t *testing.T, dir string, server *httptest.Server, token string) {
	t.Helper()
	text, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{"eu": {
			Server: server.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}},
		AuthInfos: map[string]*api.AuthInfo{"eu": {Token: token}}, Contexts: map[string]*api.Context{"eu": {Cluster: "eu", AuthInfo: "eu"}}, CurrentContext: "eu",
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "eu.kubeconfig"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAReportHasWhatIsNewOfTheCredential: whoever is told of a round is told with it that the credential is another one than before.
func TestAReportHasWhatIsNewOfTheCredential(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	dir, told := t.TempDir(), make(chan bool, 10)
	f := &Follower{
		Applier: Applier{Published: &published.Reader{Branches: published.At(nil)}, Now: time.Now, Access: clusters.Access{Folder: dir}},
		Resync:  time.Hour, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 1 },
		Report: func(res Result) { told <- res.Rotated() },
	}
	requests := make(chan request)
	go f.follow(t.Context(), work{requests: requests, newest: &atomic.Pointer[request]{}, missed: clusters.Missed{}}, make(chan struct{}, 1))
	for i, step := range []struct {
		token string
		want  bool
	}{{"one", false}, {"one", false}, {"two", true}, {"two", false}} {
		reaches(t, dir, server, step.token)
		requests <- request{cluster: &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}}
		if got := <-told; got != step.want {
			t.Errorf("round %d, by %s: it is told that the credential is another one: %t", i+1, step.token, got)
		}
	}
}

// TestARoundBeginsWithTheNewestRequest has a cluster wait for its turn, and suspends it meanwhile, or takes its credential away.
func TestARoundBeginsWithTheNewestRequest(t *testing.T) {
	asked := make(chan struct{}, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"kube-system","uid":"k"}}`))
		asked <- struct{}{}
	}))
	defer server.Close()
	dir := t.TempDir()
	reaches(t, dir, server, "t")
	f := &Follower{Applier: Applier{Published: &published.Reader{Branches: published.At(nil)}, Now: func() time.Time { return time.Unix(0, 0) }, Access: clusters.Access{Folder: dir}}}
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	requests, slots, ended := make(chan request, 1), make(chan struct{}, 1), make(chan Result, 1)
	slots <- struct{}{} // another cluster's round
	in := work{requests: requests, request: request{cluster: cluster(nil)}}
	go func() {
		res, _ := f.round(t.Context(), &in, slots)
		ended <- res
	}()
	<-asked
	requests <- request{cluster: cluster(map[string]string{suspend.Suspended: "the disks are replaced"})}
	<-slots
	if res := <-ended; !strings.Contains(res.Suspension.Why, "the disks are replaced") || in.fresh || len(slots) > 0 {
		t.Errorf("%+v; rounds under way: %d", res, len(slots))
	}
	slots <- struct{}{}
	in.request.cluster = cluster(nil)
	go func() {
		res, _ := f.round(t.Context(), &in, slots)
		ended <- res
	}()
	<-asked
	if err := os.Remove(filepath.Join(dir, "eu.kubeconfig")); err != nil {
		t.Fatal(err)
	}
	requests <- request{cluster: cluster(nil)}
	<-slots
	if res := <-ended; !errors.Is(res.Err, clusters.ErrNoCredential) || res.Cluster != "eu" || len(slots) > 0 {
		t.Errorf("without a credential %+v; rounds under way: %d", res, len(slots))
	}
}

// TestARoundThatIsMadeAnyway goes by what was said last, even where that makes no round by itself.
func TestARoundThatIsMadeAnyway(t *testing.T) {
	old, newest := &karmada.Cluster{}, &karmada.Cluster{}
	w := work{newest: &atomic.Pointer[request]{}, request: request{cluster: old}}
	if w.renew(); w.request.cluster != old {
		t.Error("what there was is forgotten where nothing was said since")
	}
	w.newest.Store(&request{cluster: newest})
	if w.renew(); w.request.cluster != newest {
		t.Error("it goes by what was said before")
	}
}

// TestWhatEndsAWaitForDrift: a new request, which the round goes by then, and the end of all.
func TestWhatEndsAWaitForDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{Applier: Applier{Now: time.Now}, Random: func() float64 { return 1 }}
		b, began := backoff{corrections: drift.Counts{}}, time.Now()
		requests, newest := make(chan request, 1), &karmada.Cluster{}
		in := work{requests: requests}
		requests <- request{cluster: newest}
		if !f.gather(t.Context(), &in, &b, object.Ref{}, nil) || in.request.cluster != newest || !time.Now().Equal(began) {
			t.Errorf("a request ends it after %s, with %+v", time.Since(began), in.request.cluster)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if f.gather(ctx, &in, &b, object.Ref{}, nil) || !time.Now().Equal(began) {
			t.Errorf("it goes on for %s when all has ended", time.Since(began))
		}
	})
}

// TestWhatIsPutRightAgainAndAgain is counted for each object that a round put right because somebody had changed it, and not otherwise.
func TestWhatIsPutRightAgainAndAgain(t *testing.T) {
	a, b := object.Ref{Kind: "ConfigMap", Name: "a"}, object.Ref{Kind: "ConfigMap", Name: "b"}
	f := &Follower{Applier: Applier{Now: time.Now}, Random: func() float64 { return 1 }}
	kept := backoff{corrections: drift.Counts{}}
	for _, step := range []struct {
		corrects bool
		refs     []object.Ref
		a, b     int
	}{{true, []object.Ref{a}, 1, 0}, {true, []object.Ref{a, b}, 2, 1}, {false, []object.Ref{b}, 2, 1}, {true, nil, 2, 1}} {
		var res Result
		for _, r := range step.refs {
			res.Report.Outcomes = append(res.Report.Outcomes, apply.Outcome{Action: apply.Action{Ref: r}})
		}
		kept.corrects, kept.failures = step.corrects, 3
		f.rest(&kept, &res)
		if of := kept.corrections; of.Of(a) != step.a || of.Of(b) != step.b || kept.failures != 0 {
			t.Errorf("after %v, put right: %t, a counts %d and b %d; failures are %d", step.refs, step.corrects, of.Of(a), of.Of(b), kept.failures)
		}
	}
}

// TestARoundIsMadeWhereSomethingChanged requests rounds: what says the same makes none, and a round that is made anyway
// goes by what was said last.
func TestARoundIsMadeWhereSomethingChanged(t *testing.T) {
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	for _, c := range []struct {
		name    string
		changed *karmada.Cluster
		want    int // requests
	}{
		{"nothing", cluster(nil), 0},
		{"the Cluster", cluster(map[string]string{suspend.Suspended: "the disks are replaced"}), 1},
	} {
		f := &Follower{Applier: Applier{Published: &published.Reader{Branches: published.At(nil)}}}
		q := queues{follower: f, of: map[string]queue{"eu": {requests: make(chan request, 1), newest: &atomic.Pointer[request]{}}}}
		q.put(t.Context(), "eu", request{published.Desired{}, cluster(nil)})
		<-q.of["eu"].requests
		q.put(t.Context(), "eu", request{published.Desired{}, c.changed})
		if r := q.of["eu"].newest.Load(); r.cluster != c.changed {
			t.Errorf("%s: a round that is made anyway goes by %+v", c.name, r)
		}
		if got := len(q.of["eu"].requests); got != c.want {
			t.Errorf("%s: %d requests, want %d", c.name, got, c.want)
		}
	}
}

// TestAClusterThatIsNoLongerChosenIsLeft: its rounds end, and whoever is told of clusters forgets it.
func TestAClusterThatIsNoLongerChosenIsLeft(t *testing.T) {
	var forgotten []string
	ctx, stop := context.WithCancel(t.Context())
	f := &Follower{Applier: Applier{Published: &published.Reader{Branches: published.At(nil)}}, Forget: func(name string) { forgotten = append(forgotten, name) }}
	q := queues{follower: f, of: map[string]queue{"eu": {stop: stop, done: ctx.Done()}}}
	q.request(t.Context(), &published.Desired{})
	if ctx.Err() == nil || len(q.of) > 0 || !slices.Equal(forgotten, []string{"eu"}) {
		t.Errorf("its rounds end by %v, followed are %d, forgotten %v", ctx.Err(), len(q.of), forgotten)
	}
}

// TestOneObjectDelaysNoOther has objects drift that were put right again and again, and others that were not: the round comes when the
// first of them is due.
func TestOneObjectDelaysNoOther(t *testing.T) {
	fought, disputed, calm := object.Ref{Kind: "ConfigMap", Name: "fought"}, object.Ref{Kind: "ConfigMap", Name: "disputed"}, object.Ref{Kind: "ConfigMap", Name: "calm"}
	for _, tt := range []struct {
		name    string
		drifted []object.Ref
		draws   []float64 // in turn
		want    time.Duration
	}{
		{"one that is fought over", []object.Ref{fought}, []float64{1}, failedWait},
		{"one that is not", []object.Ref{fought, calm, fought}, []float64{1}, settleTime},
		{"one that waits longer comes last", []object.Ref{fought, calm, disputed}, []float64{1}, settleTime},
		{"each has one wait, and the first is sooner", []object.Ref{disputed, disputed}, []float64{0, 1}, 8 * time.Second},
		{"each has one wait, and the second is sooner", []object.Ref{disputed, disputed}, []float64{1, 0}, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			draws := 0
			f := &Follower{Applier: Applier{Now: time.Now}, Random: func() float64 {
				draws++
				return tt.draws[(draws-1)%len(tt.draws)]
			}}
			b := backoff{corrections: drift.Counts{fought: {Times: 12, Last: time.Now()}, disputed: {Times: 5, Last: time.Now()}}}
			drifted, began := make(chan object.Ref), time.Now()
			go func() {
				for _, r := range tt.drifted[1:] {
					drifted <- r
				}
			}()
			if isOn := f.gather(t.Context(), &work{}, &b, tt.drifted[0], drifted); !isOn || time.Since(began) != tt.want {
				t.Errorf("%s: the round comes after %s, want %s", tt.name, time.Since(began), tt.want)
			}
		})
	}
}
