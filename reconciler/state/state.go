// Package state is what the state branch remembers: where every template went and
// why, as Karmada's ResourceBindings; the clusters that the decisions saw; and the
// last source commit in which each part that is broken now was sound. It turns
// these values into files and back, and does no I/O of its own.
//
//	bindings/<namespace|_cluster>/<name>-<kind>.yaml   ResourceBinding or ClusterResourceBinding
//	clusters/<name>.yaml                               Cluster, with the observation that was used
//	releases/<namespace>/<name>-<kind>[.<cluster>].json   what a release rendered to
//	last-good.json                                     only while something is broken
//	held.json, staying.json                            only while a cluster is held
//	hidden.json                                        only while something is broken and missing
//
// Objects of state carry no server-made field. A binding's name is Karmada's
// (section A.17), so two kinds of one name in different groups would share it; the
// file of the second then carries its group, too.
package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Branch is the name of the state branch.
const Branch = "waybill/state"

const (
	bindingsDir  = "bindings"
	clustersDir  = "clusters"
	releasesDir  = "releases"
	lastGoodFile = "last-good.json"
	heldFile     = "held.json"
	hiddenFile   = "hidden.json"
	stayingFile  = "staying.json"
	clusterScope = "_cluster"
)

// State is the content of the state branch. The zero value is that of a
// repository that nothing was published from yet.
type State struct {
	// Commit is the head of the state branch; empty where there is none.
	Commit string
	// SourceCommit is the source commit that the head was computed from.
	SourceCommit string
	// Bindings are the previous decisions, by template.
	Bindings map[object.Ref]*karmada.ResourceBinding
	// LastGood maps a broken part of the source to the commit in which it was last
	// sound; to "" if it never was.
	LastGood map[string]string
	// Held are the clusters that were held, with the reasons.
	Held map[string]string
	// Staying are the objects that waited for held clusters.
	Staying map[string]string
	// Hidden are the objects that went missing while a part of the source broke, with the
	// part: they may be in it.
	Hidden map[string]string
	// Releases are what releases rendered to.
	Releases []Release

	root *files.Folder
	// files are what Bindings were read from, and read is what each is, so that neither
	// is read nor written twice.
	files map[object.Ref]*files.Blob
	read  map[files.ID]*karmada.ResourceBinding
}

// Release is what a release rendered to: the objects that stay where they are if it
// cannot be rendered once.
type Release struct {
	// Cluster is the cluster that the release is bound to by its directory; empty for
	// one of the whole source.
	Cluster string       `json:"cluster,omitempty"`
	Release object.Ref   `json:"release"`
	Objects []object.Ref `json:"objects"` // sorted
}

// path is where the release is remembered.
func (r Release) path() (dir, name string) {
	dir, name = r.Release.Namespace, BindingName(r.Release)
	if dir == "" {
		dir = clusterScope
	}
	if r.Cluster != "" {
		name += "." + r.Cluster
	}
	return dir, name + ".json"
}

// Root returns the folder that the state was read from; nil for the zero value.
func (s *State) Root() *files.Folder { return s.root }

// Decode reads the state branch's folder. What is as it was in an earlier state, which
// may be nil, is taken from there; it is the same otherwise.
func Decode(root *files.Folder, earlier *State) (State, error) {
	s := State{
		Bindings: map[object.Ref]*karmada.ResourceBinding{}, root: root,
		files: map[object.Ref]*files.Blob{}, read: map[files.ID]*karmada.ResourceBinding{},
	}
	for path, e := range root.All() {
		if e.Blob == nil {
			continue
		}
		if earlier != nil && earlier.read[e.Blob.ID()] != nil {
			s.keep(earlier.read[e.Blob.ID()], e.Blob)
			continue
		}
		if err := s.add(path, e.Blob); err != nil {
			return State{}, err
		}
	}
	return s, nil
}

// add reads a file of the state branch.
func (s *State) add(path string, from *files.Blob) error {
	table := map[string]*map[string]string{lastGoodFile: &s.LastGood, heldFile: &s.Held, hiddenFile: &s.Hidden, stayingFile: &s.Staying}[path]
	isRelease, isBinding := strings.HasPrefix(path, releasesDir+"/"), strings.HasPrefix(path, bindingsDir+"/")
	if table == nil && !isRelease && !isBinding {
		return nil
	}
	data, err := from.Bytes()
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	switch {
	case table != nil:
		err = json.Unmarshal(data, table)
	case isRelease:
		s.Releases = append(s.Releases, Release{})
		err = json.Unmarshal(data, &s.Releases[len(s.Releases)-1])
	default:
		err = s.addBinding(data, from)
	}
	if err != nil {
		return fmt.Errorf("decoding %s: %w", path, err)
	}
	return nil
}

func (s *State) addBinding(data []byte, from *files.Blob) error {
	b, canonical, err := decodeBinding(data)
	if err != nil {
		return err
	}
	if s.Bindings[TemplateRef(b)] = b; canonical {
		s.keep(b, from)
	}
	return nil
}

// keep files a binding with what it was read from.
func (s *State) keep(b *karmada.ResourceBinding, from *files.Blob) {
	r := TemplateRef(b)
	s.Bindings[r], s.files[r], s.read[from.ID()] = b, from, b
}

// unchanged returns the file of a binding if it is the one of the state; nil if it is
// another one.
func (s *State) unchanged(b *karmada.ResourceBinding) *files.Blob {
	if s == nil {
		return nil
	}
	r := TemplateRef(b)
	was := s.Bindings[r]
	if was == nil || s.files[r] == nil || was != b && !Same(was, b) {
		return nil
	}
	return s.files[r]
}

// Same reports that two bindings say the same. Their clusters are many, and compared
// first.
func Same(a, b *karmada.ResourceBinding) bool {
	if !slices.Equal(a.Spec.Clusters, b.Spec.Clusters) {
		return false
	}
	x, y := *a, *b
	x.Spec.Clusters, y.Spec.Clusters = nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}

// decodeBinding reads a binding: fast if it is written as Encode writes.
func decodeBinding(data []byte) (b *karmada.ResourceBinding, canonical bool, err error) {
	b = &karmada.ResourceBinding{}
	content, err := object.DecodeCanonical(data)
	if canonical = err == nil; !canonical {
		err = sigsyaml.Unmarshal(data, b) // somebody wrote it in another way
	} else {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, b)
	}
	return b, canonical, err //nolint:wrapcheck // the caller names the file
}

// TemplateRef returns the template that b is for.
func TemplateRef(b *karmada.ResourceBinding) object.Ref {
	r := b.Spec.Resource
	group, _ := object.GroupVersion(r.APIVersion)
	return object.Ref{Group: group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// BindingName returns the name Karmada gives the binding of a template (section
// A.17): the name and the kind in lower case, with ":" turned to ".".
func BindingName(r object.Ref) string {
	return strings.ToLower(strings.ReplaceAll(r.Name, ":", ".") + "-" + r.Kind)
}

// Content is what a plan wants remembered.
type Content struct {
	Bindings []*karmada.ResourceBinding // in the order of their templates
	Clusters *files.Folder              // of EncodeClusters; nil for none
	LastGood map[string]string
	Held     map[string]string
	Hidden   map[string]string
	Staying  map[string]string
	Releases []Release
}

// Encode lays content out as the folder of the state branch. Bindings that are those of
// an earlier state, which may be nil, are not written again; the folder is the same
// otherwise.
func Encode(c Content, earlier *State) (*files.Folder, error) {
	var top []files.Entry
	bindings, err := encodeBindings(c.Bindings, earlier)
	if err != nil {
		return nil, err
	}
	if bindings != nil {
		top = append(top, files.DirEntry(bindingsDir, bindings))
	}
	if c.Clusters != nil {
		top = append(top, files.DirEntry(clustersDir, c.Clusters))
	}
	releases, err := encodeReleases(c.Releases)
	if err != nil {
		return nil, err
	}
	if releases != nil {
		top = append(top, files.DirEntry(releasesDir, releases))
	}
	for name, table := range map[string]map[string]string{lastGoodFile: c.LastGood, heldFile: c.Held, hiddenFile: c.Hidden, stayingFile: c.Staying} {
		if len(table) == 0 {
			continue
		}
		data, err := json.MarshalIndent(table, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", name, err)
		}
		top = append(top, files.FileEntry(name, files.NewBlob(append(data, '\n'))))
	}
	return files.NewFolder(top), nil
}

// encodeBindings lays bindings out by namespace; nil if there are none.
func encodeBindings(bindings []*karmada.ResourceBinding, earlier *State) (*files.Folder, error) {
	root := map[string][]files.Entry{}
	used := map[string]bool{}
	for _, b := range bindings {
		blob := earlier.unchanged(b)
		if blob == nil {
			data, err := encode(b)
			if err != nil {
				return nil, fmt.Errorf("encoding binding %s: %w", b.Name, err)
			}
			blob = files.NewBlob(data)
		}
		dir := clusterScope
		if b.Namespace != "" {
			dir = b.Namespace
		}
		name := b.Name
		if used[dir+"/"+name] {
			group, _ := object.GroupVersion(b.Spec.Resource.APIVersion)
			name += "." + group
		}
		for used[dir+"/"+name] { // names that differ in case, or in ":" and "."
			name += "-2"
		}
		used[dir+"/"+name] = true
		root[dir] = append(root[dir], files.FileEntry(name+".yaml", blob))
	}
	if len(root) == 0 {
		return nil, nil
	}
	var dirs []files.Entry
	for dir, entries := range root {
		dirs = append(dirs, files.DirEntry(dir, files.NewFolder(entries)))
	}
	return files.NewFolder(dirs), nil
}

func encodeReleases(releases []Release) (*files.Folder, error) {
	dirs := map[string][]files.Entry{}
	for _, r := range releases {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encoding release %s: %w", r.Release, err)
		}
		dir, name := r.path()
		dirs[dir] = append(dirs[dir], files.FileEntry(name, files.NewBlob(append(data, '\n'))))
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	var entries []files.Entry
	for dir, list := range dirs {
		entries = append(entries, files.DirEntry(dir, files.NewFolder(list)))
	}
	return files.NewFolder(entries), nil
}

// EncodeClusters lays clusters, in the order of names, out as a folder of the state
// branch; nil if there are none.
func EncodeClusters(clusters []*karmada.Cluster) (*files.Folder, error) {
	var entries []files.Entry
	for _, cl := range clusters {
		data, err := encode(cl)
		if err != nil {
			return nil, fmt.Errorf("encoding cluster %s: %w", cl.Name, err)
		}
		entries = append(entries, files.FileEntry(cl.Name+".yaml", files.NewBlob(data)))
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return files.NewFolder(entries), nil
}

// encode writes a typed object as canonical YAML.
func encode(x any) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names the object
	}
	if status, ok := content["status"].(map[string]any); ok && len(status) == 0 {
		delete(content, "status")
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	return object.Encode(content), nil
}
