// Package consumer writes what `get flux` and `get argocd` print: how those who sync the branches of clusters, Flux and
// Argo CD, are to do that.
package consumer

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// Flux says how Flux is to sync the clusters.
type Flux struct {
	URL      string   // of the published repository, as the clusters reach it; empty: as the source says
	Secret   string   // with the credentials for it
	Clusters []string // none: all
	UI       string   // URL of the web UI, to which events of Kustomizations lead; empty: they do not
	Migrate  bool     // the steps from a Kustomization for each namespace to one root
	Rollout  FluxRollout
}

// Write writes what `get flux` prints: the Flux objects that sync the branches of a plan,
// or the steps to one root. What a person should know goes to notes.
func (f Flux) Write(w, notes io.Writer, p *plan.Plan, published map[string]tree.Published) error {
	url, err := publishedURL(f.URL, p)
	if err != nil {
		return err
	}
	if err := known(f.Clusters, p); err != nil {
		return err
	}
	f.URL = url
	to, err := siteOf(f.UI, p)
	if err != nil {
		return err
	}
	var reporter fluxsync.Reporter
	if f.Rollout.Wanted {
		if f.Migrate {
			return errors.New("--migrate prints steps, and --rollout objects; use one of them, --migrate first")
		}
		if reporter, err = f.Rollout.reporter(url); err != nil {
			return err
		}
	}
	printer := fluxPrinter{
		Flux: f, at: p.Config.Publish.Addresses(), trees: tree.NewBuilder(), w: w, notes: notes, reporter: reporter, site: to,
	}
	for _, c := range p.Clusters {
		if len(f.Clusters) > 0 && !slices.Contains(f.Clusters, c.Name) {
			continue
		}
		if before := published[c.Name]; before.Built == nil {
			fmt.Fprintf(notes, "note: cluster %s has no %s yet; publish first\n", c.Name, printer.at.Noun())
		} else if err := printer.cluster(c, before); err != nil {
			return fmt.Errorf("cluster %s: %w", c.Name, err)
		}
	}
	if printer.source != "" && len(p.Clusters) > 1 && len(f.Clusters) != 1 && p.Config.Publish.Moves.Wait.Duration == 0 {
		fmt.Fprintf(notes, "note: what moves from one cluster to another is in neither while Flux looks again (%s and %s); "+
			"publish.moves.wait: %s in waybill.yaml, which is twice that, keeps the old copy so long\n", fluxsync.SourceInterval, fluxsync.Interval, fluxsync.Wait)
	}
	return nil
}

// fluxPrinter prints how Flux syncs each cluster.
type fluxPrinter struct {
	Flux

	at       render.Addresses
	trees    *tree.Builder
	w        io.Writer
	notes    io.Writer
	reporter fluxsync.Reporter // of roll-outs, if they are wanted
	source   string            // that was printed last: clusters that share a branch share it, too
	site     links.Site
}

func (p *fluxPrinter) cluster(c plan.Cluster, before tree.Published) error {
	sync, branch := c.Sync, p.at.Of(c.Name).Branch
	sync.Encrypted = sync.Encrypted || p.trees.Encrypted(before.Built) || p.trees.Encrypted(c.Tree)
	source, folders := documents(sync.GitRepository(p.URL, branch, p.Secret)), before.Folders()
	root := source + documents(p.site.Told(sync.Cluster, sync.Root()))
	if p.Migrate {
		return p.steps(c, before, fluxsync.Migration{Folders: folders, Branch: branch, URL: p.URL, Objects: root})
	}
	if len(folders) == 0 || sync.Form != "" {
		if len(folders) > 0 {
			fmt.Fprintf(p.notes, "note: the branch of cluster %s still has a folder for each namespace; if Kustomizations sync those, follow what --migrate prints, and do not apply this\n", c.Name)
		}
		if p.Rollout.Wanted {
			return p.rollout(sync, source, before)
		}
		return p.print(source, documents(p.site.Told(sync.Cluster, sync.Root())))
	}
	return p.folders(sync, source, folders)
}

// print prints Kustomizations behind their source, unless that is there.
func (p *fluxPrinter) print(source, kustomizations string) error {
	if source == p.source {
		source = ""
	} else {
		p.source = source
	}
	_, err := io.WriteString(p.w, source+kustomizations)
	return err
}

// steps prints how a cluster goes over to one root.
func (p *fluxPrinter) steps(c plan.Cluster, before tree.Published, m fluxsync.Migration) error {
	var err error
	if m.Rooted, err = before.Rooted(); err != nil {
		return err
	}
	if c.Sync.Form == fluxsync.FormSplit {
		if m.Leaving, err = (tree.Flux{Sync: c.Sync, Before: before}).Moved(c.Tree); err != nil {
			return err
		}
	}
	steps := c.Sync.Steps(m)
	if steps == "" {
		fmt.Fprintf(p.notes, "note: cluster %s has one root; there is nothing to do\n", c.Name)
	}
	_, err = io.WriteString(p.w, steps)
	return err
}

// folders prints the Kustomizations of a branch in the form before.
func (p *fluxPrinter) folders(sync fluxsync.Sync, source string, folders []string) error {
	fmt.Fprintf(p.notes, "note: the branch of cluster %s has a folder for each namespace; a root Kustomization %s beside these would take their objects; --migrate prints the way to one root\n", sync.Cluster, sync.RootName())
	var objects []map[string]any
	names := map[string]string{}
	for _, folder := range folders {
		name := sync.FolderName(folder)
		if other, taken := names[name]; taken {
			return fmt.Errorf("flux/%s and flux/%s are both called %s, so that applying these would delete what one of them holds; follow what --migrate prints", other, folder, name)
		}
		names[name] = folder
		first := ""
		if slices.Contains(folders, "_cluster") {
			first = "_cluster"
		}
		k := sync.FolderOf(folder, "flux/"+folder, first)
		if p.Rollout.Wanted {
			k = sync.Awaited(k)
		}
		objects = append(objects, p.site.Told(sync.Cluster, k))
	}
	if p.Rollout.Wanted {
		objects = append(objects, sync.Reports(p.reporter)...)
	}
	return p.print(source, documents(objects...))
}

// documents prints objects as YAML.
func documents(objects ...map[string]any) string {
	var b strings.Builder
	for _, o := range objects {
		b.WriteString("---\n")
		b.Write(object.Encode(o))
	}
	return b.String()
}
