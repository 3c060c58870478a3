package unlisted_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/unlisted"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// objects reads objects of a file: kinds and names, as "ConfigMap a".
func objects(file string, all ...string) (out []*object.Object) {
	for _, o := range all {
		kind, name, _ := strings.Cut(o, " ")
		group := map[string]string{"PropagationPolicy": "policy.karmada.io/v1alpha1", "HelmRelease": "helm.toolkit.fluxcd.io/v2"}[kind]
		if group == "" {
			group = "v1"
		}
		out = append(out, object.Decode(file, []byte("apiVersion: "+group+"\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: shop}\n")).Objects...)
	}
	return out
}

// said lists what stays: cluster, object and file.
func said(all []state.Unlisted) string {
	var words []string
	for _, u := range all {
		words = append(words, fmt.Sprintf("%s:%s/%s@%s", u.Cluster, u.Object.Kind, u.Object.Name, u.File))
	}
	return strings.Join(words, " ")
}

// That a file is not read any longer is no order to delete what it holds; that it is gone, or says something else, is.
func TestWhatStaysThoughNothingListsIt(t *testing.T) {
	older := func(more ...*object.Object) render.Source {
		return render.Source{Objects: append(objects("a/extra.yaml", "ConfigMap x"), more...), Bound: map[string][]*object.Object{"eu": objects("eu/extra.yaml", "ConfigMap own")}}
	}
	passed := []string{"a/extra.yaml", "eu/extra.yaml"} // which nothing lists
	release := &state.State{Releases: []state.Release{
		{Release: objects("", "HelmRelease web")[0].Ref(), Objects: []object.Ref{objects("", "ConfigMap inner")[0].Ref(), objects("", "HelmRelease deep")[0].Ref()}},
		{Release: objects("", "HelmRelease deep")[0].Ref(), Objects: []object.Ref{objects("", "ConfigMap deeper")[0].Ref()}},
		{Cluster: "eu", Release: objects("", "HelmRelease web")[0].Ref(), Objects: []object.Ref{objects("", "ConfigMap of-eu")[0].Ref()}},
	}}
	for _, tt := range []struct {
		name          string
		state         *state.State
		older, source render.Source
		want          string
	}{
		{"what nothing lists", &state.State{}, older(), render.Source{Unlisted: passed}, ":ConfigMap/x@a/extra.yaml eu:ConfigMap/own@eu/extra.yaml"},
		{"what is read elsewhere, too", &state.State{}, older(), render.Source{Unlisted: passed, Objects: objects("b.yaml", "ConfigMap x")}, "eu:ConfigMap/own@eu/extra.yaml"},
		{"what a cluster's folder has by that name", &state.State{}, older(), render.Source{Unlisted: passed, Bound: map[string][]*object.Object{"us": objects("us/b.yaml", "ConfigMap own")}}, ":ConfigMap/x@a/extra.yaml eu:ConfigMap/own@eu/extra.yaml"},
		{"of a file that is gone", &state.State{}, older(), render.Source{Unlisted: []string{"eu/extra.yaml"}}, "eu:ConfigMap/own@eu/extra.yaml"},
		{"of a folder that cannot be read", &state.State{}, older(), render.Source{Broken: []render.Broken{{Path: "a", Dir: true}}}, ":ConfigMap/x@a/extra.yaml"},
		{"a policy", &state.State{}, older(objects("a/extra.yaml", "PropagationPolicy p")...), render.Source{Unlisted: passed[:1]}, ":ConfigMap/x@a/extra.yaml"},
		{"a release, with what it rendered to", release, render.Source{Objects: objects("a/extra.yaml", "HelmRelease web")}, render.Source{Unlisted: passed}, ":ConfigMap/deeper@a/extra.yaml :ConfigMap/inner@a/extra.yaml :HelmRelease/deep@a/extra.yaml :HelmRelease/web@a/extra.yaml"},
		{"a release of a cluster", release, render.Source{Bound: map[string][]*object.Object{"eu": objects("eu/extra.yaml", "HelmRelease web")}}, render.Source{Unlisted: passed}, "eu:ConfigMap/of-eu@eu/extra.yaml eu:HelmRelease/web@eu/extra.yaml"},
	} {
		if got := said(unlisted.Found(tt.state, tt.older, tt.source)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// It stays as long as its file is there and nothing lists that.
func TestHowLongItStays(t *testing.T) {
	all := []state.Unlisted{{Object: object.Ref{Kind: "ConfigMap", Name: "x"}, File: "a/extra.yaml"}, {Cluster: "eu", Object: object.Ref{Kind: "ConfigMap", Name: "own"}, File: "eu/extra.yaml"}}
	for _, tt := range []struct {
		name   string
		source render.Source
		want   string
	}{
		{"both files are there", render.Source{Unlisted: []string{"a/extra.yaml", "eu/extra.yaml"}}, ":ConfigMap/x@a/extra.yaml eu:ConfigMap/own@eu/extra.yaml"},
		{"one is gone, or is listed now", render.Source{Unlisted: []string{"eu/extra.yaml"}}, "eu:ConfigMap/own@eu/extra.yaml"},
		{"one cannot be read", render.Source{Broken: []render.Broken{{Path: "a/extra.yaml"}}}, ":ConfigMap/x@a/extra.yaml"},
		{"none is", render.Source{}, ""},
	} {
		if got := said(unlisted.Still(all, tt.source)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if said(all) != ":ConfigMap/x@a/extra.yaml eu:ConfigMap/own@eu/extra.yaml" {
		t.Errorf("what was given is %s by now", said(all))
	}
}
