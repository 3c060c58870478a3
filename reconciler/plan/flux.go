package plan

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// judge returns why the tree of a cluster may not be published; nil if it may.
func (t *table) judge(g *guard.Guard, i int, c *Cluster) *guard.Hold {
	const unreadable = "what the branch holds cannot be read: "
	if err := t.trees[i].Err; err != nil {
		return &guard.Hold{Reason: unreadable + err.Error()}
	}
	held := g.Judge(c.Name, t.in.Published[c.Name], c.Tree, c.Objects)
	reason, err := t.in.flux(t.in.Expanded.Law.Fleet.Clusters()[i]).Handover(c.Tree)
	switch {
	case err != nil:
		reason = unreadable + err.Error()
	case reason == "":
		return held
	}
	if held == nil {
		return &guard.Hold{Reason: reason}
	}
	return &guard.Hold{Reason: held.Reason + "; and " + reason, Removals: held.Removals}
}

// consumers reports what those who sync the branches have to know.
func (in *Input) consumers(clusters []Cluster) (diags []diag.Diagnostic) {
	if in.Medium != Branch {
		return nil
	}
	var unable []string
	trees := tree.NewBuilder()
	encrypted := map[files.ID]bool{}
	for i, c := range in.Expanded.Law.Fleet.Clusters() {
		diags = append(diags, in.fluxProblems(c)...)
		built := clusters[i].Tree
		if names := in.flux(c).NewFolders(built); len(names) > 0 && clusters[i].Held == nil {
			diags = append(diags, newFolders(c.Name, names))
		}
		if in.Source.Config.Publish.Hooks != render.HooksArgoCD {
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
		diags = append(diags, diag.Diagnostic{
			Code: diag.NotDecrypted, Severity: diag.Warning,
			Message: fmt.Sprintf("the branches of %s hold documents that SOPS encrypted; Argo CD (publish.hooks: argocd) applies them as they are, so that the cluster gets the ciphertext", words.List(unable)),
			Hint:    "use Sealed Secrets or an ExternalSecret, sync with Flux, or give Argo CD a plugin that decrypts",
		})
	}
	return diags
}

func (in *Input) fluxProblems(c *fleet.Cluster) (diags []diag.Diagnostic) {
	_, problems := in.Source.Config.Publish.Flux.For(c.Name, c.Source.Annotations)
	for _, p := range problems {
		diags = append(diags, diag.Diagnostic{
			Code: diag.BadFlux, Severity: diag.Error, Pos: in.Expanded.Law.ClusterPos(c.Name, p.Annotation),
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
