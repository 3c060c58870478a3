package applier_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/apiserver"
	"github.com/waybill-dev/waybill/test/twin"
)

// site is what is published for the cluster eu, and its API server.
type site struct {
	*testing.T

	server           *apiserver.Server
	source, branches *twin.Repo
	applier          applier.Applier
	apply            string // of its config
	more             string // an object, which it is to have, too
	isShared         bool   // the branch that it is published on
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, server: apiserver.New(t, "waybill-system", "shop"), source: twin.New("source"), branches: twin.New("branches")}
	s.applier = applier.Applier{
		Published: &published.Reader{Branches: published.At(s.branches)}, Now: time.Now,
		Access: clusters.Access{Folder: s.server.Kubeconfigs(t, "eu")},
	}
	return s
}

// configMap is the path of a ConfigMap on the server.
func configMap(name string) string { return "/api/v1/namespaces/shop/configmaps/" + name }

// ref is that of a ConfigMap.
func ref(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// publish publishes the cluster, with annotations, which is to have ConfigMaps of some names.
func (s *site) publish(annotations string, names ...string) (*published.Desired, *karmada.Cluster) {
	s.Helper()
	source := twin.Tree{
		"policy.yaml": twin.File([]byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}]\n  placement: {}\n")),
		"eu.yaml":     twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {%s}}\nspec: {syncMode: Push}\n", annotations)),
	}
	layout := map[bool]string{false: "branches", true: "folders"}[s.isShared]
	source["waybill.yaml"] = twin.File(fmt.Appendf(
		nil, "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {apply: {%s}, publish: {layout: %s}}\n", s.apply, layout,
	))
	for _, name := range names {
		source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata: {k: v}\n", name))
	}
	if s.more != "" {
		source["more.yaml"] = twin.File([]byte(s.more))
	}
	s.source.Write("main", "next", source.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: s.source, Target: s.branches, Version: "test", Now: time.Now}
	if _, err := r.Publish(s.Context(), "main"); err != nil {
		s.Fatal(err)
	}
	in, err := s.applier.Published.Desired(s.Context(), "", files.ID{})
	if err != nil || len(in.Clusters) != 1 {
		s.Fatalf("%d clusters: %v", len(in.Clusters), err)
	}
	return &in, in.Clusters[0]
}

// owned puts a ConfigMap on the server that Waybill applied for an owner.
func (s *site) owned(name, owner string) {
	s.server.Put(configMap(name), apiserver.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": apiserver.Object{
			"name": name, "namespace": "shop", "annotations": apiserver.Object{apply.OwnerAnnotation: owner},
			"managedFields": []any{apiserver.Object{"manager": apply.Manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": apiserver.Object{"f:data": apiserver.Object{"f:k": apiserver.Object{}}}}},
		},
		"data": apiserver.Object{"k": "v"},
	})
}

// TestWhatALostInventoryLeft lists what is ours, and neither on the branch nor in the inventory; and what it finds although not every
// kind may be listed.
func TestWhatALostInventoryLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	in, eu := s.publish("", "settings", "extra")
	if res := s.applier.Apply(t.Context(), in, eu); res.Err != nil || res.Failed() {
		t.Fatalf("%v, %+v", res.Err, res.Report)
	}
	in, eu = s.publish("", "settings")
	s.owned("old", in.Owner("eu"))
	s.owned("theirs", "https://example.com/other")
	orphans := func(want ...object.Ref) {
		t.Helper()
		if got, err := s.applier.Orphans(t.Context(), in, eu); err != nil || !slices.Equal(got, want) {
			t.Errorf("it lists %v, %v; want %v", got, err, want)
		}
	}
	orphans(ref("old")) // the inventory has extra
	for _, path := range s.server.Paths("/api/v1/namespaces/waybill-system/secrets/") {
		s.server.Remove(path)
	}
	orphans(ref("extra"), ref("old"))
	s.server.Before(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/jobs") {
			return http.StatusForbidden
		}
		return 0
	})
	got, err := s.applier.Orphans(t.Context(), in, eu)
	if err == nil || !strings.Contains(err.Error(), "jobs") || !slices.Equal(got, []object.Ref{ref("extra"), ref("old")}) {
		t.Errorf("where Jobs may not be listed it lists %v, %v", got, err)
	}
}
