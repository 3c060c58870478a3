package consumer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/tree"
)

// ArgoCD says how Argo CD is to sync the clusters.
type ArgoCD struct {
	URL       string   // of the published repository, as Argo CD reaches it; empty: as the source says
	Namespace string   // of Argo CD
	Project   string   // of the Applications
	Clusters  []string // none: all
	UI        string   // URL of the web UI, to which Applications lead; empty: they do not
}

// Write writes what `get argocd` prints: an ApplicationSet with an Application for each cluster
// that has a branch. What a person should know goes to notes.
func (a ArgoCD) Write(w, notes io.Writer, p *plan.Plan, published map[string]tree.Published) error {
	url, err := publishedURL(a.URL, p)
	if err != nil {
		return err
	}
	if err := known(a.Clusters, p); err != nil {
		return err
	}
	to, err := siteOf(a.UI, p)
	if err != nil {
		return err
	}
	var elements []any
	at := p.Config.Publish.Addresses()
	for _, c := range p.Clusters {
		switch {
		case len(a.Clusters) > 0 && !slices.Contains(a.Clusters, c.Name):
		case published[c.Name].Built == nil:
			fmt.Fprintf(notes, "note: cluster %s has no %s yet; publish first\n", c.Name, at.Noun())
		default:
			element := map[string]any{"cluster": c.Name}
			if at.Shared == "" {
				element["branch"] = "refs/heads/" + at.Of(c.Name).Branch
			}
			elements = append(elements, element)
		}
	}
	if len(elements) == 0 {
		return fmt.Errorf("no cluster has a %s that Argo CD could sync; publish first", at.Noun())
	}
	_, err = io.WriteString(w, documents(a.applicationSet(at, url, elements, to)))
	return err
}

// applicationSet is an Application for each element. A cluster that leaves the list keeps what
// it has, as a cluster that is no longer registered does everywhere in Waybill.
func (a ArgoCD) applicationSet(at render.Addresses, url string, elements []any, to links.Site) map[string]any {
	type m = map[string]any
	named := m{"name": "waybill-{{.cluster}}"}
	if to != "" {
		named["annotations"] = m{links.ArgoCD: to.Cluster("") + "{{.cluster}}"}
	}
	revision, path := "{{.branch}}", tree.ManifestDir
	if at.Shared != "" {
		revision, path = "refs/heads/"+at.Shared, "{{.cluster}}/"+tree.ManifestDir
	}
	return m{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "ApplicationSet",
		"metadata":   m{"name": "waybill", "namespace": a.Namespace},
		"spec": m{
			"goTemplate":        true,
			"goTemplateOptions": []any{"missingkey=error"},
			"generators":        []any{m{"list": m{"elements": elements}}},
			"syncPolicy":        m{"preserveResourcesOnDeletion": true},
			"template": m{
				"metadata": named,
				"spec": m{
					"project":     a.Project,
					"source":      m{"repoURL": url, "targetRevision": revision, "path": path, "directory": m{"recurse": true}},
					"destination": m{"name": "{{.cluster}}"},
					"syncPolicy": m{
						"automated":   m{"prune": true, "selfHeal": true},
						"syncOptions": []any{"ServerSideApply=true", "RespectIgnoreDifferences=true"},
						"retry":       m{"limit": int64(-1), "backoff": m{"duration": "10s", "factor": int64(2), "maxDuration": "5m"}},
					},
				},
			},
		},
	}
}

// siteOf is where the web UI is: what a command line says, or else waybill.yaml.
func siteOf(said string, p *plan.Plan) (links.Site, error) {
	site, err := links.Parse(cmp.Or(said, p.Config.Publish.Links))
	if err != nil {
		return "", fmt.Errorf("--ui-url %w", err)
	}
	return site, nil
}

// publishedURL is where the published repository is; the source may say it, too.
func publishedURL(said string, p *plan.Plan) (string, error) {
	if said == "" {
		said = p.Config.Publish.Repository
	}
	if said == "" {
		return "", errors.New("the URL of the published repository is not known; give it with --url, or set publish.repository")
	}
	return said, nil
}

// known refuses clusters that are not registered.
func known(clusters []string, p *plan.Plan) error {
	for _, name := range clusters {
		if !slices.ContainsFunc(p.Clusters, func(c plan.Cluster) bool { return c.Name == name }) {
			return fmt.Errorf("there is no cluster %q; `waybill get clusters` lists them", name)
		}
	}
	return nil
}
