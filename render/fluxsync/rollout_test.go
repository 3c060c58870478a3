package fluxsync

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
)

// TestReports is what notification-controller is told. Nothing but the end of a reconciliation is a success: it makes one of
// whatever it is told as information.
func TestReports(t *testing.T) {
	var all strings.Builder
	for _, o := range of("eu-1").Reports(Reporter{Forge: "gitea", URL: "https://git.example.com/acme/fleet.git", Secret: "waybill-status", Namespaces: []string{"team"}}) {
		all.WriteString("---\n" + string(object.Encode(o)))
	}
	got := all.String()
	const sources = `  eventSources:
  - kind: Kustomization
    matchLabels:
      waybill.dev/reports: eu-1
    name: '*'
  - kind: Kustomization
    matchLabels:
      waybill.dev/reports: eu-1
    name: '*'
    namespace: team
`
	want := `---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata:
  name: waybill-eu-1
  namespace: flux-system
spec:
  address: https://git.example.com/acme/fleet.git
  commitStatusExpr: '''waybill/flux/eu-1/'' + event.involvedObject.name'
  secretRef:
    name: waybill-status
  type: gitea
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: waybill-eu-1-success
  namespace: flux-system
spec:
  eventSeverity: info
` + sources + `  inclusionList:
  - '^Reconciliation finished in '
  providerRef:
    name: waybill-eu-1
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata:
  name: waybill-eu-1-failure
  namespace: flux-system
spec:
  eventSeverity: error
` + sources + `  providerRef:
    name: waybill-eu-1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for message, want := range map[string]bool{
		"Reconciliation finished in 1.2s, next run in 10m0s":              true,
		"Dependencies do not meet ready condition, retrying in 30s":       false,
		"Health checks canceled due to new reconciliation triggered by x": false,
		"ConfigMap/a/b configured":                                        false,
	} {
		if regexp.MustCompile(succeeded).MatchString(message) != want {
			t.Errorf("%q is a success: %v", message, !want)
		}
	}
}

// TestChildrenWait has kustomize, as Flux does, make the children of the root wait, whatever they are called, and nothing else.
func TestChildrenWait(t *testing.T) {
	for _, cluster := range []string{"eu-1", "eu.1", strings.Repeat("c", 48)} {
		s := of(cluster)
		spec, _ := s.AwaitedRoot(nil)["spec"].(map[string]any)
		fs := filesys.MakeFsInMemory()
		list := map[string]any{"resources": []any{}, "patches": spec["patches"]}
		others := []map[string]any{s.kustomization("waybill-eu-12.part.1", "flux-system", ""), s.kustomization("apps", "flux-system", "")}
		all := append([]map[string]any{s.Child(Child{Part: "part.1", Namespace: "flux-system"}), s.Child(Child{Part: "part.1000000", Namespace: "team"})}, others...)
		for i, k := range all {
			name := string(rune('a'+i)) + ".yaml"
			write(t, fs, name, object.Encode(k))
			resources, _ := list["resources"].([]any)
			list["resources"] = append(resources, name)
		}
		data, err := yaml.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		write(t, fs, "kustomization.yaml", data)
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, ".")
		if err != nil {
			t.Fatalf("%s: %v", cluster, err)
		}
		for i, r := range built.Resources() {
			waits, _ := r.GetFieldValue("spec.wait")
			if isChild := i < 2; (waits == true) != isChild || (r.GetLabels()[reportLabel] == cluster) != isChild || r.GetName() == "any" {
				t.Errorf("%s: %s waits: %v, and has the labels %v", cluster, r.GetName(), waits, r.GetLabels())
			}
		}
	}
}

func write(t *testing.T, fs filesys.FileSystem, name string, data []byte) {
	t.Helper()
	if err := fs.WriteFile(name, data); err != nil {
		t.Fatal(err)
	}
}
