package applier

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestWhichRoundsSayWhatIsImported: after one that did not come to its end, or applied nothing, what was imported before counts on.
func TestWhichRoundsSayWhatIsImported(t *testing.T) {
	eu, us := apiserver.New(t, "shop"), apiserver.New(t, "shop")
	const below = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"
	eu.Put(below+"api-1", apiserver.Object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": []any{apiserver.Object{"addresses": []any{"10.101.0.5"}}},
		"metadata": apiserver.Object{"namespace": "shop", "name": "api-1", "labels": apiserver.Object{"kubernetes.io/service-name": "api"}},
	})
	folder := us.Kubeconfigs(t, "us-1")
	f := &Follower{Exchange: push.New(push.By(clusters.Access{Folder: folder}), time.Now, func() float64 { return 0 }, slog.New(slog.DiscardHandler))}
	var registered []*karmada.Cluster
	for _, name := range []string{"eu-1", "us-1"} {
		registered = append(registered, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{SyncMode: karmada.Push}})
	}
	data, err := os.ReadFile(filepath.Join(eu.Kubeconfigs(t, "eu-1"), "eu-1.kubeconfig"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "eu-1.kubeconfig"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Exchange.Known(registered, exchange.Services{Endpoints: exchange.Apply}, nil)
	round := func(services string, change func(*Result)) {
		res := Result{Cluster: "us-1", owner: "https://git.example/moved", formerly: []string{"https://git.example/fleet"}}
		res.Report.Inventory = inventory.Inventory{Identity: inventory.Identity{UID: apiserver.UID}}
		if services != "" {
			res.services = []byte(services)
		}
		change(&res)
		f.exchange(t.Context(), &res)
	}
	soon := func(there bool) {
		t.Helper()
		for began := time.Now(); (us.Get(below+"eu-1-api-1") != nil) != there; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("the slice is there: %t", !there)
			}
		}
	}
	round(`{"imports": [{"namespace": "shop", "service": "api", "style": "native", "from": ["eu-1"]}]}`, func(r *Result) { r.owner, r.formerly = r.formerly[0], nil })
	soon(true)
	for name, change := range map[string]func(*Result){
		"an error":     func(r *Result) { r.Err = errors.New("it does not answer") },
		"a suspension": func(r *Result) { r.Suspension = suspend.Suspension{Why: "the disks are replaced"} },
		"a hold":       func(r *Result) { r.Report.Plan.Hold = &apply.Hold{Reason: "too much leaves"} },
	} {
		round("", change)
		for began := time.Now(); time.Since(began) < 500*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			if us.Get(below+"eu-1-api-1") == nil {
				t.Fatalf("after %s the slice is gone", name)
			}
		}
	}
	round("", func(*Result) {})
	soon(false)
}
