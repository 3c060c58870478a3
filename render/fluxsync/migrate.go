package fluxsync

import (
	"fmt"
	"slices"
	"strings"
)

// Migration is what there is to know of a cluster that goes over to one root.
type Migration struct {
	Folders []string // of its branch, in the form before
	Rooted  int      // manifests that the root of its branch lists
	Leaving int      // of these, what FormSplit is about to take from it
	Branch  string
	URL     string
	Objects string // what a person applies: the source and the root, as YAML
}

// Steps returns a script that brings a cluster from folders to one root, and that divides
// a root that is too large; empty where there is nothing to do. Nothing is deleted on the
// way, which holds whatever step it stops after.
func (s Sync) Steps(m Migration) string {
	var b strings.Builder
	if len(m.Folders) > 0 {
		s.toRoot(&b, m)
	}
	if m.Rooted > MaxObjects || m.Leaving > 0 {
		s.toParts(&b, m)
	}
	return b.String()
}

func (s Sync) toRoot(b *strings.Builder, m Migration) {
	var names []string
	for _, folder := range m.Folders {
		if name := s.FolderName(folder); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	fmt.Fprintf(b, `# Cluster %[1]s: from a Kustomization for each namespace to one root.
# Run this against %[1]s. Nothing is deleted on the way; sync stands still from 1 to 2.

# 1. The Kustomizations of before rest, and delete nothing from now on. One that was
#    never applied is not found, which does not matter.
for name in %[2]s; do
  kubectl -n %[3]s patch kustomization "$name" --type merge -p '{"spec":{"suspend":true,"prune":false,"deletionPolicy":"Orphan"}}'
done

# 2. The root takes over what they applied.
kubectl apply -f - <<'EOF'
%[4]sEOF
kubectl -n %[3]s wait kustomization/%[5]s --for=condition=Ready --timeout=15m

# 3. Only once the root is Ready: they go, and what they applied stays.
kubectl -n %[3]s delete kustomization --ignore-not-found %[2]s

# 4. The folders leave the branch: put the annotation waybill.dev/flux-form: %[6]s on the
#    Cluster, or, when every cluster is this far, publish.flux: %[6]s into waybill.yaml, and publish.
`, s.Cluster, strings.Join(names, " "), s.Namespace, m.Objects, s.RootName(), FormRoot)
}

func (s Sync) toParts(b *strings.Builder, m Migration) {
	fmt.Fprintf(b, `
# Cluster %[1]s: its root lists %[2]d objects; kustomize is slow above %[3]d. To divide it:

# 1. The root deletes nothing while objects go to its parts.
kubectl -n %[4]s patch kustomization %[5]s --type merge -p '{"spec":{"prune":false}}'

# 2. Put the annotation waybill.dev/flux-form: %[6]s on the Cluster, commit, and publish with
#    --allow-prune: the guard holds the cluster because of this very step.

# 3. Wait until the root and its parts have applied that.
revision="%[7]s@sha1:$(git ls-remote %[8]s refs/heads/%[7]s | cut -f1)"
kubectl -n %[4]s wait kustomization/%[5]s --for=jsonpath='{.status.lastAppliedRevision}'="$revision" --timeout=15m
kubectl -n %[4]s wait kustomization -l kustomize.toolkit.fluxcd.io/name=%[5]s --for=jsonpath='{.status.lastAppliedRevision}'="$revision" --timeout=15m

# 4. Only then: the root prunes again.
kubectl -n %[4]s patch kustomization %[5]s --type merge -p '{"spec":{"prune":true}}'
`, s.Cluster, m.Rooted, MaxObjects, s.Namespace, s.RootName(), FormSplit, m.Branch, m.URL)
}
