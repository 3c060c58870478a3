// Package links leads to pages of the web UI: from it, and from the UIs of others.
package links

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// What Argo CD shows as a link of an Application or of a resource, and Flux adds to the events of a Kustomization.
const (
	ArgoCD = "link.argocd.argoproj.io/waybill"
	Flux   = "event.toolkit.fluxcd.io/waybill"
)

// ClusterScope stands for the namespace of what has none, as on branches.
const ClusterScope = "_cluster"

// Site is where the web UI is: the start of addresses of its pages. The empty one is nowhere to others, and the web UI to itself.
type Site string

// Parse reads the URL of the web UI, which may be empty. The error says what is wrong with it, and shows no password.
func Parse(text string) (Site, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		if err == nil {
			text = u.Redacted()
		}
		return "", fmt.Errorf("is %q; want that of the web UI, as https://waybill.example.com", text)
	}
	return Site(strings.TrimSuffix(text, "/")), nil
}

// Cluster is the page of a cluster.
func (s Site) Cluster(name string) string { return string(s) + "/clusters/" + url.PathEscape(name) }

// Template is the page of a template.
func (s Site) Template(r object.Ref) string {
	kind := r.Kind
	if r.Group != "" {
		kind += "." + r.Group
	}
	return string(s) + "/templates/" + url.PathEscape(kind) + "/" + url.PathEscape(cmp.Or(r.Namespace, ClusterScope)) + "/" + url.PathEscape(r.Name)
}

// Shown is a manifest of a template whose page Argo CD is to show, if it is a workload and says nothing of that itself. The page is the
// same for every commit.
func (s Site) Shown(r object.Ref, content map[string]any) map[string]any {
	if s == "" || !object.IsWorkload(r.Kind) || isAnnotated(content, ArgoCD) {
		return content
	}
	return object.Annotate(content, ArgoCD, s.Template(r))
}

// Told is an object of Flux whose events are to name the page of a cluster, if it is a Kustomization and says nothing of that itself.
func (s Site) Told(cluster string, content map[string]any) map[string]any {
	if s == "" || content["kind"] != "Kustomization" || isAnnotated(content, Flux) {
		return content
	}
	return object.Annotate(content, Flux, s.Cluster(cluster))
}

func isAnnotated(content map[string]any, key string) bool {
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	_, is := annotations[key]
	return is
}
