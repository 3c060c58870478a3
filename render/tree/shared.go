package tree

import "github.com/waybill-dev/waybill/sources/files"

// SharedFile is the file at the root of a branch on which each cluster has a folder.
const SharedFile = kustomizationFile

// Shared returns what SharedFile holds. Where there is no kustomization, Flux applies all manifests
// below the path that it is pointed at: pointed at the root, those of all clusters to one. This one
// fails instead, so that nothing is applied or pruned. Kustomize prints what is not found.
func Shared() *files.Blob {
	return files.NewBlob([]byte("# Each cluster has a folder here, and syncs that. The root cannot be synced: this file is to fail.\n" +
		"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- sync-the-folder-of-a-cluster-by-path-./NAME\n"))
}
