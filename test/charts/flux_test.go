package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"
)

// objects are objects by kind, namespace and name.
type objects map[string]map[string]any

// documents reads the objects of a text, with the parser that kubectl uses.
func documents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if o != nil {
			all = append(all, o)
		}
	}
}

func at(o map[string]any, path ...string) any {
	var v any = o
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func (all objects) add(t *testing.T, list ...map[string]any) {
	t.Helper()
	for _, o := range list {
		key := fmt.Sprintf("%v %v/%v", o["kind"], at(o, "metadata", "namespace"), at(o, "metadata", "name"))
		if all[key] != nil {
			t.Errorf("%s is there twice", key)
		}
		all[key] = o
	}
}

// onBranch returns the objects of a checkout of a cluster's branch, without the label
// that Waybill adds.
func onBranch(t *testing.T, dir string) objects {
	t.Helper()
	all := objects{}
	err := filepath.WalkDir(filepath.Join(dir, "manifests"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, o := range documents(t, text) {
			labels, _ := at(o, "metadata", "labels").(map[string]any)
			delete(labels, "karmada.io/managed")
			if len(labels) == 0 {
				delete(o["metadata"].(map[string]any), "labels")
			}
			all.add(t, o)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// build is kustomize build.
func build(t *testing.T, dir string) []map[string]any {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, text)
}

// fluxApplies returns what Flux's controllers would apply to a cluster of their example:
// they lay each artifact out as its generator says, build it with the patches of the
// Kustomization, and install each release. Sources, which serve these alone, are left out.
func fluxApplies(t *testing.T, source, cluster string, charts map[string]*chart.Chart) objects {
	t.Helper()
	artifacts := t.TempDir()
	for from, to := range map[string]string{"infrastructure": "infrastructure", "apps/base": "apps/base", "apps/" + cluster: "apps/" + cluster} {
		if err := os.CopyFS(filepath.Join(artifacts, to), os.DirFS(filepath.Join(source, from))); err != nil {
			t.Fatal(err)
		}
	}
	all := objects{}
	var built []map[string]any
	for _, name := range []string{"artifacts", "apps", "infrastructure"} {
		text, err := os.ReadFile(filepath.Join(source, "clusters", cluster, name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range documents(t, text) {
			if isSource(o) {
				continue
			}
			if o["kind"] != "Kustomization" {
				all.add(t, o)
				continue
			}
			root := filepath.Join(artifacts, at(o, "spec", "sourceRef", "name").(string), at(o, "spec", "path").(string))
			built = append(built, patched(t, root, at(o, "spec", "patches"))...)
		}
	}
	for _, o := range built {
		if o["kind"] == "HelmRelease" {
			all.add(t, install(t, o, built, charts)...)
			continue
		}
		if !isSource(o) {
			all.add(t, o)
		}
	}
	return all
}

// isSource reports what only Kustomizations and releases use here, and is of no use once these are rendered.
func isSource(o map[string]any) bool {
	group, _ := o["apiVersion"].(string)
	return strings.HasPrefix(group, "source.toolkit.fluxcd.io/") || strings.HasPrefix(group, "source.extensions.fluxcd.io/")
}

// patched builds a folder with patches over it.
func patched(t *testing.T, root string, patches any) []map[string]any {
	t.Helper()
	over := t.TempDir()
	below, err := filepath.Rel(over, root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := sigsyaml.Marshal(map[string]any{"resources": []string{below}, "patches": patches})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(over, "kustomization.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return build(t, over)
}

// install returns what helm-controller would install for a release: the definitions of
// the chart, and its templates with the values of the release, but no tests or hooks.
// An object that is of a namespace, and names none, is in that of the release.
func install(t *testing.T, release map[string]any, beside []map[string]any, charts map[string]*chart.Chart) []map[string]any {
	t.Helper()
	name, _ := at(release, "spec", "chart", "spec", "chart").(string)
	for _, o := range beside {
		if o["kind"] == "OCIRepository" && at(o, "metadata", "name") == at(release, "spec", "chartRef", "name") {
			url := at(o, "spec", "url").(string)
			name = url[strings.LastIndex(url, "/")+1:]
		}
	}
	namespace := at(release, "metadata", "namespace").(string)
	given, _ := at(release, "spec", "values").(map[string]any)
	values, err := chartutil.ToRenderValues(charts[name], given,
		chartutil.ReleaseOptions{Name: at(release, "metadata", "name").(string), Namespace: namespace, Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(charts[name], values)
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, crd := range charts[name].CRDObjects() {
		all = append(all, documents(t, crd.File.Data)...)
	}
	for file, text := range rendered {
		if strings.HasSuffix(file, ".yaml") {
			all = append(all, documents(t, []byte(text))...)
		}
	}
	all = slices.DeleteFunc(all, func(o map[string]any) bool {
		annotations, _ := at(o, "metadata", "annotations").(map[string]any)
		return annotations["helm.sh/hook"] != nil
	})
	for _, o := range all {
		if meta := o["metadata"].(map[string]any); meta["namespace"] == nil && !slices.Contains([]any{"ClusterRole", "CustomResourceDefinition"}, o["kind"]) {
			meta["namespace"] = namespace
		}
	}
	return all
}
