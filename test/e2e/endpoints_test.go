//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discovery "k8s.io/api/discovery/v1"
)

// exchange is a site whose clusters exchange services.
type exchange struct{ *site }

// slices are the EndpointSlices of a cluster in the namespace shop that a selector finds, by name.
func (x *exchange) slices(cluster, selector string) map[string]discovery.EndpointSlice {
	x.t.Helper()
	status, body := x.apis[cluster].do(http.MethodGet, "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?labelSelector="+selector, "", nil)
	var l discovery.EndpointSliceList
	if status == 0 {
		return nil // it does not answer
	}
	if err := json.Unmarshal(body, &l); status != http.StatusOK || err != nil {
		x.t.Fatalf("EndpointSlices of %s: %d, %v\n%.500s", cluster, status, err, body)
	}
	all := map[string]discovery.EndpointSlice{}
	for _, s := range l.Items {
		all[s.Name] = s
	}
	return all
}

// local are those of a Service that the cluster's own controller made, and brought those that Waybill did.
func (x *exchange) local(cluster, service string) map[string]discovery.EndpointSlice {
	return x.slices(cluster, "kubernetes.io/service-name="+service+",endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io")
}

func (x *exchange) brought(cluster string) map[string]discovery.EndpointSlice {
	return x.slices(cluster, "endpointslice.kubernetes.io/managed-by=services.waybill.dev")
}

// shownSlices is what counts of slices, in lines: their names with a prefix, their ports among those that are asked for, and their endpoints.
func shownSlices(all map[string]discovery.EndpointSlice, prefix string, ports ...string) string {
	var lines []string
	for name, s := range all {
		var each []string
		for _, p := range s.Ports {
			if slices.Contains(ports, *p.Name) {
				each = append(each, fmt.Sprintf(" %s=%d", *p.Name, *p.Port))
			}
		}
		for _, e := range s.Endpoints {
			each = append(each, fmt.Sprintf(" %s ready=%t", e.Addresses[0], e.Conditions.Ready == nil || *e.Conditions.Ready))
		}
		slices.Sort(each)
		lines = append(lines, prefix+name+strings.Join(each, ""))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// ready counts the endpoints to which traffic goes.
func ready(all map[string]discovery.EndpointSlice) (n int) {
	for _, s := range all {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				n++
			}
		}
	}
	return n
}

// watched is what a watch on the slices that Waybill brought to a cluster saw.
type watched struct {
	mu      sync.Mutex
	events  int
	deleted []string
	on      bool // deletions count
}

// watch watches them until the test ends.
func (x *exchange) watch(cluster string) *watched {
	x.t.Helper()
	w := &watched{on: true}
	x.apis[cluster].stream(func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events++
		if kind, name, _ := strings.Cut(line, " "); kind == "DELETED" && w.on {
			w.deleted = append(w.deleted, name)
		}
	}, "get", "endpointslices", "-n", "shop", "-l", "endpointslice.kubernetes.io/managed-by=services.waybill.dev",
		"-w", "--output-watch-events", "-o", `jsonpath={.type} {.object.metadata.name}{"\n"}`)
	return w
}

// stream has each line be taken that kubectl prints until the test ends.
func (a *api) stream(take func(line string), args ...string) {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), a.path, append([]string{"--kubeconfig", a.kubeconfig}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = cmd.Wait() }) // its context has ended
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			take(lines.Text())
		}
	}()
}

// ends returns how many events there were, and holds that nothing was deleted until now.
func (w *watched) ends(t *testing.T) int {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = false
	if len(w.deleted) > 0 {
		t.Errorf("while a provider had pods, these were deleted: %v", w.deleted)
	}
	return w.events
}

// branches are where the branches of clusters are. What is observed of clusters is on others.
func (x *exchange) branches() string {
	x.t.Helper()
	var lines []string
	for line := range strings.Lines(x.git(x.bare, "for-each-ref", "--format=%(refname) %(objectname)")) {
		if strings.HasPrefix(line, "refs/heads/waybill/cluster/") {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(x.apis) {
		x.t.Errorf("there are %d branches: %v", len(lines), lines)
	}
	return strings.Join(lines, "")
}

// multicluster are definitions of ServiceExports and ServiceImports.
func multicluster() string {
	var b strings.Builder
	for _, k := range [][2]string{{"ServiceExport", "serviceexports"}, {"ServiceImport", "serviceimports"}} {
		fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.multicluster.x-k8s.io, annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes/enhancements/pull/1646"}}
spec:
  group: multicluster.x-k8s.io
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, k[0], k[1])
	}
	return b.String()
}

// TestEndpoints has pods of one cluster be called in others, by a MultiClusterService and then by a ServiceImport, under the
// controller: pods are replaced again and again, the API server that has them dies and returns, and the MultiClusterService goes.
func TestEndpoints(t *testing.T) {
	besideOthers(t)
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for _, name := range []string{"eu-1", "us-1", "us-2"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 1)
		apis[name].apply(multicluster())
	}
	x := &exchange{newSite(t, p.waybill, apis)}
	const config = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {services: {endpoints: apply, staleAfter: "
	const mcs = "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: api, namespace: shop}\n" +
		"spec: {types: [CrossCluster], ports: [{name: http, port: 80}], providerClusters: [{name: eu-1}], consumerClusters: [{name: us-1}]}\n"
	x.write("waybill.yaml", config+"0s}}\n")
	x.write("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: Service, namespace: shop, name: api}]
  placement: {}
`)
	x.write("shop.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	x.write("api.yaml", strings.ReplaceAll(strings.Replace(web("shop", "api", "api", ""), "replicas: 2", "replicas: 3", 1), "name: web", "name: api"))
	x.write("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\n"+
		"spec: {selector: {app: api}, ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 81, targetPort: 8081}]}\n")
	x.write("mcs.yaml", mcs)
	x.commit()
	x.controller()

	// what the provider has is there, with the port that is exposed, beside what is the cluster's own
	follows := func(what string) {
		t.Helper()
		eventually(t, what, func() (bool, string) {
			is, want := x.brought("us-1"), x.local("eu-1", "api")
			got, wants := shownSlices(is, "", "http", "admin"), shownSlices(want, "eu-1-", "http")
			return ready(want) == 3 && got == wants, fmt.Sprintf("us-1 has\n%s\nand eu-1\n%s", got, wants)
		})
	}
	follows("us-1 has the pods of eu-1")
	eventually(t, "us-1 has its own", func() (bool, string) { return ready(x.local("us-1", "api")) == 3, "" })
	if len(x.brought("eu-1"))+len(x.brought("us-2")) > 0 {
		t.Errorf("eu-1 has %v, us-2 %v", x.brought("eu-1"), x.brought("us-2"))
	}
	for name, s := range x.brought("us-1") {
		for _, e := range s.Endpoints {
			if e.NodeName != nil || e.TargetRef != nil {
				t.Errorf("%s has %+v", name, e)
			}
		}
	}

	// pods are replaced, and nobody commits
	before, seen := x.branches(), x.watch("us-1")
	var took []time.Duration
	for n := range 50 {
		pods := strings.Fields(x.apis["eu-1"].kubectl("get", "pods", "-n", "shop", "-l", "app=api", "-o", "jsonpath={.items[*].metadata.name}"))
		if status, body := x.apis["eu-1"].do(http.MethodDelete, "/api/v1/namespaces/shop/pods/"+pods[n%len(pods)], "", nil); status != http.StatusOK && status != http.StatusNotFound {
			t.Fatalf("%d: %.300s", status, body)
		}
		if n%5 != 4 {
			continue // it is not waited for
		}
		var has string
		eventually(t, "eu-1 has three pods again", func() (bool, string) {
			all := x.local("eu-1", "api")
			has = shownSlices(all, "eu-1-", "http")
			return ready(all) == 3 && !strings.Contains(has, "ready=false"), has
		})
		since := time.Now()
		follows("us-1 has the pods of eu-1 that there are now")
		took = append(took, time.Since(since))
	}
	follows("the last pods are there")
	if after := x.branches(); after != before {
		t.Errorf("pods came and went, and somebody committed: before\n%s\nand after\n%s", before, after)
	}
	slices.Sort(took)
	t.Logf("after pods are ready it took %v until they were elsewhere", took)
	if most := took[len(took)-1]; most > 2*time.Second && !testing.Short() {
		t.Errorf("it took up to %s", most)
	}

	// the provider dies, and returns
	last := shownSlices(x.brought("us-1"), "", "http")
	x.apis["eu-1"].process.Stop()
	for range 100 {
		if is := shownSlices(x.brought("us-1"), "", "http"); is != last {
			t.Fatalf("eu-1 died, and us-1 has\n%s\nwhere it had\n%s", is, last)
		}
		time.Sleep(100 * time.Millisecond)
	}
	x.write("waybill.yaml", config+"30s}}\n")
	x.commit()
	eventually(t, "its endpoints are not ready", func() (bool, string) {
		is := x.brought("us-1")
		return len(is) > 0 && ready(is) == 0, shownSlices(is, "", "http")
	})
	if is := shownSlices(x.brought("us-1"), "", "http"); is != strings.ReplaceAll(last, "ready=true", "ready=false") {
		t.Errorf("us-1 has\n%s\nwhere it had\n%s", is, last)
	}
	if err := x.apis["eu-1"].process.Restart(); err != nil {
		t.Fatal(err)
	}
	follows("they are ready again")
	t.Logf("%d events", seen.ends(t))

	// somebody has a slice be theirs: another one has what the provider has
	theirs := slices.Collect(maps.Keys(x.brought("us-1")))[0]
	x.apis["us-1"].kubectl("label", "endpointslice", "-n", "shop", theirs, "endpointslice.kubernetes.io/managed-by=somebody", "--overwrite")
	eventually(t, "another slice has it", func() (bool, string) {
		is := x.brought("us-1")
		return is[theirs].Name == "" && ready(is) == 3, shownSlices(is, "", "http")
	})

	// the MultiClusterService goes: what it brought goes, and nothing else
	own := slices.Collect(maps.Keys(x.local("us-1", "api")))
	x.remove("mcs.yaml")
	x.commit()
	eventually(t, "what was brought is gone", func() (bool, string) { return len(x.brought("us-1")) == 0, "" })
	if now := slices.Collect(maps.Keys(x.local("us-1", "api"))); !slices.Equal(own, now) {
		t.Errorf("us-1 had %v, and has %v", own, now)
	}
	if status, _ := x.apis["us-1"].do(http.MethodGet, "/api/v1/namespaces/shop/services/api", "", nil); status != http.StatusOK {
		t.Errorf("the Service: %d", status)
	}
	if all := x.slices("us-1", "endpointslice.kubernetes.io/managed-by=somebody"); all[theirs].Name == "" || ready(all) != 3 {
		t.Errorf("of what is somebody else's there is %v", all)
	}

	// by a ServiceImport, from two clusters
	x.write("exchange.yaml", `apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: api, namespace: shop}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: api, namespace: shop}
spec: {type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: exports, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport}]
  placement: {clusterAffinity: {clusterNames: [eu-1, us-2]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: imports, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}]
  placement: {clusterAffinity: {clusterNames: [us-1]}}
`)
	x.commit()
	eventually(t, "us-1 has the pods of both", func() (bool, string) {
		is, eu, us := x.brought("us-1"), x.local("eu-1", "api"), x.local("us-2", "api")
		got := shownSlices(is, "", "http", "admin")
		want := shownSlices(eu, "imported-eu-1-", "http", "admin") + "\n" + shownSlices(us, "imported-us-2-", "http", "admin")
		return ready(eu) == 3 && ready(us) == 3 && got == want, fmt.Sprintf("us-1 has\n%s\nand others\n%s", got, want)
	})
	derived := x.get("us-1", "/api/v1/namespaces/shop/services/derived-api")
	if spec, _ := derived["spec"].(map[string]any); spec["selector"] != nil || spec["clusterIP"] == nil {
		t.Errorf("derived-api is %v", derived)
	}
	for _, cluster := range []string{"eu-1", "us-2"} {
		if is := x.brought(cluster); len(is) > 0 {
			t.Errorf("%s has %v", cluster, is)
		}
		if status, _ := x.apis[cluster].do(http.MethodGet, "/api/v1/namespaces/shop/services/derived-api", "", nil); status != http.StatusNotFound {
			t.Errorf("derived-api in %s: %d", cluster, status)
		}
	}
}
