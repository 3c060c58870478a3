package agent_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/apiserver"
	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/twin"
)

const endpointSlices = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"

// exchanging is a site with clusters, each with a server of its own, between which agents bring endpoints, and do nothing else.
type exchanging struct {
	*site

	sites map[string]*site  // by cluster
	modes map[string]string // syncModes of clusters, where they are not Pull
	url   string            // of the status repository
}

func newExchanging(t *testing.T, names ...string) *exchanging {
	t.Helper()
	x := &exchanging{site: newSite(t), sites: map[string]*site{}, modes: map[string]string{}}
	backend, err := peers.GitServer(t.Context(), filepath.Dir(x.status))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(backend)
	t.Cleanup(server.Close)
	x.url = server.URL + "/" + filepath.Base(x.status)
	for _, name := range names {
		x.sites[name] = &site{
			T: t, server: apiserver.New(t, "waybill-system", "shop"), source: x.source, branches: x.branches, status: x.status, key: x.key, heart: &heart{},
		}
	}
	return x
}

// exchanges publishes that one cluster imports what the other has of the Service api, and that all are to have a ConfigMap.
func (x *exchanging) exchanges(provider, consumer string) {
	x.Helper()
	source := twin.Tree{
		"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {services: {endpoints: apply, minInterval: 1s}}\n")),
		"shop.yaml": twin.File(fmt.Appendf(nil, `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {selector: {app: api}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: api, namespace: shop}
spec: {types: [CrossCluster], ports: [{name: http, port: 80}], providerClusters: [{name: %s}], consumerClusters: [{name: %s}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
`, provider, consumer)),
	}
	for name := range x.sites {
		source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, annotations: {waybill.dev/agent-key: %q}}\nspec: {syncMode: %s}\n", name, x.key.Public().String(), cmp.Or(x.modes[name], "Pull")))
	}
	x.source.Write("main", "next", source.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: x.source, Target: x.open(x.branches, nil), Version: "test", Now: time.Now}
	if _, err := r.Publish(x.Context(), "main"); err != nil {
		x.Fatal(err)
	}
}

// has gives a cluster a slice of the Service api, as its own controller does.
func (x *exchanging) has(cluster, name, address string) {
	x.sites[cluster].server.Put(endpointSlices+name, apiserver.Object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": []any{apiserver.Object{"addresses": []any{address}}},
		"metadata": apiserver.Object{"namespace": "shop", "name": name, "labels": apiserver.Object{
			"kubernetes.io/service-name": "api", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
		}},
		"ports": []any{apiserver.Object{"name": "http", "port": 80, "protocol": "TCP"}},
	})
}

// gets waits until a cluster has a slice, or has it no more.
func (x *exchanging) gets(cluster, name string, there bool) {
	x.Helper()
	x.until(fmt.Sprintf("%s in %s: %t", name, cluster, there), func() bool { return (x.sites[cluster].server.Get(endpointSlices+name) != nil) == there })
}

// TestAnAgentForServicesOnly: it writes books and brings slices, as the head of the branch says that comes after the one before; and writes
// nothing else anywhere, whatever the branch has.
func TestAnAgentForServicesOnly(t *testing.T) {
	t.Parallel()
	x := newExchanging(t, "eu", "us")
	x.exchanges("eu", "us")
	x.has("eu", "api-1", "10.101.0.5")
	x.has("us", "api-2", "10.102.0.5")
	said := map[string]*messages{}
	for name, s := range x.sites {
		said[name] = s.runAs("agent-"+name, func(a *agent.Agent) {
			a.ServicesOnly = true
			repo, err := git.Open(t.Context(), git.Options{Location: x.url, CacheDir: t.TempDir(), Sign: s.key.SignCommit})
			if err != nil {
				t.Fatal(err)
			}
			a.Books = agent.Books{Agents: git.LooseOf(repo)}
			a.Applier.Published = &published.Reader{Branches: published.At(s.open(s.branches, nil))}
		}, name).said
	}
	x.gets("us", "eu-api-1", true)
	if refs := x.git(x.status, "for-each-ref", "--format=%(refname)"); refs != "refs/waybill/endpoints/eu" {
		t.Errorf("the status repository has %s", refs)
	}

	// the other way round
	before := x.git(x.branches, "rev-parse", "waybill/cluster/us")
	x.exchanges("us", "eu")
	x.gets("eu", "us-api-2", true)
	x.gets("us", "eu-api-1", false)

	// somebody sets the branch back
	after := x.git(x.branches, "rev-parse", "waybill/cluster/us")
	x.git(x.branches, "update-ref", "refs/heads/waybill/cluster/us", before)
	x.until("it is refused", func() bool { return said["us"].has("endpoints go by what counted before") })
	x.git(x.branches, "update-ref", "refs/heads/waybill/cluster/us", after)
	x.has("us", "api-3", "10.102.0.6")
	x.gets("eu", "us-api-3", true)
	if x.sites["us"].server.Get(endpointSlices+"eu-api-1") != nil {
		t.Error("a branch that was set back counted")
	}

	// or the state branch, which says what there is to exchange
	after = x.git(x.branches, "rev-parse", "waybill/state")
	x.git(x.branches, "update-ref", "refs/heads/waybill/state", after+"~1")
	for _, name := range []string{"eu", "us"} {
		x.until("the state is refused", func() bool { return said[name].has("the head of waybill/state") })
	}
	x.git(x.branches, "update-ref", "refs/heads/waybill/state", after)

	// a cluster becomes the controller's, and comes back
	x.modes["us"] = "Push"
	x.exchanges("us", "eu")
	x.until("the cluster is left", func() bool { return said["us"].has("the syncMode of the cluster is not Pull") })
	x.modes["us"] = "Pull"
	x.exchanges("us", "eu")
	x.has("us", "api-4", "10.102.0.7")
	x.gets("eu", "us-api-4", true)

	refs := strings.Fields(x.git(x.status, "for-each-ref", "--format=%(refname)"))
	if !slices.Equal(refs, []string{"refs/waybill/endpoints/eu", "refs/waybill/endpoints/us"}) {
		t.Errorf("the status repository has %v", refs)
	}
	for _, name := range slices.Sorted(maps.Keys(x.sites)) {
		s := x.sites[name]
		for _, w := range s.touched() {
			if !strings.Contains(w, " "+endpointSlices) {
				t.Errorf("%s: %s", name, w)
			}
		}
		if n := len(s.heart.all()); n > 0 {
			t.Errorf("%s: %d heartbeats", name, n)
		}
	}
}
