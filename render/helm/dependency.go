package helm

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
)

// Dependency is a chart that another one needs and does not bring along.
type Dependency struct {
	Name       string
	Repository string // http(s)://, oci:// without the name, or file:// and a path from the chart
	Version    string // of Chart.lock, or else the range of Chart.yaml
}

// MissingDependencies lists the charts that a chart names in Chart.yaml, with a
// repository, and that are not in its folder charts/. It reads little, so that it can
// be asked before the chart is had. A Chart.yaml that cannot be read lists none: Load
// says what is wrong with it.
func MissingDependencies(files fs.FS) ([]Dependency, error) {
	var meta chart.Metadata
	if ok, err := readYAML(files, "Chart.yaml", &meta); err != nil || !ok {
		return nil, err
	}
	var locked chart.Lock
	if _, err := readYAML(files, "Chart.lock", &locked); err != nil {
		return nil, err
	}
	var missing []Dependency
	for _, d := range meta.Dependencies {
		if d == nil || d.Repository == "" || d.Name == "" || has(files, d.Name) {
			continue
		}
		is := Dependency{Name: d.Name, Repository: d.Repository, Version: d.Version}
		for _, l := range locked.Dependencies {
			if l != nil && l.Name == d.Name && l.Repository == d.Repository {
				is.Version = l.Version
			}
		}
		missing = append(missing, is)
	}
	return missing, nil
}

// readYAML reads a file into a value; false if there is none that is sound.
func readYAML(files fs.FS, name string, into any) (bool, error) {
	data, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", name, err)
	}
	return len(object.Scan(name, data)) == 0 && yaml.Unmarshal(data, into) == nil, nil
}

// has reports whether a chart of that name is in charts/, as a folder or a package.
func has(files fs.FS, name string) bool {
	entries, err := fs.ReadDir(files, "charts")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == name || isPackage(e.Name(), name) {
			return true
		}
		var meta chart.Metadata
		if ok, err := readYAML(files, path.Join("charts", e.Name(), "Chart.yaml"), &meta); e.IsDir() && err == nil && ok && meta.Name == name {
			return true
		}
	}
	return false
}

// isPackage reports a file that is called as a package of a chart is, by its name and a version: redis-cluster-9.0.1.tgz is none
// of redis.
func isPackage(file, name string) bool {
	version, found := strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), name+"-")
	_, err := semver.NewVersion(version)
	return found && err == nil && path.Ext(file) == ".tgz"
}
