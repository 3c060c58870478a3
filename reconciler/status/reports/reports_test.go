package reports_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// tell writes what a cluster says of objects, some time ago: of each its health.
func (f *fleet) tell(cluster string, ago time.Duration, objects map[object.Ref]karmada.ResourceHealth) {
	f.Helper()
	c := status.Cluster{Summary: status.Summary{Name: cluster, Verdict: status.Verdict{Reason: status.Applied}}, Objects: map[object.Ref]*status.Object{}}
	for r, h := range objects {
		c.Objects[r] = &status.Object{Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: h}}
	}
	f.repo.Now = noon.Add(-ago)
	f.repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

// named are the names of what is said, with their health.
func named(objects map[object.Ref]*status.Object) map[string]karmada.ResourceHealth {
	all := map[string]karmada.ResourceHealth{}
	for r, o := range objects {
		all[r.String()] = o.Health.State
	}
	return all
}

// What is asked of a namespace is answered by the names of templates, whatever they are called on the API server of a virtual cluster;
// what has no namespace a virtual cluster has from its host, unless it says something itself.
func TestWhatClustersSayOfANamespace(t *testing.T) {
	f := newFleet(t)
	const well, sick = karmada.ResourceHealthy, karmada.ResourceUnhealthy
	of := func(namespace, name string) object.Ref {
		return object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}
	}
	class := object.Ref{Group: "storage.k8s.io", Kind: "StorageClass", Name: "fast"}
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "reader"}
	shop := object.Ref{Kind: "Namespace", Name: "shop"}
	f.tell("host", time.Hour, map[object.Ref]karmada.ResourceHealth{of("shop", "of-host"): well, class: sick, role: sick, shop: sick})
	f.tell("inner", time.Hour, map[object.Ref]karmada.ResourceHealth{of("shop-inner", "web"): well, of("other-inner", "db"): sick, role: well})
	f.tell("old", time.Hour+time.Second, map[object.Ref]karmada.ResourceHealth{of("shop", "web"): well})
	var registered []policies.Cluster
	for _, c := range []*karmada.Cluster{cluster("host", nil), cluster("inner", map[string]string{karmada.VirtualOfAnnotation: "host"}), cluster("old", nil), cluster("silent", nil)} {
		registered = append(registered, policies.Cluster{Spec: *c})
	}
	all, err := f.reader.Reports(t.Context(), registered, "shop", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, []string{"host", "inner"}) {
		t.Fatalf("these say something: %q", got)
	}
	if got := named(all["inner"].Objects); !maps.Equal(got, map[string]karmada.ResourceHealth{"ConfigMap/shop/web": well}) {
		t.Errorf("inner says of shop %v", got)
	}
	if all, err = f.reader.Reports(t.Context(), registered, "", time.Hour); err != nil {
		t.Fatal(err)
	}
	want := map[string]karmada.ResourceHealth{
		"ConfigMap/shop/web": well, "ConfigMap/other/db": sick, "StorageClass.storage.k8s.io/fast": sick, "ClusterRole.rbac.authorization.k8s.io/reader": well,
	}
	if got := named(all["inner"].Objects); !maps.Equal(got, want) {
		t.Errorf("inner says %v, want %v", got, want)
	}
	if all, err = f.reader.Reports(t.Context(), registered, "", 2*time.Hour); err != nil || len(all) != 3 {
		t.Errorf("of two hours there are %d reports, %v", len(all), err)
	}
}

// recorded writes a state branch that registers clusters, a virtual one as "inner of host".
func (f *fleet) recorded(names ...string) {
	f.Helper()
	root := twin.Tree{"published.json": twin.File([]byte(`{"commit": "c1"}`))}
	for _, name := range names {
		name, host, isVirtual := strings.Cut(name, " of ")
		metadata := "name: " + name
		if isVirtual {
			metadata += ", annotations: {" + karmada.VirtualOfAnnotation + ": " + host + "}"
		}
		root["clusters/"+name+".yaml"] = twin.File([]byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {" + metadata + "}\nspec: {syncMode: Push}\n"))
	}
	f.repo.Write(state.Branch, "state", root.Folder())
}

// The fleet is what the state registers, each with the head of its branch and what it says; what is asked for and not there is an error.
func TestFleet(t *testing.T) {
	f := newFleet(t)
	source := twin.New("source")
	rev := source.Write("main", "first", twin.Tree{"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {}\n"))}.Folder())
	snapshot, err := source.Snapshot(t.Context(), rev.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.reader.Fleet(t.Context(), snapshot, reports.Query{}); err == nil {
		t.Error("where nothing is published there is a fleet")
	}
	f.recorded("eu", "inner of eu", "silent", "us")
	head := f.publish("eu", "new")
	f.repo.Write(status.Prefix+"us", "by hand", twin.Tree{"README": twin.File(nil)}.Folder())
	f.tell("eu", time.Minute, map[object.Ref]karmada.ResourceHealth{web: karmada.ResourceHealthy, {Kind: "ConfigMap", Namespace: "b", Name: "x"}: karmada.ResourceUnhealthy})
	const well = karmada.ResourceHealthy
	f.tell("inner", time.Minute, map[object.Ref]karmada.ResourceHealth{{Kind: "ConfigMap", Namespace: "shop-inner", Name: "x"}: well, {Kind: "ConfigMap", Namespace: "shop", Name: "of-host"}: well})
	fleet, err := f.reader.Fleet(t.Context(), snapshot, reports.Query{Lasting: reports.Lasting})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range fleet.Clusters {
		names = append(names, fleet.Clusters[i].Cluster)
	}
	if !slices.Equal(names, []string{"eu", "inner", "silent", "us"}) || fleet.Seen.Commit != "c1" {
		t.Fatalf("%+v", fleet)
	}
	eu, inner, silent, us := &fleet.Clusters[0], &fleet.Clusters[1], &fleet.Clusters[2], &fleet.Clusters[3]
	if eu.Head != head || eu.ReportID().IsZero() || !silent.Head.IsZero() || !silent.ReportID().IsZero() || !us.ReportID().IsZero() {
		t.Errorf("eu is %+v, silent %+v, us %+v", eu, silent, us)
	}
	objects, err := eu.Objects("shop")
	if err != nil || len(objects) != 1 || objects[web] == nil {
		t.Errorf("of shop it is said %v, %v", named(objects), err)
	}
	if objects, err = inner.Objects("shop"); err != nil || !maps.Equal(named(objects), map[string]karmada.ResourceHealth{"ConfigMap/shop/x": well}) {
		t.Errorf("of shop a virtual cluster says %v, %v", named(objects), err)
	}
	if objects, err = eu.Everything(); err != nil || len(objects) != 2 {
		t.Errorf("of all it is said %v, %v", named(objects), err)
	}
	if objects, err = silent.Everything(); err != nil || len(objects) > 0 {
		t.Errorf("of what says nothing it is said %v, %v", named(objects), err)
	}
	if fleet, err = f.reader.Fleet(t.Context(), snapshot, reports.Query{Clusters: []string{"us"}}); err != nil || len(fleet.Clusters) != 1 || fleet.Clusters[0].Cluster != "us" {
		t.Errorf("asked for us, it is %+v, %v", fleet.Clusters, err)
	}
	if _, err = f.reader.Fleet(t.Context(), snapshot, reports.Query{Clusters: []string{"us", "ap"}}); err == nil {
		t.Error("asked for one that is not registered, there is a fleet")
	}
}
