package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// maxVisits bounds how many folders kustomize would build, counted as often as it
// would build them: a base that n others use is built n times, so that a dozen small
// files can ask for millions of builds.
const maxVisits = 10_000

// scan walks all that a build would read and collects what is wrong with it.
type scan struct {
	view    *view
	inflate func(HelmChart) ([]byte, error)
	factory *resmap.Factory
	visits  map[visit]int // how many builds a visit stands for
	checked map[string]bool
	found   []diag.Diagnostic
	parsed  [][]byte // the YAML that was scanned
	hidden  []string // values that no message may show
}

// visit is a folder as one of its users builds it. Charts that name no namespace are
// rendered into the user's.
type visit struct{ dir, namespace string }

func newScan(v *view, inflate func(HelmChart) ([]byte, error)) *scan {
	return &scan{
		view: v, inflate: inflate,
		factory: resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()),
		visits:  map[visit]int{}, checked: map[string]bool{},
	}
}

func (s *scan) refuse(pos diag.Pos, code, message, hint string) {
	s.found = append(s.found, diag.Diagnostic{Code: code, Severity: diag.Error, Pos: pos, Message: message, Hint: hint})
}

// folder scans the kustomization of a folder, and what it uses, once for each way of
// building it. A folder without one is reported at from. A cycle ends here and is
// reported by kustomize.
func (s *scan) folder(at visit, from diag.Pos) int {
	if n, ok := s.visits[at]; ok {
		return n
	}
	s.visits[at] = 0
	n := 1
	if k := s.read(at.dir, from); k != nil {
		n = s.kustomization(k, at.namespace)
		s.rewrite(k)
	}
	s.visits[at] = s.bounded(n, at.dir, from)
	return s.visits[at]
}

// bounded reports a folder that stands for too many builds, and returns how many it
// counts for in those that use it: none, so that only the first is reported.
func (s *scan) bounded(n int, dir string, from diag.Pos) int {
	if n <= maxVisits {
		return n
	}
	s.refuse(from, "kustomize-too-many", fmt.Sprintf("%s stands for over %d builds of folders", dir, maxVisits),
		"use each base once, and not through layers that each use the one below several times")
	return 0
}

// read reads the kustomization of a folder. It returns nil where there is none that
// can be read.
func (s *scan) read(dir string, from diag.Pos) *kustfile {
	files := s.view.kustfiles(dir)
	switch {
	case len(files) == 0:
		s.refuse(from, "kustomize-missing", fmt.Sprintf("the folder %q has no kustomization file", dir), "add a kustomization.yaml that lists its manifests")
		return nil
	case len(files) > 1:
		s.refuse(diag.Pos{File: files[1]}, "kustomize-missing", fmt.Sprintf("the folder %q has more than one kustomization file: %q", dir, files), "keep one of them")
		return nil
	}
	content, ok := s.yaml(files[0])
	if !ok {
		return nil
	}
	return s.decode(dir, files[0], content)
}

func (s *scan) decode(dir, file string, content []byte) *kustfile {
	k := &kustfile{dir: dir, file: file, root: &kyaml.Node{}}
	err := kyaml.Unmarshal(content, k.root)
	if err == nil {
		err = k.Unmarshal(content)
	}
	if err != nil {
		s.refuse(diag.Pos{File: file}, "kustomize-invalid", err.Error(), "mend the kustomization; kustomize build says the same of it")
		return nil
	}
	return k
}

// kustomization scans a kustomization and what it uses. It returns how many builds of
// folders it stands for.
func (s *scan) kustomization(k *kustfile, namespace string) int {
	if k.Namespace != "" {
		namespace = k.Namespace
	}
	n := 1
	for _, u := range uses(&k.Kustomization) {
		n += s.use(k, u, namespace)
	}
	s.charts(k, namespace)
	return n
}

// use scans what one string names or holds.
func (s *scan) use(k *kustfile, u use, namespace string) int {
	switch u.kind {
	case text:
		s.limits(k.pos(u.field), []byte(u.value))
		return 0
	case plugin:
		s.plugin(k, u)
		return 0
	case patch:
		if s.inline(k, u) != nil {
			return 0
		}
	default:
	}
	name, isDir, err := s.view.resolve(k.dir, u.value)
	switch {
	case err != nil:
		s.location(k.pos(u.field), u, err)
	case isDir && (u.kind == manifests || u.kind == folder):
		return s.folder(visit{name, namespace}, k.pos(u.field))
	case isDir:
		s.location(k.pos(u.field), u, errNoFile)
	case u.kind == folder:
		s.location(k.pos(u.field), u, errNoFolder)
	case u.kind == data:
		s.size(name)
	case u.kind == secret:
		if content, ok := s.size(name); ok {
			s.hide(content)
		}
	case u.kind == secrets:
		if content, ok := s.size(name); ok {
			s.hideLines(content)
		}
	default:
		s.yaml(name)
	}
	return 0
}

func (s *scan) location(pos diag.Pos, u use, err error) {
	code := "kustomize-location"
	if errors.Is(err, errRemote) {
		code = "kustomize-remote"
	}
	s.refuse(pos, code, fmt.Sprintf("%s: %q %s", u.field, shown(u.value), err), hint(err))
}

// inline returns the resources that stand in a string itself, as kustomize would find
// them there before it takes the string for a path; nil if there are none to find.
func (s *scan) inline(k *kustfile, u use) resmap.ResMap {
	before := len(s.found)
	if slices.ContainsFunc(object.Scan("", []byte(u.value)), isMalformed) {
		return nil
	}
	s.limits(k.pos(u.field), []byte(u.value))
	if len(s.found) > before {
		return resmap.New()
	}
	return s.resources([]byte(u.value))
}

// plugin scans the configurations of generators, transformers or validators. Files that
// they name are looked for from the folder of k, wherever they stand themselves.
func (s *scan) plugin(k *kustfile, u use) {
	if m := s.inline(k, u); m != nil {
		s.configs(k, u, m)
		return
	}
	name, isDir, err := s.view.resolve(k.dir, u.value)
	switch {
	case err != nil:
		s.location(k.pos(u.field), u, err)
	case isDir:
		s.pluginFolder(k, u, name)
	default:
		s.pluginFile(k, u, name)
	}
}

func (s *scan) pluginFile(k *kustfile, u use, name string) {
	if content, ok := s.yaml(name); ok {
		if m := s.resources(content); m != nil {
			s.configs(k, u, m)
		}
	}
}

// pluginFolder scans configurations that a kustomization of their own lists. It may do
// no more than list them: what it changed would be seen by kustomize alone.
func (s *scan) pluginFolder(k *kustfile, u use, dir string) {
	key := visit{dir: dir, namespace: "plugins of " + k.dir}
	if _, ok := s.visits[key]; ok {
		return
	}
	s.visits[key] = 0
	inner := s.read(dir, k.pos(u.field))
	if inner == nil {
		return
	}
	rest := inner.Kustomization
	rest.Resources, rest.Bases, rest.MetaData = nil, nil, nil //nolint:staticcheck // kustomize still reads bases
	if rest.CheckEmpty() == nil {
		s.refuse(diag.Pos{File: inner.file}, "kustomize-plugin",
			fmt.Sprintf("%s of %s uses it for configurations of plugins, and such a kustomization may only list resources", u.field, k.file),
			"write the configurations out as they should be")
		return
	}
	for _, r := range uses(&inner.Kustomization) {
		name, isDir, err := s.view.resolve(dir, r.value)
		switch {
		case err != nil:
			s.location(inner.pos(r.field), r, err)
		case isDir:
			s.pluginFolder(k, u, name)
		default:
			s.pluginFile(k, u, name)
		}
	}
}

// configs scans configurations of plugins that u of k stands for.
func (s *scan) configs(k *kustfile, u use, m resmap.ResMap) {
	for _, r := range m.Resources() {
		all, err := pluginUses(u.field.at(r.GetKind()), r)
		if err != nil {
			s.refuse(k.pos(u.field), "kustomize-plugin", fmt.Sprintf("%s: %s", u.field, err), "use a builtin plugin, patches or replacements")
		}
		for _, inner := range all {
			s.use(k, inner, "")
		}
	}
}

// resources decodes resources as kustomize does; nil if it cannot.
func (s *scan) resources(content []byte) (m resmap.ResMap) {
	defer func() {
		if recover() != nil { // the parser panics on some invalid objects
			m = nil
		}
	}()
	m, err := s.factory.NewResMapFromBytes(content)
	if err != nil {
		return nil
	}
	return m
}

// yaml reads a file that kustomize would parse, as the source has it, if it is within
// the limits.
func (s *scan) yaml(name string) ([]byte, bool) {
	content, err := fs.ReadFile(s.view.fsys, name)
	if err != nil {
		s.refuse(diag.Pos{File: name}, "kustomize-location", fmt.Sprintf("reading %s: %s", name, err), "")
		return nil, false
	}
	if ok, done := s.checked[name]; done {
		return content, ok
	}
	diags := object.Scan(name, content)
	s.checked[name] = len(diags) == 0
	s.parsed = append(s.parsed, content)
	s.found = append(s.found, diags...)
	return content, len(diags) == 0
}

// limits holds YAML that stands in a string at pos against the limits of a file. What
// is no YAML is for kustomize to refuse, which may not read it as YAML.
func (s *scan) limits(pos diag.Pos, content []byte) {
	s.parsed = append(s.parsed, content)
	for _, d := range object.Scan(pos.File, content) {
		if !isMalformed(d) {
			d.Pos = pos
			s.found = append(s.found, d)
		}
	}
}

func isMalformed(d diag.Diagnostic) bool { return d.Code == "malformed" }

// size reads a file that is not parsed, if it is within the limit of its size.
func (s *scan) size(name string) (string, bool) {
	content, err := fs.ReadFile(s.view.fsys, name)
	if err != nil {
		s.refuse(diag.Pos{File: name}, "kustomize-location", fmt.Sprintf("reading %s: %s", name, err), "")
		return "", false
	}
	if d, big := object.TooLarge(name, int64(len(content))); big {
		s.found = append(s.found, d)
		return "", false
	}
	return string(content), true
}

// rewrite lays a kustomization that the scan changed in front of the one in its folder.
func (s *scan) rewrite(k *kustfile) {
	if !k.changed {
		return
	}
	content, err := yaml.Marshal(k.Kustomization)
	if err != nil {
		s.refuse(diag.Pos{File: k.file}, "kustomize-invalid", err.Error(), "")
		return
	}
	s.view.over[k.file] = content
}
