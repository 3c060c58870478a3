package state_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

func TestWhyGone(t *testing.T) {
	x := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}
	web := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: "web"}
	of := func(cluster string) []state.Release {
		return []state.Release{{Cluster: cluster, Release: web, Objects: []object.Ref{x}}}
	}
	for _, tt := range []struct {
		name      string
		was, now  []state.Release
		want      string
		inCluster string
	}{
		{"it was in no release", nil, nil, "it is no longer in the source", "eu"},
		{"the release renders something else", of(""), of(""), web.String() + " no longer renders it", "eu"},
		{"the release went", of(""), nil, web.String() + ", which rendered it, is no longer in the source", "eu"},
		{"a release of another cluster", of("us"), nil, "it is no longer in the source", "eu"},
		{"a release of the cluster went to the whole source", of("eu"), of(""), web.String() + ", which rendered it, is no longer in the source", "eu"},
	} {
		s := state.State{Releases: tt.was}
		if got := s.WhyGone(tt.now, x, tt.inCluster); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
