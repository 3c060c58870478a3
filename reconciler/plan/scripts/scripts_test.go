package scripts_test

import (
	"reflect"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/scripts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// manifest is a ConfigMap, or something else of its form, with a script for Things.
func manifest(t *testing.T, apiVersion, kind, namespace, script string) *object.Object {
	t.Helper()
	d := object.Decode("all.yaml", []byte("apiVersion: "+apiVersion+"\nkind: "+kind+"\nmetadata: {name: argocd-cm, namespace: "+namespace+"}\ndata: {resource.customizations.health.example.com_Thing: '"+script+"'}\n"))
	if len(d.Objects) != 1 {
		t.Fatal(d)
	}
	return d.Objects[0]
}

// One that a policy may place goes before those of clusters' own folders, and of these the first by the names of clusters; one of
// another namespace or kind is another one. While there is none, what was published last counts.
func TestRead(t *testing.T) {
	of := func(apiVersion, kind, namespace, word string) *object.Object {
		return manifest(t, apiVersion, kind, namespace, "return {status = \""+word+"\"}")
	}
	placed, eu, us := of("v1", "ConfigMap", "argocd", "Placed"), of("v1", "ConfigMap", "argocd", "Eu"), of("v1", "ConfigMap", "argocd", "Us")
	others := []*object.Object{of("v1", "ConfigMap", "other", "Other"), of("v1", "Secret", "argocd", "Secret"), of("example.com/v1", "ConfigMap", "argocd", "Foreign")}
	last := argocd.Scripts{ConfigMap: "argocd/argocd-cm", ByKind: map[string]string{"example.com/Thing": "return {status = \"Last\"}"}}
	templates := func(all ...*object.Object) (ts []*template.Template) {
		for _, o := range all {
			ts = append(ts, &template.Template{Variant: template.Variant{Object: o}})
		}
		return ts
	}
	for name, test := range map[string]struct {
		asked string
		in    expand.Result
		want  string // whose script it is; empty for none
		said  diag.Code
	}{
		"none is asked for": {in: expand.Result{Templates: templates(placed)}},
		"one may be placed": {asked: "argocd/argocd-cm", in: expand.Result{Templates: templates(append(others, placed)...), Bound: map[string][]*object.Object{"eu": {eu}}}, want: "Placed"},
		"clusters have their own": {
			asked: "argocd/argocd-cm", in: expand.Result{Templates: templates(others...), Bound: map[string][]*object.Object{"us": {us}, "ap": others, "eu": {others[0], eu}}}, want: "Eu",
		},
		"there is none": {asked: "argocd/argocd-cm", in: expand.Result{Templates: templates(others...)}, want: "Last", said: diag.NoHealthScripts},
	} {
		is, diags := scripts.Read(test.asked, &test.in, last)
		var want argocd.Scripts
		if test.want != "" {
			want = argocd.Scripts{ConfigMap: "argocd/argocd-cm", ByKind: map[string]string{"example.com/Thing": "return {status = \"" + test.want + "\"}"}}
		}
		var said diag.Code
		if len(diags) > 0 {
			said = diags[0].Code
		}
		if !reflect.DeepEqual(is, want) || said != test.said || len(diags) > 1 {
			t.Errorf("%s: %+v and %v, want %+v and %q", name, is, diags, want, test.said)
		}
	}
}
