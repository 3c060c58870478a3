package build

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/corpus"
)

// keep packs a chart, puts it where Waybill keeps charts, and returns its entry of a
// lock file: what `waybill update` does with a network.
func (f *fleet) keep(c *chart.Chart, ref lock.Ref) lock.Entry {
	f.t.Helper()
	name, err := chartutil.Save(c, f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		f.t.Fatal(err)
	}
	e := lock.Entry{Ref: ref, Version: c.Metadata.Version, Digest: "sha256:" + digest(data)}
	e.URL = ref.Repository + "/" + filepath.Base(name)
	if ref.Kind == lock.OCI {
		e.URL = ref.Repository + "/" + ref.Name + ":" + c.Metadata.Version + "@" + e.Digest
	}
	kept := filepath.Join(f.cache, "waybill", "charts", "sha256-"+digest(data)+".tgz")
	if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, data, 0o600)); err != nil {
		f.t.Fatal(err)
	}
	return e
}

const fluxClusters = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: staging, annotations: {waybill.dev/path: clusters/staging}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: production, annotations: {waybill.dev/path: clusters/production}}
spec: {syncMode: Pull}
`

// gateway stands in for a chart that brings the definitions of its kinds.
func gateway(version string) *chart.Chart {
	c := shop("gateway-helm", version)
	c.Files = []*chart.File{{Name: "crds/envoyproxies.yaml", Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: envoyproxies.gateway.envoyproxy.io}
spec:
  group: gateway.envoyproxy.io
  names: {kind: EnvoyProxy, plural: envoyproxies}
  scope: Namespaced
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)}}
	c.Templates = append(c.Templates, &chart.File{Name: "templates/role.yaml", Data: []byte(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}-{{ .Release.Namespace }}
  annotations:
    release: {{ .Release.IsInstall }} {{ .Release.Service }} {{ .Release.Revision }}
    sum: {{ .Values | toYaml | sha256sum }}
rules: []
`)})
	return c
}

// The example that Flux gives for several clusters of one repository is published as it
// is, beside a description of the clusters, and comes to what kustomize and Helm make of
// it. The charts of its repositories are podinfo's own and stand-ins for the others.
func TestTheExampleOfFlux(t *testing.T) {
	root := corpus.Dir(t)
	f := newFleet(t, map[string]string{"fleet.yaml": fluxClusters})
	if err := os.CopyFS(f.dir, os.DirFS(filepath.Join(root, "flux2-kustomize-helm-example"))); err != nil {
		t.Fatal(err)
	}
	podinfo := func(version string) *chart.Chart {
		c, err := loader.Load(filepath.Join(root, "podinfo/charts/podinfo"))
		if err != nil {
			t.Fatal(err)
		}
		c.Metadata.Version = version
		return c
	}
	const shelf = "https://stefanprodan.github.io/podinfo"
	charts := map[string]map[string]*chart.Chart{ // by cluster and name
		"staging":    {"podinfo": podinfo("7.0.0-rc.1"), "cert-manager": shop("cert-manager", "1.19.1"), "gateway-helm": gateway("1.8.0-rc.2")},
		"production": {"podinfo": podinfo("6.9.0"), "cert-manager": shop("cert-manager", "1.19.1"), "gateway-helm": gateway("1.8.0-rc.2")},
	}
	l := lock.Lock{}.With(
		f.keep(charts["production"]["podinfo"], lock.Ref{Kind: lock.Helm, Repository: shelf, Name: "podinfo", Constraint: ">=1.0.0"}),
		f.keep(charts["staging"]["podinfo"], lock.Ref{Kind: lock.Helm, Repository: shelf, Name: "podinfo", Constraint: ">=1.0.0-alpha"}),
		f.keep(charts["staging"]["cert-manager"], lock.Ref{Kind: lock.OCI, Repository: "oci://quay.io/jetstack/charts", Name: "cert-manager", Constraint: "1.x"}),
		f.keep(charts["staging"]["gateway-helm"], lock.Ref{Kind: lock.OCI, Repository: "oci://docker.io/envoyproxy", Name: "gateway-helm", Constraint: ">= 1.8.0-rc.0"}),
	)
	f.commit(map[string]string{"waybill.lock": string(l.Encode())})
	f.publish().exits(0).lacks(" error: ", " warning: ")
	for name, charts := range charts {
		t.Run(name, func(t *testing.T) {
			clone := filepath.Join(t.TempDir(), name)
			f.exec("", "git", "clone", "-q", "-b", "waybill/cluster/"+name, f.bare, clone)
			want, got := fluxApplies(t, f.dir, name, charts), onBranch(t, clone)
			if len(want) < 15 {
				t.Errorf("only %d objects are wanted", len(want))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			host := got["HTTPRoute podinfo/podinfo"]["spec"].(map[string]any)["hostnames"].([]any)[0]
			if host != "podinfo."+name {
				t.Errorf("its host is %v", host)
			}
			if n := len(build(t, clone)); n != len(got) {
				t.Errorf("the branch builds to %d objects, and has %d", n, len(got))
			}
		})
	}
	f.waybill("verify", "waybill/cluster/staging", "--to", f.bare).exits(0)
	f.waybill("validate", ".").exits(0).lacks("chart-")
}
