package consumer

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
)

// What Argo CD shows as a link of an Application, and Flux adds to the events of a Kustomization.
const (
	argocdLink   = "link.argocd.argoproj.io/waybill"
	fluxMetadata = "event.toolkit.fluxcd.io/waybill"
)

// links lead to the pages of clusters in the web UI; the zero value leads nowhere.
type links struct{ base string }

// linksTo leads to the web UI at a URL, which may be empty.
func linksTo(ui string) (links, error) {
	if ui == "" {
		return links{}, nil
	}
	u, err := url.Parse(ui)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil {
		if err == nil {
			ui = u.Redacted()
		}
		return links{}, fmt.Errorf("--ui-url is %q; want that of the web UI, as https://waybill.example.com", ui)
	}
	return links{strings.TrimSuffix(ui, "/")}, nil
}

// of is the page of a cluster, as it stands in an annotation; empty for nowhere.
func (l links) of(cluster string) string {
	if l.base == "" {
		return ""
	}
	return l.base + "/clusters/" + cluster
}

// annotated returns an object of Flux that names the page of a cluster in its events, if it is a Kustomization and there is one.
func (l links) annotated(cluster string, o map[string]any) map[string]any {
	meta, isMapping := o["metadata"].(map[string]any)
	if l.base == "" || o["kind"] != "Kustomization" || !isMapping {
		return o
	}
	o, meta = maps.Clone(o), maps.Clone(meta)
	annotations := map[string]any{fluxMetadata: l.of(cluster)}
	if before, ok := meta["annotations"].(map[string]any); ok {
		maps.Copy(annotations, before)
	}
	meta["annotations"] = annotations
	o["metadata"] = meta
	return o
}
