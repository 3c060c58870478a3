package links_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want, err string }{
		{"", "", ""},
		{"https://waybill.example.com", "https://waybill.example.com", ""},
		{"https://waybill.example.com/", "https://waybill.example.com", ""},
		{"http://waybill.example.com:8080/ui/", "http://waybill.example.com:8080/ui", ""},
		{"waybill.example.com", "", "want that of the web UI"},
		{"ftp://waybill.example.com", "", "want that of the web UI"},
		{"javascript:alert(1)", "", "want that of the web UI"},
		{"https://", "", "want that of the web UI"},
		{"https://waybill.example.com?a=b", "", "want that of the web UI"},
		{"https://waybill.example.com#a", "", "want that of the web UI"},
		{"https://me:hush@waybill.example.com", "", `is "https://me:xxxxx@waybill.example.com"`},
		{"https://me@waybill.example.com", "", "want that of the web UI"},
	} {
		got, err := links.Parse(tt.text)
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && (!strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%q is read as %q, %v", tt.text, got, err)
		}
	}
}

// TestPages have addresses in which no name means something else.
func TestPages(t *testing.T) {
	const site links.Site = "https://waybill.example.com"
	for want, got := range map[string]string{
		"https://waybill.example.com/clusters/eu-1":                        site.Cluster("eu-1"),
		"https://waybill.example.com/clusters/a%2Fb%3Fc":                   site.Cluster("a/b?c"),
		"https://waybill.example.com/templates/Deployment.apps/shop/web":   site.Template(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}),
		"https://waybill.example.com/templates/Service/shop/web":           site.Template(object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}),
		"https://waybill.example.com/templates/Namespace/_cluster/shop":    site.Template(object.Ref{Kind: "Namespace", Name: "shop"}),
		"https://waybill.example.com/templates/Role/shop/system:a%2Fb%20c": site.Template(object.Ref{Kind: "Role", Namespace: "shop", Name: "system:a/b c"}),
		"/clusters/eu-1": links.Site("").Cluster("eu-1"),
	} {
		if got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

// TestWhatIsLinked: workloads in Argo CD and Kustomizations of Flux, unless they have a link of their own, or there is no web UI.
func TestWhatIsLinked(t *testing.T) {
	const site links.Site = "https://waybill.example.com"
	manifest := func(kind string, annotations map[string]any) map[string]any {
		meta := map[string]any{"name": "web"}
		if annotations != nil {
			meta["annotations"] = annotations
		}
		return map[string]any{"kind": kind, "metadata": meta}
	}
	shown := func(s links.Site, kind string, content map[string]any) map[string]any {
		return s.Shown(object.Ref{Group: "apps", Kind: kind, Namespace: "shop", Name: "web"}, content)
	}
	own := map[string]any{links.ArgoCD: "mine", links.Flux: "mine"}
	page, cluster := site.Template(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}), site.Cluster("eu-1")
	for _, tt := range []struct {
		name      string
		got, want map[string]any
	}{
		{"a workload", shown(site, "Deployment", manifest("Deployment", nil)), manifest("Deployment", map[string]any{links.ArgoCD: page})},
		{"one with an annotation", shown(site, "Deployment", manifest("Deployment", map[string]any{"a": "b"})), manifest("Deployment", map[string]any{"a": "b", links.ArgoCD: page})},
		{"one with a link of its own", shown(site, "Deployment", manifest("Deployment", own)), manifest("Deployment", own)},
		{"no workload", shown(site, "Service", manifest("Service", nil)), manifest("Service", nil)},
		{"without a web UI", shown("", "Deployment", manifest("Deployment", nil)), manifest("Deployment", nil)},
		{"a Kustomization", site.Told("eu-1", manifest("Kustomization", nil)), manifest("Kustomization", map[string]any{links.Flux: cluster})},
		{"one with a link of its own", site.Told("eu-1", manifest("Kustomization", own)), manifest("Kustomization", own)},
		{"another object of Flux", site.Told("eu-1", manifest("GitRepository", nil)), manifest("GitRepository", nil)},
		{"a Kustomization without a web UI", links.Site("").Told("eu-1", manifest("Kustomization", nil)), manifest("Kustomization", nil)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	given := manifest("Deployment", map[string]any{"a": "b"})
	shown(site, "Deployment", given)
	if diff := cmp.Diff(manifest("Deployment", map[string]any{"a": "b"}), given); diff != "" {
		t.Errorf("what was given is changed:\n%s", diff)
	}
}
