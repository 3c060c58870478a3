package namespaced_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/namespaced"
	"github.com/waybill-dev/waybill/render/object"
)

// What a release renders gets the namespace of the release, or loses one, only where its kind is known to have it or not. A kind that
// nothing defines may have a namespace whatever it is called, so that the one which a chart wrote stays.
func TestReleased(t *testing.T) {
	kinds := namespaced.Of(object.Decode("crd.yaml", []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cranes.example.com}
spec: {group: example.com, names: {kind: Crane}, scope: Cluster}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterings.example.com}
spec: {group: example.com, names: {kind: Clustering}, scope: Namespaced}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: none}
`)).Objects)
	for _, tt := range []struct{ kind, in, want string }{
		{"apps/v1 Deployment", "", "shop"},
		{"apps/v1 Deployment", "db", "db"},
		{"v1 Namespace", "", ""},
		{"v1 Namespace", "db", ""},
		{"rbac.authorization.k8s.io/v1 ClusterRole", "db", ""},
		{"rbac.authorization.k8s.io/v1 Role", "", "shop"},
		{"multicluster.x-k8s.io/v1alpha1 ServiceExport", "", "shop"},
		{"placement.kubernetes-fleet.io/v1 ClusterStagedUpdateRun", "db", ""},
		{"placement.kubernetes-fleet.io/v1 StagedUpdateRun", "", "shop"},
		{"example.com/v1 Crane", "db", ""},
		{"example.com/v1 Clustering", "", "shop"},
		{"other.com/v1 Crane", "", "shop"},
		{"other.com/v1 Crane", "db", "db"},
		{"other.com/v1 ClusterIssuer", "", ""},
		{"other.com/v1 ClusterIssuer", "db", "db"},
		{"other.com/v1 GatewayClass", "", ""},
		{"other.com/v1 GatewayClass", "db", "db"},
	} {
		if got := kinds.Released(decode(t, tt.kind, tt.in), "shop").Ref().Namespace; got != tt.want {
			t.Errorf("%s in %q is installed in %q, want %q", tt.kind, tt.in, got, tt.want)
		}
	}
}

// decode is an object of a kind, as in "apps/v1 Deployment".
func decode(t *testing.T, kind, namespace string) *object.Object {
	t.Helper()
	version, name, _ := strings.Cut(kind, " ")
	d := object.Decode("a.yaml", []byte("apiVersion: "+version+"\nkind: "+name+"\nmetadata: {name: a, namespace: '"+namespace+"'}\n"))
	if len(d.Objects) != 1 {
		t.Fatal(d.Diags)
	}
	return d.Objects[0]
}

// TestWhichKindsHaveNamespaces: those of Kubernetes and of Karmada are all known, and those that nobody defines are not.
func TestWhichKindsHaveNamespaces(t *testing.T) {
	kinds := namespaced.Of()
	for kind, want := range map[object.GroupKind][2]bool{ // has a namespace, is known
		{Kind: "Secret"}: {true, true}, {Kind: "PersistentVolume"}: {false, true},
		{Group: "batch", Kind: "Job"}: {true, true}, {Group: "policy", Kind: "PodDisruptionBudget"}: {true, true}, {Group: "storage.k8s.io", Kind: "StorageClass"}: {false, true},
		{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}: {true, true}, {Group: "autoscaling.karmada.io", Kind: "FederatedHPA"}: {true, true},
		{Group: "policy.karmada.io", Kind: "PropagationPolicy"}: {true, true}, {Group: "policy.karmada.io", Kind: "ClusterPropagationPolicy"}: {false, true},
		{Group: "multicluster.x-k8s.io", Kind: "ServiceImport"}: {true, true}, {Group: "multicluster.x-k8s.io", Kind: "Other"}: {false, false},
		{Group: namespaced.Placements, Kind: "StagedUpdateStrategy"}: {true, true}, {Group: namespaced.Placements, Kind: "ClusterStagedUpdateStrategy"}: {false, true},
		{Group: namespaced.Placements, Kind: "ResourcePlacement"}: {false, false}, {Group: "example.com", Kind: "Crane"}: {false, false},
	} {
		if has, known := kinds.Namespaced(kind.Group, kind.Kind); [2]bool{has, known} != want {
			t.Errorf("%v has a namespace: %t, which is known: %t", kind, has, known)
		}
	}
	if !namespaced.IsRollout("ApprovalRequest") || namespaced.IsRollout("ResourcePlacement") {
		t.Error("what is about roll-outs is not told from what is not")
	}
}
