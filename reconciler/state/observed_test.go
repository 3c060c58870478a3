package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/sources/files"
)

func status(cpu string) *karmada.ClusterStatus {
	return &karmada.ClusterStatus{
		KubernetesVersion: "v1.35.0", NodeSummary: &karmada.NodeSummary{TotalNum: 1},
		ResourceSummary: &karmada.ResourceSummary{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu)}},
	}
}

func TestWhatWasObservedStaysWithItsCluster(t *testing.T) {
	decode := func(root *files.Folder, earlier *State) State {
		t.Helper()
		s, err := Decode(root, earlier)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	content := Content{Clusters: []policies.Cluster{{Spec: karmada.Cluster{}}, {Spec: karmada.Cluster{}}}}
	content.Clusters[0].Spec.Name, content.Clusters[1].Spec.Name = "eu", "us"
	planned, err := Encode(content, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Observe(planned, map[string]*karmada.ClusterStatus{"eu": status("4"), "us": status("8")})
	if err != nil {
		t.Fatal(err)
	}
	if !OnlyObserved(planned, root) || !OnlyObserved(root, planned) {
		t.Error("something else changed")
	}
	first := decode(root, nil)
	if d := cmp.Diff(map[string]*karmada.ClusterStatus{"eu": status("4"), "us": status("8")}, first.Observed) + cmp.Diff(first.Observed, Observed(root)); d != "" {
		t.Error(d)
	}
	if again := decode(root, &first); again.Observed["eu"] != first.Observed["eu"] {
		t.Error("what is as it was is read again")
	}
	next, err := Encode(content, &first, nil)
	if err != nil {
		t.Fatal(err)
	}
	if next.ID() != root.ID() {
		t.Error("a plan loses what was observed")
	}
	later, err := Observe(root, map[string]*karmada.ClusterStatus{"us": status("9")})
	if err != nil {
		t.Fatal(err)
	}
	second := decode(later, &first)
	if second.Observed["eu"] != first.Observed["eu"] || cmp.Diff(status("9"), second.Observed["us"]) != "" {
		t.Errorf("%+v", second.Observed)
	}
	content.Clusters = content.Clusters[:1]
	fewer, err := Encode(content, &second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(fewer, nil).Observed; len(got) != 1 || got["eu"] == nil {
		t.Errorf("us is not registered any more: %+v", got)
	}
}

func TestWhatWasObservedAndCannotBeReadStopsAPlan(t *testing.T) {
	for name, text := range map[string]string{"no YAML": "{", "another cluster's": "metadata: {name: us}\nstatus: {kubernetesVersion: v1}\n"} {
		root := files.NewFolder([]files.Entry{files.DirEntry("observed", files.NewFolder([]files.Entry{files.FileEntry("eu.yaml", files.NewBlob([]byte(text)))}))})
		_, err := Decode(root, nil)
		if err == nil || !strings.Contains(err.Error(), "observed/eu.yaml cannot be read") || len(Observed(root)) != 0 {
			t.Errorf("%s: %v", name, err)
		}
		mended, err := Observe(root, map[string]*karmada.ClusterStatus{"eu": status("4")})
		if err != nil || len(Observed(mended)) != 1 {
			t.Errorf("%s is not written anew: %v", name, err)
		}
	}
}
