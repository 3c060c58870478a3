package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/sources/lock"
)

// ChartDir is where, among the files of a Kustomize job, the charts of repositories
// are that waybill.lock names, each in the folder ChartFolder.
const ChartDir = ".waybill/charts"

// ChartFolder is the name of a chart's folder in ChartDir.
func ChartFolder(r lock.Ref) string {
	r.Repository, r.Constraint = strings.TrimRight(r.Repository, "/"), strings.TrimSpace(r.Constraint) // as in the lock
	sum := sha256.Sum256([]byte(r.String()))
	return hex.EncodeToString(sum[:])
}

// ChartRef is the reference of a chart that a kustomization takes from a repository.
func ChartRef(c kustomize.HelmChart) lock.Ref {
	r := lock.Ref{Kind: lock.Helm, Repository: c.Repo, Name: c.Name, Constraint: c.Version}
	if strings.HasPrefix(c.Repo, "oci://") {
		r.Kind = lock.OCI
	}
	return r
}

// DependencyRef is the reference of a chart that another one takes from a repository;
// false for one that is a folder of the source.
func DependencyRef(d helm.Dependency) (lock.Ref, bool) {
	r := lock.Ref{Kind: lock.Helm, Repository: d.Repository, Name: d.Name, Constraint: d.Version}
	switch scheme, _, _ := strings.Cut(d.Repository, ":"); scheme {
	case "http", "https":
	case "oci":
		r.Kind = lock.OCI
	default:
		return lock.Ref{}, false
	}
	return r, true
}
