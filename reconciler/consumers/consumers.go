// Package consumers says what Flux and Argo CD, who sync the branches of clusters, have to
// know of them: what they cannot decrypt, what nothing syncs yet, and which settings are wrong.
package consumers

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Branch is what the branch of a cluster is to hold.
type Branch struct {
	Tree *files.Folder
	Flux tree.Flux
	Held bool // nothing is published there
}

// Check reports what consumers of branches have to know. There is a branch for each cluster
// of the fleet, in its order.
func Check(l *index.Policies, config render.ConfigSpec, branches []Branch) (diags []diag.Diagnostic) {
	var unable []string
	trees := tree.NewBuilder()
	encrypted := map[files.ID]bool{}
	for i, c := range l.Fleet.Clusters() {
		b := &branches[i]
		diags = append(diags, wrongSettings(l, config, c)...)
		if names := b.Flux.NewFolders(b.Tree); len(names) > 0 && !b.Held {
			diags = append(diags, newFolders(c.Name, names))
		}
		if config.Publish.Hooks != render.HooksArgoCD {
			continue
		}
		if _, known := encrypted[b.Tree.ID()]; !known {
			encrypted[b.Tree.ID()] = trees.Encrypted(b.Tree)
		}
		if encrypted[b.Tree.ID()] {
			unable = append(unable, c.Name)
		}
	}
	if len(unable) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.NotDecrypted, Severity: diag.Warning,
			Message: fmt.Sprintf("the branches of %s hold documents that SOPS encrypted; Argo CD (publish.hooks: argocd) applies them as they are, so that the cluster gets the ciphertext", words.List(unable)),
			Hint:    "use Sealed Secrets or an ExternalSecret, sync with Flux, or give Argo CD a plugin that decrypts",
		})
	}
	return diags
}

// Detached reports clusters that have something published at an address and are no longer
// registered: it stays, and so does what syncs it.
func Detached(clusters []string, at render.Addresses) (diags []diag.Diagnostic) {
	for _, name := range clusters {
		diags = append(diags, diag.Diagnostic{
			Code: diag.ClusterDetached, Severity: diag.Warning,
			Message: fmt.Sprintf("cluster %s is no longer registered; its %s stays as it is", name, at.Noun()),
			Hint:    "register it again, or " + at.Of(name).Removal(),
		})
	}
	return diags
}

// Moved reports that clusters go from addresses to others.
func Moved(from, to render.Addresses) []diag.Diagnostic {
	if from == to {
		return nil
	}
	return []diag.Diagnostic{{
		Code: diag.ClustersMoved, Severity: diag.Warning, Pos: diag.Pos{File: render.ConfigFile},
		Message: fmt.Sprintf("clusters go from %s to %s; what is there stays, and nothing is published there any more", from.Words(), to.Words()),
		Hint:    "once this is published, point Flux and Argo CD there, as waybill get flux and waybill get argocd print it; waybill apply, the controller and agents follow by themselves",
	}}
}

// wrongSettings reports annotations of a Cluster that say how Flux is to sync it and are
// wrong.
func wrongSettings(l *index.Policies, config render.ConfigSpec, c *fleet.Cluster) (diags []diag.Diagnostic) {
	_, problems := config.Publish.Flux.For(c.Name, c.Source.Annotations)
	for _, p := range problems {
		diags = append(diags, diag.Diagnostic{
			Code: diag.BadFlux, Severity: diag.Error, Pos: l.ClusterPos(c.Name, p.Annotation),
			Message: fmt.Sprintf("Cluster %s: %s", c.Name, p.Message),
			Hint:    "until then it is as publish.flux of " + render.ConfigFile + " says",
		})
	}
	return diags
}

// newFolders says that a branch in the form before has folders that nothing syncs yet.
func newFolders(cluster string, names []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.FluxFolder, Severity: diag.Warning,
		Message: fmt.Sprintf("the branch of %s has a folder for each namespace, and nothing syncs the new ones yet: %s", cluster, words.List(names)),
		Hint:    fmt.Sprintf("apply what `waybill get flux --cluster %s` prints, or go over to one root for good: `waybill get flux --migrate --cluster %s`", cluster, cluster),
	}
}
