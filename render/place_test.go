package render_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

func TestFindPrefersThePlace(t *testing.T) {
	at := func(file string) []*object.Object {
		return object.Decode(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n")).Objects
	}
	s := render.Source{Objects: at("all"), Bound: map[string][]*object.Object{"eu": at("eu"), "us": at("us")}}
	x := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}
	for _, cluster := range []string{"", "eu", "us"} {
		file := cluster
		if file == "" {
			file = "all"
		}
		if o := s.Find(render.Place{Cluster: cluster, Ref: x}); o == nil || o.Pos().File != file {
			t.Errorf("in %q it finds %v", cluster, o)
		}
	}
	if o := s.Find(render.Place{Cluster: "ap", Ref: x}); o == nil {
		t.Error("what stands elsewhere is not found")
	}
	if o := s.Find(render.Place{Ref: object.Ref{Kind: "ConfigMap", Name: "y"}}); o != nil {
		t.Errorf("it finds %v", o)
	}
}

func TestPlacesOfTheWholeSourceComeFirst(t *testing.T) {
	a, b := object.Ref{Kind: "ConfigMap", Name: "a"}, object.Ref{Kind: "ConfigMap", Name: "b"}
	want := []render.Place{{Ref: a}, {Ref: b}, {Cluster: "eu", Ref: a}, {Cluster: "us", Ref: a}}
	got := slices.SortedFunc(slices.Values([]render.Place{want[3], want[1], want[2], want[0]}), render.Place.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("they are %v", got)
	}
}
