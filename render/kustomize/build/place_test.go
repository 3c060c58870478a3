package build

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
)

// TestPlaces: what a build gives is where a person edits it.
func TestPlaces(t *testing.T) {
	files := sourceOf(map[string]string{
		"app/kustomization.yaml": "namePrefix: eu-\nresources:\n- ../base\n- two.yaml\n- more.yaml\nconfigMapGenerator:\n- name: settings\n  literals:\n  - a=b\n",
		"app/two.yaml": "# a comment\n\nkind: Service\napiVersion: v1\nmetadata: {labels: {a: b}, name: \"front\"}\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    name: no\n  name: two\n  namespace: x\n" +
			"---\nkind: Service\nmetadata: {namespace: a, name: api}\n---\nkind: Service\nmetadata: {name: api, namespace: b}\n",
		"app/more.yaml":           "apiVersion: v1\nkind: Secret\nmetadata:\n  name: pull\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: pull\n  namespace: other\n",
		"base/kustomization.yaml": "resources: [deployment.yaml]\npatches:\n- path: patch.yaml\n",
		"base/deployment.yaml":    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n",
		"base/patch.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec: {replicas: 3}\n",
	})
	built, err := Kustomization(files, Options{Dir: "app"})
	if err != nil {
		t.Fatal(err)
	}
	places := kustomize.NewPlaces(built.Places)
	type of struct{ kind, namespace, name string }
	got := map[of]string{}
	for _, o := range []of{
		{"Service", "any", "eu-front"},
		{"ConfigMap", "any", "eu-two"},
		{"ConfigMap", "any", "eu-settings-8h2mf25k9t"},
		{"Deployment", "any", "eu-web"},
		{"Secret", "", "eu-pull"},
		{"Secret", "other", "eu-pull"},
		{"Secret", "any", "eu-pull"},
		{"Service", "b", "eu-api"},
		{"Job", "any", "eu-web"},
	} {
		pos, _ := places.Of(o.kind, o.namespace, o.name)
		got[o] = pos.String()
	}
	want := map[of]string{
		{"Service", "any", "eu-front"}:                 "app/two.yaml:3",
		{"ConfigMap", "any", "eu-two"}:                 "app/two.yaml:7",
		{"ConfigMap", "any", "eu-settings-8h2mf25k9t"}: "app/kustomization.yaml:7",
		{"Deployment", "any", "eu-web"}:                "base/deployment.yaml:1",
		{"Secret", "", "eu-pull"}:                      "app/more.yaml:1",
		{"Secret", "other", "eu-pull"}:                 "app/more.yaml:6",
		{"Secret", "any", "eu-pull"}:                   diag.Pos{}.String(), // one of two
		{"Service", "b", "eu-api"}:                     "app/two.yaml:18",
		{"Job", "any", "eu-web"}:                       "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got)\n%s", diff)
	}
}
