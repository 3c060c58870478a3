package updates_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

const twoPolicies = `apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: web, namespace: shop}
spec: {image: ghcr.io/acme/web}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: api, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: last, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: 1.x}}}
`

const twoObjects = `# of nobody
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data:
  a: ghcr.io/acme/web:1.0.0 # {"$imagepolicy": "shop:web"}
  b: ghcr.io/acme/web:1.0.0 # {"$imagepolicy": "shop:web"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: api, namespace: shop}
data:
  a: ghcr.io/acme/web:1.0.0 # {"$imagepolicy": "shop:api"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: last, namespace: shop}
data:
  a: ghcr.io/acme/web:1.0.0 # {"$imagepolicy": "shop:last"}
`

// TestAt: an object has the subscriptions of its own values, and not those of the next one of its file; a release has the chart that it names.
func TestAt(t *testing.T) {
	chart := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "podinfo", Constraint: "1.x"}
	locked := lock.Lock{}.With(lock.Entry{Ref: chart, Version: "1.0.0", URL: "https://charts.example/podinfo-1.0.0.tgz", Digest: "sha256:" + string(slices.Repeat([]byte("a"), 64))})
	repo := twin.New("fleet")
	repo.Write("main", "a source", twin.Tree{
		"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest}}\n")),
		"images.yaml":  twin.File([]byte(twoPolicies)), "apps.yaml": twin.File([]byte(twoObjects)), lock.FileName: twin.File(locked.Encode()),
	}.Folder())
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	read, err := render.Load(t.Context(), s, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	release := diag.Pos{File: "releases.yaml", Line: 7}
	source, err := updates.Read(s, &read, updates.Charts{Uses: []planner.ChartUse{{Ref: chart, By: []planner.Cited{{Pos: release, What: "HelmRelease shop/podinfo"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	others := []diag.Pos{release}
	for _, o := range read.Objects {
		others = append(others, o.Origin())
	}
	for _, tt := range []struct {
		at   diag.Pos
		want []string
	}{
		{diag.Pos{File: "apps.yaml", Line: 2}, []string{"shop/web"}},
		{diag.Pos{File: "apps.yaml", Line: 9}, []string{"shop/api"}},
		{diag.Pos{File: "apps.yaml", Line: 15}, []string{"shop/last"}},
		{diag.Pos{File: "images.yaml", Line: 1}, nil},
		{release, []string{"_charts/podinfo-1ea5a2d1"}},
		{diag.Pos{File: "releases.yaml", Line: 8}, nil},
	} {
		for range 2 { // in either order
			var got []string
			for _, sub := range source.At(tt.at, others) {
				got = append(got, sub.Name().String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("at %s there are %v, want %v", tt.at, got, tt.want)
			}
			slices.Reverse(others)
		}
	}
}
