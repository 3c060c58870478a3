package template_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/object"
)

func decoded(t *testing.T, text string) *object.Object {
	t.Helper()
	objs := object.Decode("x.yaml", []byte(text)).Objects
	if len(objs) != 1 {
		t.Fatalf("%s is no object", text)
	}
	return objs[0]
}

const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: a}\nspec: {ports: [{port: 80}], selector: {app: x}}\n"

func TestATemplateThatStandsForItselfSaysTheSameEverywhere(t *testing.T) {
	var m template.Memo
	o := decoded(t, service)
	tm := template.New(o, &m)
	if v := tm.In("eu"); v == nil || v != tm.In("us") || tm.Number("eu") != 0 || tm.IsRelease() || tm.Subject.Ref != o.Ref() {
		t.Errorf("it says %+v", v)
	}
	if len(tm.Added) == 0 || tm.Content["spec"].(map[string]any)["type"] != "ClusterIP" || o.Content()["spec"].(map[string]any)["type"] != nil {
		t.Errorf("the API server's defaults are %v", tm.Added)
	}
	m.Turn()
	if again := template.New(o, &m); again.Digest() != tm.Digest() || template.New(o, &template.Memo{}).Digest() != tm.Digest() {
		t.Error("a memo changes it")
	}
}

func TestAPartSaysWhatItsReleaseRenders(t *testing.T) {
	var m template.Memo
	one, two := decoded(t, service), decoded(t, strings.Replace(service, "spec: {", "spec: {type: NodePort, ", 1))
	release := decoded(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\n")
	if !template.New(release, &m).IsRelease() {
		t.Error("a HelmRelease is no release")
	}
	part := func(of map[string]*object.Object, order ...string) *template.Template {
		tm := template.New(one, &m)
		tm.Part = &template.Part{Release: release, Groups: map[string]int{}}
		for group, cluster := range order {
			tm.Part.Groups[cluster] = group
			tm.Part.Add(of[cluster], group, &m)
		}
		return tm
	}
	tm := part(map[string]*object.Object{"eu": one, "us": two, "ap": one}, "eu", "us", "ap")
	for cluster, want := range map[string]*object.Object{"eu": one, "us": two, "ap": one, "za": nil} {
		v := tm.In(cluster)
		if (v == nil) != (want == nil) || v != nil && v.Object != want || v != nil && tm.Part.Variants[tm.Number(cluster)].Object != want {
			t.Errorf("in %s it says %+v", cluster, v)
		}
	}
	if len(tm.Part.Variants) != 2 {
		t.Errorf("there are %d variants", len(tm.Part.Variants))
	}
	digests := map[string]bool{template.New(one, &m).Digest(): true, tm.Digest(): true}
	digests[part(map[string]*object.Object{"eu": one, "us": one}, "eu", "us").Digest()] = true
	digests[part(map[string]*object.Object{"eu": one}, "eu").Digest()] = true
	scaled := *template.New(one, &m)
	scaled.Scaled = "3"
	digests[scaled.Digest()] = true
	if len(digests) != 5 {
		t.Errorf("five contents have %d digests", len(digests))
	}
}
