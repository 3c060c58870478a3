package kustomize

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
)

// TestPlaces: what a build gives is where a person edits it.
func TestPlaces(t *testing.T) {
	files := sourceOf(map[string]string{
		"app/kustomization.yaml": "namePrefix: eu-\nresources:\n- ../base\n- two.yaml\n- more.yaml\nconfigMapGenerator:\n- name: settings\n  literals:\n  - a=b\n",
		"app/two.yaml": "# a comment\n\nkind: Service\napiVersion: v1\nmetadata: {labels: {a: b}, name: \"front\"}\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    name: no\n  name: two\n  namespace: x\n",
		"app/more.yaml":           "apiVersion: v1\nkind: Secret\nmetadata:\n  name: pull\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: pull\n  namespace: other\n",
		"base/kustomization.yaml": "resources: [deployment.yaml]\npatches:\n- path: patch.yaml\n",
		"base/deployment.yaml":    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n",
		"base/patch.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec: {replicas: 3}\n",
	})
	built, err := Build(files, Options{Dir: "app"})
	if err != nil {
		t.Fatal(err)
	}
	places := NewPlaces(built.Places)
	type of struct{ kind, name string }
	got := map[of]string{}
	for _, o := range []of{
		{"Service", "eu-front"},
		{"ConfigMap", "eu-two"},
		{"ConfigMap", "eu-settings-8h2mf25k9t"},
		{"Deployment", "eu-web"},
		{"Secret", "eu-pull"},
		{"Job", "eu-web"},
	} {
		pos, _ := places.Of(o.kind, o.name)
		got[o] = pos.String()
	}
	want := map[of]string{
		{"Service", "eu-front"}:                 "app/two.yaml:3",
		{"ConfigMap", "eu-two"}:                 "app/two.yaml:7",
		{"ConfigMap", "eu-settings-8h2mf25k9t"}: "app/kustomization.yaml:7",
		{"Deployment", "eu-web"}:                "base/deployment.yaml:1",
		{"Secret", "eu-pull"}:                   diag.Pos{}.String(), // one of two
		{"Job", "eu-web"}:                       "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got)\n%s", diff)
	}
}
