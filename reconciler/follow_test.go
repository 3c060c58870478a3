package reconciler

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestARoundBeginsWithTheNewestOrder has a cluster wait for its turn, and suspends it meanwhile.
func TestARoundBeginsWithTheNewestOrder(t *testing.T) {
	asked := make(chan struct{}, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"kube-system","uid":"k"}}`))
		asked <- struct{}{}
	}))
	defer server.Close()
	dir := t.TempDir()
	text, err := clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{"eu": {
			Server: server.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}},
		AuthInfos: map[string]*api.AuthInfo{"eu": {Token: "t"}}, Contexts: map[string]*api.Context{"eu": {Cluster: "eu", AuthInfo: "eu"}}, CurrentContext: "eu",
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "eu.kubeconfig"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &Follower{Applier: Applier{Reconciler: &Reconciler{Now: func() time.Time { return time.Unix(0, 0) }}, Access: clusters.Access{Folder: dir}}}
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	orders, slots, ended := make(chan order, 1), make(chan struct{}, 1), make(chan Application, 1)
	slots <- struct{}{} // another cluster's round
	in := inbox{orders: orders, order: order{cluster: cluster(nil)}}
	go func() {
		app, _ := f.round(t.Context(), &in, slots)
		ended <- app
	}()
	<-asked
	orders <- order{cluster: cluster(map[string]string{suspend.Suspended: "the disks are replaced"})}
	<-slots
	if app := <-ended; !strings.Contains(app.Suspension.Why, "the disks are replaced") || in.fresh {
		t.Errorf("%+v", app)
	}
}

// TestARoundIsMadeWhereSomethingChanged orders rounds: what a cluster is applied from, the file that
// registers it and the config count, and what concerns another cluster does not.
func TestARoundIsMadeWhereSomethingChanged(t *testing.T) {
	first := Deliverable{
		at: render.Addresses{Prefix: "waybill/cluster/"}, terms: [32]byte{1}, revision: sources.Revision{Repo: "https://example.com/fleet", Commit: "a"},
		heads: map[string]files.ID{"waybill/cluster/eu": {1}, "waybill/cluster/us": {1}},
	}
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	for _, c := range []struct {
		name   string
		change func(*Deliverable) *karmada.Cluster
		want   int // orders
	}{
		{"nothing", func(*Deliverable) *karmada.Cluster { return cluster(nil) }, 0},
		{"a source commit that changes nothing here", func(d *Deliverable) *karmada.Cluster { d.revision.Commit = "b"; return cluster(nil) }, 0},
		{"the branch of another cluster", func(d *Deliverable) *karmada.Cluster {
			d.heads = map[string]files.ID{"waybill/cluster/eu": {1}, "waybill/cluster/us": {2}}
			return cluster(nil)
		}, 0},
		{"the branch", func(d *Deliverable) *karmada.Cluster {
			d.heads = map[string]files.ID{"waybill/cluster/eu": {2}, "waybill/cluster/us": {1}}
			return cluster(nil)
		}, 1},
		{"the Cluster", func(*Deliverable) *karmada.Cluster {
			return cluster(map[string]string{suspend.Suspended: "the disks are replaced"})
		}, 1},
		{"the config", func(d *Deliverable) *karmada.Cluster { d.terms = [32]byte{2}; return cluster(nil) }, 1},
		{"the source", func(d *Deliverable) *karmada.Cluster {
			d.revision.Repo = "https://example.com/moved"
			return cluster(nil)
		}, 1},
	} {
		q := queues{follower: &Follower{Applier: Applier{Reconciler: &Reconciler{}}}, of: map[string]queue{"eu": {orders: make(chan order, 1), newest: &atomic.Pointer[order]{}}}}
		q.put(t.Context(), "eu", order{first, cluster(nil)})
		<-q.of["eu"].orders
		next := first
		changed := c.change(&next)
		q.put(t.Context(), "eu", order{next, changed})
		if o := q.of["eu"].newest.Load(); o.in.revision != next.revision || o.cluster != changed {
			t.Errorf("%s: a round that is made anyway goes by %+v", c.name, o)
		}
		if got := len(q.of["eu"].orders); got != c.want {
			t.Errorf("%s: %d orders, want %d", c.name, got, c.want)
		}
	}
}

// TestAFolderOfAnotherClusterIsNoReasonForARound has clusters share a branch: of its commits, those
// count for a cluster that changed its folder.
func TestAFolderOfAnotherClusterIsNoReasonForARound(t *testing.T) {
	repo := twin.New("published")
	write := func(contents map[string]string) map[string]files.ID {
		root := twin.Tree{}
		for path, content := range contents {
			root[path] = twin.File([]byte(content))
		}
		return map[string]files.ID{"waybill/clusters": repo.Write("waybill/clusters", "a change", root.Folder())}
	}
	f := &Follower{Applier: Applier{Reconciler: &Reconciler{Target: repo}}}
	q := queues{follower: f, of: map[string]queue{"eu": {orders: make(chan order, 1), newest: &atomic.Pointer[order]{}}}}
	put := func(heads map[string]files.ID) int {
		c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
		q.put(t.Context(), "eu", order{Deliverable{at: render.Addresses{Shared: "waybill/clusters"}, heads: heads}, c})
		defer func() {
			select {
			case <-q.of["eu"].orders:
			default:
			}
		}()
		return len(q.of["eu"].orders)
	}
	for i, step := range []struct {
		contents map[string]string
		want     int
	}{
		{map[string]string{"eu/a": "1", "us/a": "1"}, 1},
		{map[string]string{"eu/a": "1", "us/a": "2"}, 0},
		{map[string]string{"eu/a": "1", "us/a": "2", "README": "of a person"}, 0},
		{map[string]string{"eu/a": "2", "us/a": "3"}, 1},
		{map[string]string{"eu/a": "1", "us/a": "3"}, 1},
		{map[string]string{"us/a": "3"}, 1},
	} {
		if got := put(write(step.contents)); got != step.want {
			t.Errorf("step %d: %d orders, want %d", i+1, got, step.want)
		}
	}
}

// TestOneObjectDelaysNoOther has an object stray that was put right again and again, and then another one.
func TestOneObjectDelaysNoOther(t *testing.T) {
	fought, calm := object.Ref{Kind: "ConfigMap", Name: "fought"}, object.Ref{Kind: "ConfigMap", Name: "calm"}
	f := &Follower{Applier: Applier{Reconciler: &Reconciler{Now: time.Now}}, Random: func() float64 { return 1 }}
	p := pace{corrections: drift.Counts{fought: {Times: 12, Last: time.Now()}}}
	strays := make(chan object.Ref)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would be two
	defer cancel()
	go func() {
		for _, r := range []object.Ref{fought, calm, fought} {
			select {
			case strays <- r:
			case <-ctx.Done():
			}
		}
	}()
	if !f.gather(ctx, &inbox{}, &p, fought, strays) {
		t.Error("what nobody fights over waits for what somebody fights over")
	}
}
