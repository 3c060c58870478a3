package match

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/render/object"
)

func TestWhyAnObjectIsSkipped(t *testing.T) {
	config := func(namespace, name string) object.Ref {
		return object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}
	}
	for _, tt := range []struct {
		apiVersion string
		ref        object.Ref
		labels     labels.Set
		skip       []string
		skipped    bool
	}{
		{"v1", config("shop", "a"), nil, nil, false},
		{"v1", object.Ref{Kind: "Event", Namespace: "shop", Name: "a"}, nil, nil, true},
		{"example.com/v1", object.Ref{Group: "example.com", Kind: "Event", Namespace: "shop", Name: "a"}, nil, nil, false},
		{"events.k8s.io/v1", object.Ref{Group: "events.k8s.io", Kind: "Event", Namespace: "shop", Name: "a"}, nil, nil, true},
		{"coordination.k8s.io/v1", object.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: "shop", Name: "a"}, nil, nil, true},
		{"v1", config("kube-system", "a"), nil, nil, false},
		{"v1", config("kube-system", "a"), nil, []string{"kube-.*"}, true},
		{"v1", config("my-kube-system", "a"), nil, []string{"kube-.*"}, false},
		{"v1", config("", "a"), nil, []string{"*"}, false},
		{"v1", config("karmada-es-eu", "a"), nil, nil, true},
		{"v1", config("karmada-es-eu", "a"), nil, []string{"shop"}, true},
		{"v1", config("shop", "kube-root-ca.crt"), nil, nil, true},
		{"v1", config("kube-system", "extension-apiserver-authentication"), nil, nil, true},
		{"v1", object.Ref{Kind: "Secret", Namespace: "shop", Name: "kube-root-ca.crt"}, nil, nil, false},
		{"v1", object.Ref{Kind: "Namespace", Name: "default"}, nil, nil, true},
		{"v1", object.Ref{Kind: "Namespace", Name: "kube-flannel"}, nil, nil, true},
		{"v1", object.Ref{Kind: "Namespace", Name: "kubeflow"}, nil, nil, false},
		{"example.com/v1", object.Ref{Group: "example.com", Kind: "Namespace", Name: "default"}, nil, nil, false},
		{"v1", object.Ref{Kind: "Service", Namespace: "shop", Name: "a"}, labels.Set{ClaimedBy: "MultiClusterService"}, nil, true},
		{"work.karmada.io/v1alpha2", object.Ref{Group: "work.karmada.io", Kind: "ResourceBinding", Namespace: "shop", Name: "a"}, nil, nil, true},
	} {
		if why := NewSkips(tt.skip).Why(tt.apiVersion, tt.ref, tt.labels); (why != "") != tt.skipped {
			t.Errorf("%s is skipped because %q, want %t (skipNamespaces: %q)", tt.ref, why, tt.skipped, tt.skip)
		}
	}
}

func TestANamespaceIsNotSentAlong(t *testing.T) {
	skips := NewSkips([]string{"team-*"})
	for name, want := range map[string]bool{
		"shop": false, "default": true, "kube-system": true, "kubeflow": false, "karmada-system": true, "team-a": true,
	} {
		if got := skips.Namespace(name, nil); got != want {
			t.Errorf("%s is skipped: %t, want %t", name, got, want)
		}
	}
	if !skips.Namespace("shop", labels.Set{"namespace.karmada.io/skip-auto-propagation": "True"}) {
		t.Error("the label is passed over")
	}
}

// TestWhatEveryClusterHasIsSaid: what clusters have of their own, and of nothing else, a notice says that it is not delivered.
func TestWhatEveryClusterHasIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Namespace\nmetadata: {name: kube-system}": "Namespace/kube-system is not delivered: each cluster has its own",
		"kind: Namespace\nmetadata: {name: shop}":        "",
	} {
		d := Own(object.Decode("a.yaml", []byte("apiVersion: v1\n"+text+"\n")).Objects[0])
		if got := d != nil; got != (want != "") || got && (d.Message != want || d.Pos.Line != 1) {
			t.Errorf("of %q said is %v", text, d)
		}
	}
}
