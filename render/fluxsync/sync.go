package fluxsync

import (
	"path"
	"strings"

	"github.com/waybill-dev/waybill/render/links"
)

// Sync is how Flux syncs the branch of one cluster.
type Sync struct {
	Settings

	Cluster string
	// Folder is that of the cluster on a branch that clusters share; empty for a branch of its own.
	Folder string
	// Encrypted says that the cluster has, or may have, documents of SOPS.
	Encrypted bool
	// Links is where the web UI is, which events of parts name; empty: they name nothing.
	Links links.Site
}

// defaultSecret is where Flux's documentation has the age keys of SOPS.
const defaultSecret = "sops-age"

const (
	sourceAPI    = "source.toolkit.fluxcd.io/v1"
	kustomizeAPI = "kustomize.toolkit.fluxcd.io/v1"
)

// RootName is the name of the root Kustomization.
func (s Sync) RootName() string { return label("waybill-" + s.Cluster) }

// ChildName is the name of the Kustomization of a part. No FolderName is like it: a
// namespace has no dot.
func (s Sync) ChildName(part string) string { return label("waybill-" + s.Cluster + "." + part) }

// FolderName is the name of the Kustomization of a folder of the form before. The folder
// of what is in no namespace and that of a namespace named cluster have one name.
func (s Sync) FolderName(folder string) string {
	return label("waybill-" + s.Cluster + "-" + strings.TrimLeft(folder, "_"))
}

// The intervals at which a source, and a Kustomization, looks again.
const (
	SourceInterval = "1m"
	Interval       = "10m"
)

// Wait is twice the time after which both have looked again: how long an old copy should stay where Flux brings the new
// one, and nobody says how it is.
const Wait = "22m"

// GitRepository returns the source of a branch. The Secret with its credentials may be
// empty.
func (s Sync) GitRepository(url, branch, secret string) map[string]any {
	spec := map[string]any{"interval": SourceInterval, "url": url, "ref": map[string]any{"branch": branch}}
	if secret != "" {
		spec["secretRef"] = map[string]any{"name": secret}
	}
	return map[string]any{"apiVersion": sourceAPI, "kind": "GitRepository", "metadata": metadata(s.Source, s.Namespace), "spec": spec}
}

// Root returns the Kustomization that syncs all that the cluster has on the branch.
func (s Sync) Root() map[string]any { return s.kustomization(s.RootName(), s.Namespace, "") }

// Child is a part of a branch that a Kustomization of its own syncs.
type Child struct {
	Part      string
	Path      string // of its kustomization, among the cluster's files
	Namespace string
	Orphan    bool // its objects stay when it is deleted
}

// Child returns the Kustomization of a part. It follows the root.
func (s Sync) Child(c Child) map[string]any {
	k := s.kustomization(s.ChildName(c.Part), c.Namespace, c.Path)
	spec, _ := k["spec"].(map[string]any)
	spec["dependsOn"] = []any{s.reference(map[string]any{"name": s.RootName()}, c.Namespace)}
	if c.Orphan {
		spec["deletionPolicy"] = "Orphan"
	}
	return s.Links.Told(s.Cluster, k)
}

// ReadChild reads back the namespace and the deletion policy of what Child returned.
func ReadChild(k map[string]any) (namespace string, orphan bool) {
	meta, _ := k["metadata"].(map[string]any)
	spec, _ := k["spec"].(map[string]any)
	namespace, _ = meta["namespace"].(string)
	return namespace, spec["deletionPolicy"] == "Orphan"
}

// FolderOf returns the Kustomization of a folder of the form before, at a path among the
// cluster's files. It follows that of the first folder, if that is another one.
func (s Sync) FolderOf(folder, path, first string) map[string]any {
	k := s.kustomization(s.FolderName(folder), s.Namespace, path)
	if first != "" && first != folder {
		spec, _ := k["spec"].(map[string]any)
		spec["dependsOn"] = []any{map[string]any{"name": s.FolderName(first)}}
	}
	return k
}

// kustomization syncs a path among the cluster's files; Flux knows it from the root of the branch.
func (s Sync) kustomization(name, namespace, among string) map[string]any {
	spec := map[string]any{
		"interval": Interval, "retryInterval": "1m", "timeout": "5m", "prune": true, "path": "./" + path.Join(s.Folder, among),
		"sourceRef": s.reference(map[string]any{"kind": "GitRepository", "name": s.Source}, namespace),
	}
	if s.ServiceAccountName != "" {
		spec["serviceAccountName"] = s.ServiceAccountName
	}
	if secret := s.secret(); secret != "" {
		spec["decryption"] = map[string]any{"provider": "sops", "secretRef": map[string]any{"name": secret}}
	}
	return map[string]any{"apiVersion": kustomizeAPI, "kind": "Kustomization", "metadata": metadata(name, namespace), "spec": spec}
}

// reference adds the namespace of the root and the source to a reference from another.
func (s Sync) reference(ref map[string]any, from string) map[string]any {
	if from != s.Namespace {
		ref["namespace"] = s.Namespace
	}
	return ref
}

// secret is where the keys are; empty where nothing is to be decrypted.
func (s Sync) secret() string {
	if s.DecryptionSecret == "" && s.Encrypted {
		return defaultSecret
	}
	return s.DecryptionSecret
}

func metadata(name, namespace string) map[string]any {
	return map[string]any{"name": name, "namespace": namespace}
}
