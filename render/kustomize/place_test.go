package kustomize

import (
	"testing"

	"github.com/waybill-dev/waybill/render/diag"
)

// TestPlacesOf finds where a manifest stands that a build gave, by the name that is written there, or by the longest that is part of its
// own; it does not guess.
func TestPlacesOf(t *testing.T) {
	at := func(line int) diag.Pos { return diag.Pos{File: "a.yaml", Line: line} }
	ps := NewPlaces([]Place{
		{Kind: "Service", Name: "web", Pos: at(1)},
		{Kind: "Service", Name: "web-admin", Pos: at(2)},
		{Kind: "Deployment", Name: "web", Pos: at(3)},
		{Kind: "ConfigMap", Namespace: "a", Name: "settings", Pos: at(4)},
		{Kind: "ConfigMap", Namespace: "b", Name: "settings", Pos: at(5)},
		{Kind: "Secret", Namespace: "a", Name: "twice", Pos: at(6)},
		{Kind: "Secret", Namespace: "a", Name: "twice", Pos: at(7)},
		{Kind: "Role", Namespace: "a", Name: "r", Pos: at(8)},
		{Kind: "Role", Namespace: "a", Name: "reader", Pos: at(9)},
		{Kind: "Role", Namespace: "b", Name: "reader", Pos: at(10)},
		{Kind: "Role", Namespace: "b", Name: "e", Pos: at(11)},
	})
	for _, tt := range []struct {
		name, kind, namespace, object string
		want                          int // the line; 0: it is not known
	}{
		{"by its name", "Deployment", "", "web", 3},
		{"of its kind", "Service", "", "web", 1},
		{"with a prefix and a suffix", "Deployment", "", "eu-web-1", 3},
		{"the longest name counts", "Service", "", "eu-web-admin", 2},
		{"in whatever namespace a build puts it", "Deployment", "shop", "web", 3},
		{"by its namespace", "ConfigMap", "b", "settings-7f9d", 5},
		{"by the other namespace", "ConfigMap", "a", "settings", 4},
		{"in none of the two namespaces", "ConfigMap", "c", "settings", 0},
		{"two in one namespace", "Secret", "a", "twice", 0},
		{"of the two with the longest name the one in its namespace", "Role", "b", "reader-x", 10},
		{"a shorter name in its namespace is none", "Role", "c", "reader-x", 0},
		{"another name", "Deployment", "", "api", 0},
		{"another kind", "Pod", "", "web", 0},
	} {
		pos, ok := ps.Of(tt.kind, tt.namespace, tt.object)
		if ok != (tt.want > 0) || pos.Line != tt.want {
			t.Errorf("%s: it stands at %s, %t; want line %d", tt.name, pos, ok, tt.want)
		}
	}
}
