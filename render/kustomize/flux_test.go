package kustomize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// decodedMap reads YAML as the sources are read: whole numbers are int64.
func decodedMap(t *testing.T, text string) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(asJSON, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadFlux(t *testing.T) {
	tests := []struct {
		name, object string
		want         Flux
	}{
		{name: "an empty spec is the root of the source", object: `spec: {sourceRef: {name: s}}`, want: Flux{Path: ".", SourceRef: Reference{Name: "s"}}},
		{name: "paths are clean and relative", object: `spec: {path: "/a//b/../c/", sourceRef: {name: s}}`, want: Flux{Path: "a/c", SourceRef: Reference{Name: "s"}}},
		{
			name: "every field is read",
			object: `
spec:
  path: ./apps
  prune: true
  suspend: true
  interval: 10m
  retryInterval: 1m
  timeout: 1m
  wait: true
  force: true
  serviceAccountName: sa
  decryption: {provider: sops}
  deletionPolicy: Orphan
  healthChecks: [{kind: Deployment, name: d}]
  healthCheckExprs: []
  sourceRef: {kind: OCIRepository, name: s, namespace: ns}
  dependsOn: [{name: d}, {name: e, namespace: ns}]
  targetNamespace: t
  namePrefix: p-
  nameSuffix: -s
  components: [../c]
  ignoreMissingComponents: true
  buildMetadata: [originAnnotations]
  images: [{name: i, newName: nn, newTag: t, digest: d}]
  patches:
  - patch: p
  - patch: q
    target: {group: g, version: v, kind: k, name: nn, namespace: s, labelSelector: l, annotationSelector: a}
  commonMetadata: {labels: {l: m}, annotations: {a: b}}
  postBuild:
    substitute: {x: "1"}
    substituteFrom: [{kind: ConfigMap, name: c}, {kind: Secret, name: s, optional: true}]
`,
			want: Flux{
				Path: "apps", Prune: true, Suspend: true,
				SourceRef:      Reference{Kind: "OCIRepository", Name: "s", Namespace: "ns"},
				DependsOn:      []Reference{{Name: "d"}, {Name: "e", Namespace: "ns"}},
				SubstituteFrom: []Reference{{Kind: "ConfigMap", Name: "c"}, {Kind: "Secret", Name: "s", Optional: true}},
				Overlay: Overlay{
					TargetNamespace: "t", NamePrefix: "p-", NameSuffix: "-s",
					Components: []string{"../c"}, IgnoreMissingComponents: true, BuildMetadata: []string{"originAnnotations"},
					Images: []Image{{Name: "i", NewName: "nn", NewTag: "t", Digest: "d"}},
					Patches: []Patch{{Patch: "p"}, {Patch: "q", Target: &Target{
						Group: "g", Version: "v", Kind: "k", Name: "nn", Namespace: "s", LabelSelector: "l", AnnotationSelector: "a",
					}}},
					CommonMetadata: &Metadata{Labels: map[string]string{"l": "m"}, Annotations: map[string]string{"a": "b"}},
					Substitute:     map[string]string{"x": "1"},
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := ReadFlux(decodedMap(t, tt.object))
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			asJSON, err := json.Marshal(got.Overlay)
			if err != nil {
				t.Fatal(err)
			}
			var again Overlay
			if err := json.Unmarshal(asJSON, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Overlay, again); diff != "" {
				t.Errorf("through JSON (-before +after):\n%s", diff)
			}
		})
	}
}

func TestProblemsPointAtTheField(t *testing.T) {
	_, problems := ReadFlux(decodedMap(t, `spec: {sourceRef: {name: s}, patches: [{patch: a}, {patch: 3}]}`))
	want := []any{"spec", "patches", 1, "patch"}
	if len(problems) != 1 || !cmp.Equal(problems[0].Path, want) {
		t.Errorf("problems: %+v; want one at %v", problems, want)
	}
}

// TestReadFluxRefuses holds what is said of each mistake, once and at its field, and that no value of a variable is shown.
func TestReadFluxRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, spec, path string // the path as it is printed
		severity         diag.Severity
		want             string
	}{
		{"a path above", "path: ../apps", "spec.path", diag.Error, `is "../apps", which leaves the source`},
		{"a path above, later on", "path: ./a/../../apps", "spec.path", diag.Error, "which leaves the source"},
		{"the folder above", "path: ..", "spec.path", diag.Error, `is "..", which leaves the source`},
		{"a path that is a number", "path: 3", "spec.path", diag.Error, "is 3, which is no string: put it in quotes"},
		{"a flag that is a string", `prune: "yes"`, "spec.prune", diag.Error, "is yes, which is no boolean"},
		{"a list that is none", "components: a", "spec.components", diag.Error, "is a, which is no list"},
		{"an item that is no string", "components: [a, 3]", "spec.components[1]", diag.Error, "is 3, which is no string"},
		{"a mapping that is none", "commonMetadata: {labels: [a]}", "spec.commonMetadata.labels", diag.Error, "which is no mapping"},
		{"a label that is a number", "commonMetadata: {labels: {a: 3}}", "spec.commonMetadata.labels.a", diag.Error, "is no string: put it in quotes"},
		{"a dependency without a name", "dependsOn: [{name: a}, {namespace: b}]", "spec.dependsOn[1].name", diag.Error, "is empty"},
		{"an image with an empty name", `images: [{name: ""}]`, "spec.images[0].name", diag.Error, "is empty"},
		{"a patch that is empty", "patches: [{target: {kind: Pod}}]", "spec.patches[0].patch", diag.Error, "is empty"},
		{"a target with a number", "patches: [{patch: a, target: {name: 3}}]", "spec.patches[0].target.name", diag.Error, "is 3, which is no string"},
		{"variables of a Deployment", "postBuild: {substituteFrom: [{kind: Deployment, name: a}]}", "spec.postBuild.substituteFrom[0].kind", diag.Error, `is "Deployment"; it must be ConfigMap or Secret`},
		{"variables of nothing", "postBuild: {substituteFrom: [{name: a}]}", "spec.postBuild.substituteFrom[0].kind", diag.Error, `is ""; it must be ConfigMap or Secret`},
		{"a variable that is a number", "postBuild: {substitute: {a: 424242}}", "spec.postBuild.substitute.a", diag.Error, "is no string: put it in quotes"},
		{"a variable with a dash", `postBuild: {substitute: {a-b: "424242"}}`, "spec.postBuild.substitute.a-b", diag.Error, "is no name of a variable"},
		{"a variable that begins with a digit", `postBuild: {substitute: {1a: "424242"}}`, "spec.postBuild.substitute.1a", diag.Error, "is no name of a variable"},
		{"another cluster", "kubeConfig: {secretRef: {name: a}}", "spec.kubeConfig", diag.Error, "is another cluster"},
		{"a field of before", "patchesJson6902: []", "spec.patchesJson6902", diag.Error, "is no field of v1: move it to patches"},
		{"another field of before", "patchesStrategicMerge: []", "spec.patchesStrategicMerge", diag.Error, "is no field of v1: move it to patches"},
		{"a field that nobody knows", "pruned: true", "spec.pruned", diag.Warning, "is no field that is known here; it does nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := ReadFlux(decodedMap(t, "spec: {sourceRef: {name: s}, "+tt.spec+"}"))
			if len(problems) != 1 {
				t.Fatalf("problems: %+v", problems)
			}
			p := problems[0]
			if object.FieldPath(p.Path) != tt.path || p.Severity != tt.severity || !strings.HasPrefix(p.Message, tt.path+" ") || !strings.Contains(p.Message, tt.want) {
				t.Errorf("it says %+v of %s, want %q of %s", p, object.FieldPath(p.Path), tt.want, tt.path)
			}
			if strings.Contains(p.Message, "424242") {
				t.Errorf("it shows the value of a variable: %s", p.Message)
			}
		})
	}
	if _, problems := ReadFlux(decodedMap(t, "spec: {path: a}")); len(problems) != 1 || problems[0].Message != "spec.sourceRef.name is empty" {
		t.Errorf("without a source it says %+v", problems)
	}
}

// TestVariablesAreSubstitutedAlways where the Kustomization says so, by that word alone.
func TestVariablesAreSubstitutedAlways(t *testing.T) {
	for strategy, want := range map[string]bool{"Always": true, "always": false, "WithVariables": false, "": false} {
		f, _ := ReadFlux(decodedMap(t, "spec: {sourceRef: {name: s}, postBuild: {substituteStrategy: '"+strategy+"'}}"))
		if f.Overlay.SubstituteAlways != want {
			t.Errorf("%q: %t", strategy, f.Overlay.SubstituteAlways)
		}
	}
}

// FuzzReadFlux reads any object without panics.
func FuzzReadFlux(f *testing.F) {
	f.Add([]byte(`{"spec": {"path": "./a", "patches": [{"patch": 1}], "postBuild": {"substitute": {"a": null}}}}`))
	f.Add([]byte(`{"spec": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m map[string]any
		if json.Unmarshal(data, &m) != nil {
			return
		}
		_, _ = ReadFlux(m)
	})
}
