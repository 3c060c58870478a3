package kustomize

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
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
