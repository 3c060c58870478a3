package engines

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// maxDependencies bounds how deep charts of the source may lie in each other.
const maxDependencies = 10

// withDependencies is the chart in a folder of files, and in its charts/ those that it
// names and does not bring along: from folders beside it, and from engine.ChartDir.
func withDependencies(files fs.FS, dir string) (fs.FS, error) {
	own, err := fs.Sub(files, dir)
	if err != nil {
		return nil, err
	}
	missing, err := helm.MissingDependencies(own)
	if err != nil || len(missing) == 0 {
		return own, err
	}
	a := arrangement{files: files, paths: map[string]string{}}
	if err := a.chart(dir, ".", maxDependencies); err != nil {
		return nil, err
	}
	return sources.Arranged(files, a.paths), nil
}

// arrangement puts the files of charts at other paths.
type arrangement struct {
	files fs.FS
	paths map[string]string
}

// chart puts the chart in the folder dir, with its dependencies, at another path.
func (a *arrangement) chart(dir, at string, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%s: its dependencies are nested over %d deep", dir, maxDependencies)
	}
	err := fs.WalkDir(a.files, dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			a.paths[path.Join(at, strings.TrimPrefix(p, dir+"/"))] = p
		}
		return err
	})
	if err != nil {
		return err
	}
	own, err := fs.Sub(a.files, dir)
	if err != nil {
		return err
	}
	missing, err := helm.MissingDependencies(own)
	if err != nil {
		return err
	}
	for _, d := range missing {
		from, err := a.find(dir, d)
		if err != nil {
			return err
		}
		if err := a.chart(from, path.Join(at, "charts", d.Name), depth-1); err != nil {
			return err
		}
	}
	return nil
}

// find returns the folder of a dependency of the chart in dir.
func (a *arrangement) find(dir string, d helm.Dependency) (string, error) {
	if local, ok := strings.CutPrefix(d.Repository, "file://"); ok {
		from := path.Join(dir, local)
		if path.IsAbs(local) || !fs.ValidPath(from) {
			return "", fmt.Errorf("%s/Chart.yaml: the dependency %s is at %q, which is outside of the source", dir, d.Name, d.Repository)
		}
		return from, nil
	}
	ref, ok := engine.DependencyRef(d)
	if !ok {
		return "", fmt.Errorf("%s/Chart.yaml: the dependency %s is not in charts/, and %q is no URL of a repository", dir, d.Name, d.Repository)
	}
	from := engine.ChartDir + "/" + engine.ChartFolder(ref)
	if _, err := fs.Stat(a.files, from); err != nil {
		return "", fmt.Errorf("%s/Chart.yaml: the dependency %s is neither in charts/ nor in %s; run waybill update", dir, ref, lock.FileName)
	}
	return from, nil
}
