package publish

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// share adds the update of the branch that clusters share: its head with the folders that changed.
// Whatever else is there stays. It is one update, so that a server takes all of it or nothing.
func (c *changer) share() {
	if len(c.folders) == 0 {
		return
	}
	entries, there := slices.Clone(c.folders), map[string]bool{}
	for _, e := range entries {
		there[e.Name] = true
	}
	if c.heads.Shared.Root != nil {
		for _, e := range c.heads.Shared.Root.Entries() {
			if !there[e.Name] {
				entries, there[e.Name] = append(entries, e), true
			}
		}
	}
	if !there[tree.SharedFile] {
		entries = append(entries, files.FileEntry(tree.SharedFile, tree.Shared()))
	}
	c.update(c.at.Shared, c.heads.Shared.Commit, files.NewFolder(entries), stageGive)
	for _, goes := range c.continued {
		goOn(&c.updates[len(c.updates)-1], goes)
	}
}

// Continued says where a cluster was published before, and the commit of that branch.
type Continued struct {
	From   render.Address
	Commit files.ID
	// AsItWas says that what it had came along as it was, because it was held, or no longer
	// registered.
	AsItWas bool
}

// wordAsItWas is the word of a trailer for AsItWas.
const wordAsItWas = "as-it-was"

// takeAlong has what clusters have that are not registered any more, and stays as it is, be where the
// others go.
func (c *changer) takeAlong() {
	for _, cluster := range slices.Sorted(maps.Keys(c.base.Moved)) {
		if slices.ContainsFunc(c.plan.Clusters, func(cl plan.Cluster) bool { return cl.Name == cluster }) {
			continue
		}
		moved, p := c.base.Moved[cluster], c.base.Published[cluster]
		continued := Continued{From: moved.From, Commit: moved.Commit, AsItWas: true}
		c.write(cluster, asItWas(moved.Root, &p), []string{TrailerCluster + ": " + cluster, continued.line(cluster)}, stageGive)
	}
}

// asItWas is what a cluster had at another address, with what others put at the new one.
func asItWas(before *files.Folder, p *tree.Published) *files.Folder {
	return tree.Overlay(before, p.Foreign)
}

// line is that of TrailerContinued.
func (c *Continued) line(cluster string) string {
	line := fmt.Sprintf("%s: %s %s %s", TrailerContinued, cluster, c.From, c.Commit)
	if c.AsItWas {
		line += " " + wordAsItWas
	}
	return line
}

// ParseContinued reads of a message what it says of a cluster; false if that was published at the same
// address before, or not at all.
func ParseContinued(message, cluster string) (Continued, bool) {
	for _, value := range sources.Trailers(message, TrailerContinued) {
		f := strings.Fields(value)
		if len(f) < 3 || f[0] != cluster {
			continue
		}
		id, err := files.ParseID(f[2])
		return Continued{From: render.ParseAddress(f[1]), Commit: id, AsItWas: len(f) > 3 && f[3] == wordAsItWas}, err == nil
	}
	return Continued{}, false
}

// leftBehind says where clusters are published no longer because the layout changed. While it changes,
// the plan says so.
func (c *changer) leftBehind() []diag.Diagnostic {
	if len(c.base.Left) == 0 || len(c.base.Moved) > 0 {
		return nil
	}
	var branches []string
	for _, a := range c.base.Left {
		if !slices.Contains(branches, a.Branch) {
			branches = append(branches, a.Branch)
		}
	}
	left := fmt.Sprintf("the branches of before (%s) stay as they are", words.List(branches))
	if len(branches) == 1 {
		left = fmt.Sprintf("the branch of before, %s, stays as it is", branches[0])
	}
	return []diag.Diagnostic{{
		Code: diag.LeftBehind, Severity: diag.Warning,
		Message: fmt.Sprintf("clusters are published to %s; %s, and nothing is published there any more", c.at.Words(), left),
		Hint:    "when nobody syncs them any more, delete them: git push REMOTE --delete BRANCH",
	}}
}
