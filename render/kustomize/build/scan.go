package build

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// maxVisits bounds how many folders kustomize would build, counted as often as it
// would build them: a base that n others use is built n times, so that a dozen small
// files can ask for millions of builds.
const maxVisits = 10_000

// maxFound bounds how many errors one build reports.
const maxFound = 100

// scan walks all that a build would read and collects what is wrong with it.
type scan struct {
	view    *view
	inflate func(kustomize.HelmChart) ([]byte, error)
	factory *resmap.Factory
	folders map[string]int       // how many builds a folder stands for
	kusts   map[string]*kustfile // by folder
	plugins map[listing]bool
	checked map[string]bool // files of YAML, and whether they are within the limits
	found   []diag.Diagnostic
	parsed  [][]byte          // the YAML that was scanned
	stand   []kustomize.Place // of manifests
	hidden  []string          // values that no message may show
}

// listing is a folder that lists configurations of plugins of the folder user.
type listing struct{ dir, user string }

func newScan(v *view, inflate func(kustomize.HelmChart) ([]byte, error)) *scan {
	return &scan{
		view: v, inflate: inflate,
		factory: resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()),
		folders: map[string]int{}, kusts: map[string]*kustfile{},
		plugins: map[listing]bool{}, checked: map[string]bool{},
	}
}

// refuse reports an error, if there are not enough of them already.
func (s *scan) refuse(pos diag.Pos, code diag.Code, message, hint string) {
	if len(s.found) >= maxFound {
		return
	}
	s.found = append(s.found, diag.Diagnostic{Code: code, Severity: diag.Error, Pos: pos, Message: message, Hint: hint})
}

// folder scans the kustomization of a folder, and what it uses, once. A folder without
// one is reported at from. A cycle ends here and is reported by kustomize. It returns
// how many builds of folders it stands for.
func (s *scan) folder(dir string, from diag.Pos) int {
	if n, ok := s.folders[dir]; ok {
		return n
	}
	s.folders[dir] = 0
	n := 1
	if k := s.read(dir, from); k != nil {
		n = s.kustomization(k)
	}
	s.folders[dir] = s.bounded(n, dir, from)
	return s.folders[dir]
}

// bounded reports a folder that stands for too many builds, and returns how many it
// counts for in those that use it: none, so that only the first is reported.
func (s *scan) bounded(n int, dir string, from diag.Pos) int {
	if n <= maxVisits {
		return n
	}
	s.refuse(from, diag.KustomizeTooMany, fmt.Sprintf("%s stands for over %d builds of folders", dir, maxVisits),
		"use each base once, and not through layers that each use the one below several times")
	return 0
}

// kustomization scans a kustomization and what it uses. It returns how many builds of
// folders it stands for.
func (s *scan) kustomization(k *kustfile) int {
	s.kusts[k.dir] = k
	n := 1
	for _, u := range uses(&k.Kustomization) {
		n += s.use(k, u)
	}
	return n
}

// use scans what one string names or holds.
func (s *scan) use(k *kustfile, u use) int {
	switch u.kind {
	case text:
		s.limits(k.pos(u.field), u.field, []byte(u.value))
		return 0
	case plugin:
		s.plugin(k, u)
		return 0
	case patch:
		if s.inlinePatch(k, u) {
			return 0
		}
	default:
	}
	name, isDir, err := s.view.resolve(k.dir, u.value)
	switch {
	case err != nil:
		s.location(k.pos(u.field), u, err)
	case isDir && (u.kind == manifests || u.kind == folder):
		k.bases = append(k.bases, name)
		return s.folder(name, k.pos(u.field))
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
	case u.kind == manifests:
		if content, ok := s.yaml(name); ok {
			s.stand = append(s.stand, written(name, string(content))...)
		}
	default:
		s.yaml(name)
	}
	return 0
}

func (s *scan) location(pos diag.Pos, u use, err error) {
	code := diag.KustomizeLocation
	if errors.Is(err, errRemote) {
		code = diag.KustomizeRemote
	}
	value := strconv.Quote(words.Short(public(u.value)))
	if errors.Is(err, errText) {
		value = fmt.Sprintf("the text of %d lines", 1+strings.Count(u.value, "\n"))
	}
	s.refuse(pos, code, fmt.Sprintf("%s: %s %s", u.field, value, err), hint(err))
}

// inlinePatch reports that a string is patches itself, as kustomize decides it before
// it takes the string for a path, or more YAML than may be.
func (s *scan) inlinePatch(k *kustfile, u use) bool {
	return isYAMLText(u.value) && (!s.limits(k.pos(u.field), u.field, []byte(u.value)) || s.areManifests([]byte(u.value)))
}

// isYAMLText reports that a string can be parsed, be it a plain word.
func isYAMLText(text string) bool {
	return !slices.ContainsFunc(object.Scan("", []byte(text)), isMalformed)
}

// rewrite lays the kustomizations that the scan changed in front of those in their
// folders.
func (s *scan) rewrite() {
	for _, k := range s.kusts {
		if !k.changed {
			continue
		}
		content, err := yaml.Marshal(k.Kustomization)
		if err != nil {
			s.refuse(diag.Pos{File: k.file}, diag.KustomizeInvalid, err.Error(), "")
			continue
		}
		s.view.over[k.file] = content
	}
}
