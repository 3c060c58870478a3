package applier

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
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
		case <-time.NewTimer(20 * time.Second).C:
			t.Fatalf("%s is gone, and nobody is woken", want)
		}
	}
}
