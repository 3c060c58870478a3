package policies_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// TestSelectors holds how closely selectors name templates, of a kind and of any kind.
func TestSelectors(t *testing.T) {
	subject := func(group, kind, namespace, name, file string) policies.Subject {
		version := "v1"
		if group != "" {
			version = group + "/v1"
		}
		return policies.Subject{APIVersion: version, Ref: object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Labels: labels.Set{"team": "blue"}, File: file}
	}
	web := subject("apps", "Deployment", "shop", "web", "apps/web.yaml")
	rendered := subject("apps", "Deployment", "shop", "web", "")
	base := subject("apps", "Deployment", "shop", "web", "base/web.yaml")
	base.Base = true
	for _, tt := range []struct {
		name, selectors, paths string
		of                     policies.Subject
		want                   policies.Implicit
	}{
		{"the kind", "{apiVersion: apps/v1, kind: Deployment}", "", web, policies.MatchAll},
		{"another version", "{apiVersion: apps/v1beta1, kind: Deployment}", "", web, policies.NoMatch},
		{"another kind", "{apiVersion: apps/v1, kind: DaemonSet}", "", web, policies.NoMatch},
		{"the namespace", "{apiVersion: apps/v1, kind: Deployment, namespace: shop}", "", web, policies.MatchAll},
		{"another namespace", "{apiVersion: apps/v1, kind: Deployment, namespace: other}", "", web, policies.NoMatch},
		{"the name", "{apiVersion: apps/v1, kind: Deployment, name: web}", "", web, policies.MatchByName},
		{"another name, whatever the labels", "{apiVersion: apps/v1, kind: Deployment, name: api, labelSelector: {matchLabels: {team: blue}}}", "", web, policies.NoMatch},
		{"the labels", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: blue}}}", "", web, policies.MatchByLabel},
		{"other labels", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: red}}}", "", web, policies.NoMatch},
		{"labels that cannot be read", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchExpressions: [{key: team, operator: Near}]}}", "", web, policies.NoMatch},
		{"the closest of several", "{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: Deployment, name: web}, {apiVersion: apps/v1, kind: Deployment}", "", web, policies.MatchByName},
		{"none", "", "", web, policies.NoMatch},

		{"the path", "{apiVersion: apps/v1, kind: Deployment}", "apps/", web, policies.MatchAll},
		{"another path", "{apiVersion: apps/v1, kind: Deployment}", "charts/", web, policies.NoMatch},
		{"a path that is taken out again", "{apiVersion: apps/v1, kind: Deployment}", "apps/\n!web.yaml", web, policies.NoMatch},
		{"what a release renders stands at no path", "{apiVersion: apps/v1, kind: Deployment}", "apps/", rendered, policies.NoMatch},
		{"what a release renders stands not even at every path", "{apiVersion: apps/v1, kind: Deployment}", "**", rendered, policies.NoMatch},
		{"what a release renders, of all paths", "{apiVersion: apps/v1, kind: Deployment}", "", rendered, policies.MatchAll},
		{"a base, of all paths", "{apiVersion: apps/v1, kind: Deployment}", "", base, policies.NoMatch},
		{"a base whose folder is named", "{apiVersion: apps/v1, kind: Deployment}", "base/", base, policies.MatchAll},
		{"a base by a pattern", "{apiVersion: apps/v1, kind: Deployment}", "b*/", base, policies.NoMatch},

		{"any kind", "{apiVersion: '*', kind: '*'}", "", web, policies.MatchAnyKind},
		{"any kind, less close than the kind", "{apiVersion: '*', kind: '*'}, {apiVersion: apps/v1, kind: Deployment}", "", web, policies.MatchAll},
		{"any kind of a name", "{apiVersion: '*', kind: '*', name: web}", "", web, policies.MatchAnyKind},
		{"any kind of another name", "{apiVersion: '*', kind: '*', name: api}", "", web, policies.NoMatch},
		{"any kind of a name, whatever the labels", "{apiVersion: '*', kind: '*', name: web, labelSelector: {matchLabels: {team: red}}}", "", web, policies.MatchAnyKind},
		{"any kind with the labels", "{apiVersion: '*', kind: '*', labelSelector: {matchLabels: {team: blue}}}", "", web, policies.MatchAnyKind},
		{"any kind with other labels", "{apiVersion: '*', kind: '*', labelSelector: {matchLabels: {team: red}}}", "", web, policies.NoMatch},
		{"any kind of a namespace", "{apiVersion: '*', kind: '*', namespace: shop}", "", web, policies.MatchAnyKind},
		{"any kind of another namespace", "{apiVersion: '*', kind: '*', namespace: other}", "", web, policies.NoMatch},
		{"any kind of Kubernetes' own namespaces", "{apiVersion: '*', kind: '*'}", "", subject("", "ConfigMap", "kube-system", "dns", "dns.yaml"), policies.NoMatch},
		{"any kind of one of these by its name", "{apiVersion: '*', kind: '*', namespace: kube-system}", "", subject("", "ConfigMap", "kube-system", "dns", "dns.yaml"), policies.MatchAnyKind},
		{"any kind that a release renders", "{apiVersion: '*', kind: '*'}", "", rendered, policies.NoMatch},
		{"any kind, and a Namespace", "{apiVersion: '*', kind: '*'}", "", subject("", "Namespace", "", "shop", "shop.yaml"), policies.NoMatch},
		{"any kind, and somebody else's Namespace", "{apiVersion: '*', kind: '*'}", "", subject("example.com", "Namespace", "", "shop", "shop.yaml"), policies.MatchAnyKind},
		{"any kind, and a definition", "{apiVersion: '*', kind: '*'}", "", subject("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets", "w.yaml"), policies.NoMatch},
		{"any kind, and somebody else's definition", "{apiVersion: '*', kind: '*'}", "", subject("example.com", "CustomResourceDefinition", "", "widgets", "w.yaml"), policies.MatchAnyKind},
		{"any kind, and what else is of the group of definitions", "{apiVersion: '*', kind: '*'}", "", subject("apiextensions.k8s.io", "Review", "", "widgets", "w.yaml"), policies.MatchAnyKind},
		{"any kind, and a source of Flux", "{apiVersion: '*', kind: '*'}", "", subject("source.toolkit.fluxcd.io", "GitRepository", "shop", "fleet", "f.yaml"), policies.NoMatch},
		{"any kind of a version is none", "{apiVersion: apps/v1, kind: '*'}", "", web, policies.NoMatch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := compiled(t, tt.selectors, tt.paths)
			if got := s.Match(tt.of); got != tt.want {
				t.Errorf("it matches by %s, want %s", got, tt.want)
			}
			if s.IsEmpty() != (tt.selectors == "") {
				t.Errorf("it is empty: %v", s.IsEmpty())
			}
		})
	}
}

// compiled compiles a list of selectors as they are written.
func compiled(t *testing.T, selectors, paths string) policies.Selectors {
	t.Helper()
	var rs []karmada.ResourceSelector
	if err := yaml.UnmarshalStrict([]byte("["+selectors+"]"), &rs); err != nil {
		t.Fatal(err)
	}
	return policies.Compile(rs, map[string]string{karmada.PathsAnnotation: paths})
}

// TestWhatSelectorsNearlyMatch holds what is said of a template that no selector matches: a version that differs, or labels that
// somebody may still write.
func TestWhatSelectorsNearlyMatch(t *testing.T) {
	web := policies.Subject{APIVersion: "apps/v1", Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Labels: labels.Set{"team": "blue"}, File: "apps/web.yaml"}
	for _, tt := range []struct {
		name, selectors, paths string
		version                string
		byLabels               bool
	}{
		{"another version", "{apiVersion: apps/v1beta1, kind: Deployment}", "", "apps/v1beta1", false},
		{"another version, and a selector that says less", "{apiVersion: v1, kind: Deployment}, {apiVersion: apps/v1beta2, kind: Deployment, name: web}", "", "apps/v1beta2", false},
		{"another version of another name", "{apiVersion: apps/v1beta1, kind: Deployment, name: api}", "", "", false},
		{"another version of another path", "{apiVersion: apps/v1beta1, kind: Deployment}", "charts/", "", false},
		{"another group", "{apiVersion: example.com/v1, kind: Deployment}", "", "", false},
		{"the version", "{apiVersion: apps/v1, kind: Deployment}", "", "", false},
		{"other labels", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: red}}}", "", "", true},
		{"other labels of another kind", "{apiVersion: apps/v1, kind: DaemonSet, labelSelector: {matchLabels: {team: red}}}", "", "", false},
		{"other labels of another path", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: red}}}", "charts/", "", false},
		{"no labels", "{apiVersion: apps/v1, kind: Deployment}", "", "", false},
		{"the second by labels", "{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: red}}}", "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := compiled(t, tt.selectors, tt.paths)
			if version, found := s.NearMiss(web); version != tt.version || found != (tt.version != "") {
				t.Errorf("it nearly matches by %q, %v", version, found)
			}
			if got := s.MatchAnyLabels(web); got != tt.byLabels {
				t.Errorf("with other labels it matches: %v", got)
			}
		})
	}
}

// TestPartsOfSelectors holds that one selector alone is for the same paths, and which kinds there are.
func TestPartsOfSelectors(t *testing.T) {
	s := compiled(t, "{apiVersion: v1, kind: Secret}, {apiVersion: apps/v1, kind: Deployment}", "apps/")
	web := policies.Subject{APIVersion: "apps/v1", Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, File: "apps/web.yaml"}
	elsewhere := web
	elsewhere.File = "web.yaml"
	if s.Only(0).Match(web) != policies.NoMatch || s.Only(1).Match(web) != policies.MatchAll || s.Only(1).Match(elsewhere) != policies.NoMatch {
		t.Error("a selector alone is another one")
	}
	var kinds []string
	s.Kinds(func(apiVersion, kind string) bool {
		kinds = append(kinds, apiVersion+" "+kind)
		return true
	})
	if len(kinds) != 2 || kinds[1] != "apps/v1 Deployment" {
		t.Errorf("kinds are %v", kinds)
	}
	for range s.Kinds {
		break // which a loop may
	}
}
