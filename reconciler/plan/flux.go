package plan

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// flux says how Flux syncs a cluster.
func (b *builder) flux(c *fleet.Cluster) tree.Flux {
	sync, _ := b.in.Source.Config.Publish.Flux.For(c.Name, c.Source.Annotations)
	_, sync.Encrypted = c.Source.Annotations[RecipientsAnnotation]
	return tree.Flux{Sync: sync, Before: b.in.Published[c.Name]}
}

// laidOut returns the tree of manifests. Where the one before it cannot be read it is that
// one, held.
func laidOut(trees *tree.Builder, manifests []tree.Manifest, flux tree.Flux) (*files.Folder, *Hold) {
	built, err := trees.Build(manifests, flux)
	if err != nil {
		return flux.Before.Built, &Hold{Reason: "what the branch holds cannot be read: " + err.Error()}
	}
	return built, nil
}

// handover holds a cluster, which may be held already, if objects would go from one
// Kustomization of Flux to another, which deletes them unless somebody saw to it before.
func handover(c *Cluster, flux tree.Flux, held *Hold) *Hold {
	n, err := flux.Handover(c.Tree)
	var reason string
	switch {
	case err != nil:
		reason = "what the branch holds cannot be read: " + err.Error()
	case n == 0:
		return held
	case c.Sync.Form == fluxsync.FormSingle:
		reason = fmt.Sprintf("%d objects would go back to the root of its branch, and their Flux Kustomizations would delete them; publish with flux form %s first, and let Flux apply it", n, fluxsync.FormOrphan)
	default:
		reason = fmt.Sprintf("%d objects would leave the root of its branch for parts, and a Flux Kustomization with prune: true would delete them; `waybill get flux --migrate --cluster %s` prints what to do first", n, c.Name)
	}
	if held == nil {
		return &Hold{Reason: reason}
	}
	return &Hold{Reason: held.Reason + "; and " + reason, Removals: held.Removals}
}

// consumers reports what those who sync the branches have to know.
func (b *builder) consumers() {
	if b.in.Medium != Branch {
		return
	}
	var unable []string
	trees := tree.NewBuilder()
	encrypted := map[files.ID]bool{}
	for i, c := range b.fleet.Clusters() {
		b.fluxProblems(c)
		built := b.plan.Clusters[i].Tree
		if names := b.flux(c).NewFolders(built); len(names) > 0 && b.plan.Clusters[i].Held == nil {
			b.report(newFolders(c.Name, names))
		}
		if b.in.Source.Config.Publish.Hooks != render.HooksArgoCD {
			continue
		}
		if _, known := encrypted[built.ID()]; !known {
			encrypted[built.ID()] = trees.Encrypted(built)
		}
		if encrypted[built.ID()] {
			unable = append(unable, c.Name)
		}
	}
	if len(unable) > 0 {
		b.report(diag.Diagnostic{
			Code: "not-decrypted", Severity: diag.Warning,
			Message: fmt.Sprintf("the branches of %s hold documents that SOPS encrypted; Argo CD (publish.hooks: argocd) applies them as they are, so that the cluster gets the ciphertext", list(unable)),
			Hint:    "use Sealed Secrets or an ExternalSecret, sync with Flux, or give Argo CD a plugin that decrypts",
		})
	}
}

func (b *builder) fluxProblems(c *fleet.Cluster) {
	_, problems := b.in.Source.Config.Publish.Flux.For(c.Name, c.Source.Annotations)
	for _, p := range problems {
		b.report(diag.Diagnostic{
			Code: "bad-flux", Severity: diag.Error, Pos: b.annotationPos(c.Name, p.Annotation),
			Message: fmt.Sprintf("Cluster %s: %s", c.Name, p.Message),
			Hint:    "until then it is as publish.flux of " + render.ConfigFile + " says",
		})
	}
}

// newFolders says that a branch in the form before has folders that nothing syncs yet.
func newFolders(cluster string, names []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: "flux-folder", Severity: diag.Warning,
		Message: fmt.Sprintf("the branch of %s has a folder for each namespace, and nothing syncs the new ones yet: %s", cluster, list(names)),
		Hint:    fmt.Sprintf("apply what `waybill get flux --cluster %s` prints, or go over to one root for good: `waybill get flux --migrate --cluster %s`", cluster, cluster),
	}
}
