//go:build e2e && !race

package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmengine "helm.sh/helm/v3/pkg/engine"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/waybill-dev/waybill/render/engine"
)

// errand is a job of the naive renderer. It has all that the renderer needs to get
// at the canaries, so that nothing but walls is in its way.
type errand struct {
	Job    engine.Job
	Source string   // the folder of the fixture
	OnDisk bool     // the files are there, and not only in the job's file system
	API    string   // the address of what could be a cluster
	DNS    string   // the address of the resolver
	Env    []string // the environment, but for the secret
}

// naive renders as a program does that trusts what it renders: with everything that
// kustomize and Helm can do allowed.
func naive(job []byte, fsys fs.FS) ([]byte, error) {
	var e errand
	if err := json.Unmarshal(job, &e); err != nil {
		return nil, fmt.Errorf("decoding an errand: %w", err)
	}
	for _, v := range e.Env {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return nil, fmt.Errorf("setting %s: %w", name, err)
		}
	}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", e.DNS)
	}}
	if e.Job.Helm != nil {
		return naiveHelm(e, fsys)
	}
	return naiveKustomize(e, fsys)
}

// naiveKustomize builds with programs, plugins, charts, and no load restrictions. It
// has no use for the overlay of a Flux Kustomization.
func naiveKustomize(e errand, fsys fs.FS) ([]byte, error) {
	disk, root := filesys.MakeFsOnDisk(), e.Source
	if !e.OnDisk {
		memory, err := inMemory(fsys, root)
		if err != nil {
			return nil, err
		}
		disk = leaky{memory}
	}
	o := krusty.MakeDefaultOptions()
	o.LoadRestrictions = types.LoadRestrictionsNone
	o.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	o.PluginConfig.FnpLoadingOptions.EnableExec = true
	o.PluginConfig.FnpLoadingOptions.Network = true
	o.PluginConfig.FnpLoadingOptions.WorkingDir = root
	result, err := krusty.MakeKustomizer(o).Run(disk, filepath.Join(root, e.Job.Kustomize.Dir))
	if err != nil {
		return nil, fmt.Errorf("building: %w", err)
	}
	data, err := result.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("writing what was built: %w", err)
	}
	return data, nil
}

// inMemory copies files to where they would be on the disk.
func inMemory(fsys fs.FS, root string) (filesys.FileSystem, error) {
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return nil // such as a link, which a file system in memory has not
		}
		return memory.WriteFile(filepath.Join(root, p), data)
	})
	if err != nil {
		return nil, fmt.Errorf("copying: %w", err)
	}
	return memory, nil
}

// leaky reads from the disk what the file system in memory has not.
type leaky struct{ filesys.FileSystem }

func (l leaky) ReadFile(path string) ([]byte, error) {
	if data, err := l.FileSystem.ReadFile(path); err == nil {
		return data, nil
	}
	return filesys.MakeFsOnDisk().ReadFile(path)
}

func (l leaky) Exists(path string) bool {
	return l.FileSystem.Exists(path) || filesys.MakeFsOnDisk().Exists(path)
}

func (l leaky) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if dir, name, err := l.FileSystem.CleanedAbs(path); err == nil {
		return dir, name, nil
	}
	return filesys.MakeFsOnDisk().CleanedAbs(path)
}

// naiveHelm renders with DNS, a cluster to look things up in, Helm's own schema
// validation, and, for what Helm took away from templates, without Helm.
func naiveHelm(e errand, fsys fs.FS) ([]byte, error) {
	c, err := naiveChart(e, fsys)
	if err != nil {
		return nil, err
	}
	values := map[string]any(e.Job.Helm.Release.Values)
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return nil, fmt.Errorf("processing dependencies: %w", err)
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: e.Job.Helm.Release.Name, Namespace: "default"}, nil)
	if err != nil {
		return nil, fmt.Errorf("making values: %w", err)
	}
	with := helmengine.New(&rest.Config{Host: "http://" + e.API})
	with.EnableDNS = true
	rendered, err := with.Render(c, all)
	if err != nil && strings.Contains(err.Error(), "not defined") {
		return plain(c, all)
	}
	return fmt.Append(nil, rendered), err
}

func naiveChart(e errand, fsys fs.FS) (*chart.Chart, error) {
	dir := e.Job.Helm.Chart.Path
	if e.OnDisk {
		return loader.LoadDir(filepath.Join(e.Source, dir))
	}
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	var files []*loader.BufferedFile
	err = fs.WalkDir(sub, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sub, p)
		if err != nil {
			return nil // such as a link
		}
		files = append(files, &loader.BufferedFile{Name: p, Data: data})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	return loader.LoadFiles(files)
}

// plain renders a chart's templates with all functions of sprig.
func plain(c *chart.Chart, values chartutil.Values) ([]byte, error) {
	var all strings.Builder
	for _, file := range c.Templates {
		t, err := template.New(file.Name).Funcs(sprig.TxtFuncMap()).Parse(string(file.Data))
		if err == nil {
			err = t.Execute(&all, values)
		}
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", file.Name, err)
		}
	}
	return []byte(all.String()), nil
}
