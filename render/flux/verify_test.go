package flux_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// verified is a HelmRelease by a chart template, and one by an OCIRepository, with Secrets.
const verified = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {url: oci://ghcr.io/acme/charts, type: oci}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  chart:
    spec:
      chart: web
      sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}
      verify: {provider: cosign, secretRef: {name: keys}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: api, namespace: flux-system}
spec:
  url: oci://ghcr.io/acme/charts/api
  ref: {semver: 1.x}
  verify: {secretRef: {name: keys}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: api, namespace: shop}
spec: {chartRef: {kind: OCIRepository, name: api, namespace: flux-system}}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: flux-system}
stringData: {cosign.pub: first, note: no key}
data: {second.pub: c2Vjb25k}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
stringData: {cosign.pub: of another namespace}
`

// What verify asks is what Flux reads: all entries of the Secret that end with .pub, where the HelmChart would be. What cannot
// be checked says why.
func TestVerification(t *testing.T) {
	keys := []string{"first", "second"}
	for name, tt := range map[string]struct {
		release  string
		old, now string
		by       string // empty: nothing is asked
		keys     []string
		problem  string
	}{
		"of a chart template":    {release: "web", by: "HelmRelease shop/web", keys: keys},
		"of an OCIRepository":    {release: "api", by: "OCIRepository flux-system/api", keys: keys},
		"of a HelmChart":         {release: "api", old: "kind: OCIRepository", now: "kind: HelmChart", by: "HelmChart flux-system/api", keys: keys},
		"in its own namespace":   {release: "web", old: "name: charts, namespace: flux-system}\n      verify", now: "name: charts}\n      verify", by: "HelmRelease shop/web", keys: []string{"of another namespace"}},
		"nothing":                {release: "web", old: "verify: {provider: cosign, secretRef: {name: keys}}", now: "version: 1.x"},
		"a source that is none":  {release: "api", old: "name: api, namespace: flux-system}}", now: "name: none}}"},
		"notation":               {release: "web", old: "provider: cosign", now: "provider: notation", by: "HelmRelease shop/web", problem: `is "notation"`},
		"without a key":          {release: "web", old: "provider: cosign, secretRef: {name: keys}", now: "provider: cosign", by: "HelmRelease shop/web", problem: "has no secretRef"},
		"keys that are not here": {release: "web", old: "secretRef: {name: keys}}\n---", now: "secretRef: {name: none}}\n---", by: "HelmRelease shop/web", problem: "Secret flux-system/none with its keys is not in the source"},
		"no key in the Secret":   {release: "api", old: "stringData: {cosign.pub: first, note: no key}\ndata: {second.pub: c2Vjb25k}", now: "stringData: {note: no key}", by: "OCIRepository flux-system/api", problem: "none of its entries ends with .pub"},
		"an encrypted Secret": {
			release: "api", old: "stringData: {cosign.pub: first, note: no key}\ndata: {second.pub: c2Vjb25k}", by: "OCIRepository flux-system/api", problem: "is encrypted",
			now: "stringData: {cosign.pub: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\nsops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', lastmodified: '2026-11-21T00:00:00Z', version: 3.9.0}",
		},
		"what is no base64": {release: "api", old: "c2Vjb25k", now: "'*'", by: "OCIRepository flux-system/api", problem: "is no base64"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(verified, tt.old) {
				t.Fatalf("%q is not in the fixture", tt.old)
			}
			d := object.Decode("all.yaml", []byte(strings.ReplaceAll(verified, tt.old, tt.now)))
			if tt.old == "" {
				d = object.Decode("all.yaml", []byte(verified))
			}
			repository := flux.Identify(nil, d.Objects, nil)
			i := slices.IndexFunc(d.Objects, func(o *object.Object) bool { return flux.IsRelease(o) && o.Ref().Name == tt.release })
			v := flux.ReadVerification(d.Objects[i], flux.NewIndex(d.Objects), &repository)
			if v == nil || tt.by == "" {
				if v != nil || tt.by != "" {
					t.Fatalf("asked is %+v", v)
				}
				return
			}
			if got := slices.Sorted(maps.Values(v.Keys)); v.By != tt.by || !slices.Equal(got, tt.keys) || !strings.Contains(v.Problem, tt.problem) || (v.Problem == "") != (tt.problem == "") {
				t.Errorf("asked is %+v", v)
			}
		})
	}
}

// Keys in the folder of another cluster are none.
func TestKeysOfAnotherCluster(t *testing.T) {
	parts := strings.SplitAfter(verified, "---\n")
	sync := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n" +
		"spec: {path: ./clusters/eu, sourceRef: {kind: GitRepository, name: flux-system}}\n---\n"
	objs := append(object.Decode("all.yaml", []byte(strings.Join(parts[:4], ""))).Objects, object.Decode("clusters/eu/all.yaml", []byte(sync+parts[4])).Objects...)
	repository := flux.Identify(nil, objs, nil)
	i := slices.IndexFunc(objs, func(o *object.Object) bool { return flux.IsRelease(o) && o.Ref().Name == "web" })
	if v := flux.ReadVerification(objs[i], flux.NewIndex(objs), &repository); v == nil || !strings.Contains(v.Problem, "is not in the source") {
		t.Errorf("asked is %+v", v)
	}
}
