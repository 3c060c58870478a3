//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/test/peers"
)

// followed is a site whose clusters Flux syncs: real ones, with nodes, with both of its controllers,
// and with what `get flux` prints.
type followed struct {
	*site

	url string // of the repository of the branches
}

func newFollowed(t *testing.T, waybill string, apis map[string]*api) *followed {
	t.Helper()
	f := &followed{site: newSite(t, waybill, apis)}
	f.owns = func(cluster string, live map[string]any) bool {
		return text(live, "metadata", "labels", "kustomize.toolkit.fluxcd.io/name") == "waybill-"+cluster
	}
	git, err := peers.GitServer(t.Context(), filepath.Dir(f.bare))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(git)
	t.Cleanup(server.Close)
	f.url = server.URL + "/" + filepath.Base(f.bare)
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	for cluster, region := range map[string]string{"eu-1": "eu", "us-1": "us"} {
		f.write("clusters/"+cluster+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+cluster+", annotations: {waybill.dev/age-recipients: "+toAnna+"}}\nspec: {syncMode: Pull, region: "+region+"}\n")
	}
	return f
}

// commits publishes the source, which ends with a status, and waits until the clusters follow.
func (f *followed) commits(step string, status int, flags ...string) {
	f.t.Helper()
	f.commit()
	if got, out := f.run(append([]string{"publish", f.source, "--to", f.bare}, flags...)...); got != status {
		f.t.Fatalf("%s: publish: status %d, want %d\n%s", step, got, status, out)
	}
	f.arrives(step)
}

// arrives waits until Flux has applied the heads of the branches, and holds that all that is there is as it
// is there.
func (f *followed) arrives(step string) {
	f.t.Helper()
	for cluster, a := range f.apis {
		branch := "waybill/cluster/" + cluster
		revision := branch + "@sha1:" + strings.TrimSpace(f.git(f.bare, "rev-parse", branch))
		f.asks(cluster, "gitrepository")
		eventually(f.t, step+": "+cluster+" is at "+revision, func() (bool, string) {
			for _, k := range a.list(fluxObjects) {
				if ready, why := k.ready(); !ready || k.Status.LastAppliedRevision != revision {
					return false, k.Metadata.Name + ": " + why + " at " + k.Status.LastAppliedRevision
				}
			}
			return true, ""
		})
	}
	for cluster := range f.apis {
		f.settles(cluster) // what is pruned ends after a moment
	}
	f.divided(step)
}

// asks has Flux look now, and not when it would.
func (f *followed) asks(cluster, kind string) {
	f.t.Helper()
	f.apis[cluster].kubectl("-n", "flux-system", "annotate", "--overwrite", kind+"/waybill-"+cluster, "reconcile.fluxcd.io/requestedAt="+time.Now().Format(time.RFC3339Nano))
}

// divided holds that as many replicas run as the bindings on the state branch say.
func (f *followed) divided(step string) {
	f.t.Helper()
	counted := 0
	for path := range strings.FieldsSeq(f.git(f.bare, "ls-tree", "-r", "--name-only", "waybill/state", "bindings/")) {
		var b struct {
			Spec struct {
				Resource struct{ Kind, Namespace, Name string }
				Clusters []struct {
					Name     string
					Replicas int
				}
			}
		}
		if err := sigsyaml.Unmarshal([]byte(f.git(f.bare, "show", "waybill/state:"+path)), &b); err != nil {
			f.t.Fatalf("%s: %v", path, err)
		}
		r := b.Spec.Resource
		for _, c := range b.Spec.Clusters {
			if r.Kind != "Deployment" {
				continue
			}
			counted++
			want := fmt.Sprintf("%[1]d %[1]d %[1]d", c.Replicas)
			eventually(f.t, fmt.Sprintf("%s: %s of %s run in %s", step, want, r.Name, c.Name), func() (bool, string) {
				got := f.apis[c.Name].kubectl("-n", r.Namespace, "get", "deployment", r.Name, "-o", "jsonpath={.spec.replicas} {.status.replicas} {.status.availableReplicas}")
				return got == want, got
			})
		}
	}
	if counted == 0 {
		f.t.Errorf("%s: no binding is of a Deployment", step)
	}
}

// places is a policy that sends Deployments of a name somewhere.
func places(name, placement string) string {
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name + ", namespace: shop}\n" +
		"spec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: " + name + "}]\n  placement: {" + placement + "}\n"
}

// policies sends worker to a cluster, divides web over both, and sends everything else to both, but what is
// in the namespace batch.
func (f *followed) policies(worker string) {
	f.t.Helper()
	f.write("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  placement: {}
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap}
  - {apiVersion: v1, kind: Secret}
  - {apiVersion: v1, kind: Service}
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}
  - {apiVersion: example.com/v1, kind: Widget}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: batch, namespace: batch}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {clusterAffinity: {clusterNames: [us-1]}}}
`+places("worker", "clusterAffinity: {clusterNames: ["+worker+"]}")+places("web", `replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList:
    [{targetCluster: {clusterNames: [eu-1]}, weight: 2}, {targetCluster: {clusterNames: [us-1]}, weight: 1}]}}`))
}

func (f *followed) deploys(name string, replicas int) {
	f.t.Helper()
	d := strings.ReplaceAll(web("shop", name, name, ""), "name: web", "name: "+name)
	f.write(name+".yaml", strings.Replace(d, "replicas: 2", fmt.Sprintf("replicas: %d", replicas), 1))
}

func (f *followed) secret(value string) {
	f.t.Helper()
	f.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\nstringData: {password: "+value+"}\n")
}

// hasSecret holds that the Secret is in the clusters as it was before it was encrypted.
func (f *followed) hasSecret(step, value string) {
	f.t.Helper()
	for cluster := range f.apis {
		onBranch := f.git(f.bare, "show", "waybill/cluster/"+cluster+":manifests/shop/secret/login.yaml")
		if !strings.Contains(onBranch, "ENC[") || strings.Contains(onBranch, value) {
			f.t.Errorf("%s: the branch of %s has it as it is", step, cluster)
		}
		got, err := base64.StdEncoding.DecodeString(text(f.get(cluster, at("Secret", "shop", "login")), "data", "password"))
		if string(got) != value || err != nil {
			f.t.Errorf("%s: %s has %q (%v), want %q", step, cluster, got, err, value)
		}
	}
}
