package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/charts"
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

// inflate renders a chart that a kustomization lists: one in local, or one of a
// repository, which is below ChartDir of files. As in kustomize hooks are manifests
// like others, but those of tests are left out.
func inflate(local, files fs.FS, c kustomize.HelmChart) ([]byte, error) {
	at, dir := local, c.Path
	if c.Path == "" {
		at, dir = files, ChartDir+"/"+ChartFolder(ChartRef(c))
		if _, err := fs.Stat(files, dir); err != nil {
			return nil, fmt.Errorf("%s is not in %s; run waybill update", ChartRef(c), lock.FileName)
		}
	}
	chart, err := withDependencies(at, dir)
	if err != nil {
		return nil, err
	}
	r := helm.Release{
		Name: c.ReleaseName, Namespace: c.Namespace, Values: helm.NewValues(c.Values),
		KubeVersion: c.KubeVersion, APIVersions: c.APIVersions, CRDs: helm.Skip,
	}
	if c.IncludeCRDs {
		r.CRDs = helm.Create
	}
	out, err := charts.Template(chart, r)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, m := range out.Manifests {
		if m.Hook == nil || !c.SkipHooks && !m.Hook.Test() {
			documents = append(documents, document{Data: m.Data})
		}
	}
	return join(documents), nil
}
