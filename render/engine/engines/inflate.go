package engines

import (
	"fmt"
	"io/fs"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	helmbuild "github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/sources/lock"
)

// inflate renders a chart that a kustomization lists: one in local, or one of a
// repository, which is below engine.ChartDir of files. As in kustomize hooks are manifests
// like others, but those of tests are left out.
func inflate(local, files fs.FS, c kustomize.HelmChart) ([]byte, error) {
	at, dir := local, c.Path
	if c.Path == "" {
		at, dir = files, engine.ChartDir+"/"+engine.ChartFolder(engine.ChartRef(c))
		if _, err := fs.Stat(files, dir); err != nil {
			return nil, fmt.Errorf("%s is not in %s; run waybill update", engine.ChartRef(c), lock.FileName)
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
	out, err := helmbuild.Template(chart, r)
	if err != nil {
		return nil, err
	}
	var documents []engine.Document
	for _, m := range out.Manifests {
		if m.Hook == nil || !c.SkipHooks && !m.Hook.Test() {
			documents = append(documents, engine.Document{Data: m.Data})
		}
	}
	return join(documents), nil
}
