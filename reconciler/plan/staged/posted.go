package staged

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Posted is what commit statuses at a forge say of a cluster.
type Posted struct {
	// Trees are what the newest commits of the cluster's branch have for it, from the head.
	Trees []*files.Folder
	// Said is what the statuses of the first of these commits say, those of the first two, and so on. It may be shorter: more of
	// them say what the last one does.
	Said []Said
	// Ignored are statuses that do not count, each in words.
	Ignored []string
	// Failed says why the forge did not say everything; empty if it did. Nothing is known then.
	Failed string
}

// Said is what commit statuses say of a cluster, whichever unit it is about.
type Said struct {
	// Health is Unknown if none of them counts.
	Health stage.Health
	// WasUnhealthy reports that the cluster may have failed before these commits, too.
	WasUnhealthy bool
	// Ref names the statuses: context, creator, commit and state of each. Message is for people.
	Ref, Message string
	// LeastWait is for how long the health has to be told to count for a while.
	LeastWait time.Duration
	// LeastSettle is for how long a failure has to last at least to count.
	LeastSettle time.Duration
}

// evidence is what statuses say of a unit: those of the commits from the head on that have of its objects what is
// published now. Paths are the files of these objects.
func (p *Posted) evidence(paths []string) stage.Evidence {
	if p.Failed != "" || len(p.Said) == 0 {
		return stage.Evidence{}
	}
	n := 1
	for n < len(p.Trees) && isEqual(p.Trees[0], p.Trees[n], paths) {
		n++
	}
	s := p.Said[min(n, len(p.Said))-1]
	return stage.Evidence{
		Health: s.Health, IsPresent: s.Health != stage.Unknown, Ref: s.Ref, Message: s.Message,
		WasUnhealthy: s.WasUnhealthy, LeastWait: s.LeastWait, LeastSettle: s.LeastSettle,
	}
}

// isEqual reports whether two trees have the same files at paths.
func isEqual(a, b *files.Folder, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return fileID(a, path) != fileID(b, path) })
}

// fileID is the file at a path of a tree; zero for none.
func fileID(root *files.Folder, path string) files.ID {
	if root == nil {
		return files.ID{}
	}
	if e, ok := root.Lookup(path); ok && e.Blob != nil {
		return e.Blob.ID()
	}
	return files.ID{}
}

// paths are those of objects among the files of a cluster.
func (c *Cluster) paths(refs []object.Ref) []string {
	all := make([]string, len(refs))
	for i, r := range refs {
		all[i] = tree.Path(c.Virtual.Ref(r))
	}
	return all
}

// Uncounted says which commit statuses did not count, and of which clusters a forge did not say any.
func Uncounted(clusters []Cluster) (diags []diag.Diagnostic) {
	var ignored, failed []string
	for i := range clusters {
		if p := clusters[i].Posted; p != nil {
			ignored = append(ignored, p.Ignored...)
			if p.Failed != "" {
				failed = append(failed, clusters[i].Name+": "+p.Failed)
			}
		}
	}
	if len(ignored) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.RolloutStatusIgnored, Severity: diag.Warning,
			Message: "commit statuses do not count that were set by others than those whom spec.rollout.commitStatus.creators names: " + words.List(ignored),
			Hint:    "add who sets the statuses of Flux or Argo CD to spec.rollout.commitStatus.creators; whoever is there may speak for every cluster",
		})
	}
	if len(failed) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.RolloutNotAsked, Severity: diag.Warning,
			Message: fmt.Sprintf("the forge did not say how %s; nothing is released on that", words.List(failed)),
			Hint:    "it is asked again within a minute; docs/forges.md says what the token needs",
		})
	}
	return diags
}
