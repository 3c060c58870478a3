package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Content is what a plan wants remembered.
type Content struct {
	Bindings []*karmada.ResourceBinding // in the order of their templates
	Clusters *files.Folder              // of EncodeClusters; nil for none
	Kept     map[object.Ref][]string
	LastGood LastGood
	Random   Random
	Releases []Release
}

// Encode lays content out as the folder of the state branch, but for what was published.
// Bindings that are those of an earlier state, which may be nil, are not written again; the
// folder is the same otherwise.
func Encode(c Content, earlier *State) (*files.Folder, error) {
	top := []files.Entry{files.FileEntry(formatFile, files.NewBlob([]byte(format+"\n")))}
	bindings, err := encodeBindings(c.Bindings, earlier)
	if err != nil {
		return nil, err
	}
	releases, err := encodeReleases(c.Releases)
	if err != nil {
		return nil, err
	}
	for name, folder := range map[string]*files.Folder{bindingsDir: bindings, clustersDir: c.Clusters, releasesDir: releases} {
		if folder != nil {
			top = append(top, files.DirEntry(name, folder))
		}
	}
	if len(c.Kept) > 0 {
		if top, err = withJSON(top, keptFile, keptList(c.Kept)); err != nil {
			return nil, err
		}
	}
	if len(c.LastGood.Broken) > 0 {
		if top, err = withJSON(top, lastGoodFile, c.LastGood); err != nil {
			return nil, err
		}
	}
	if c.Random.Key != "" {
		if top, err = withJSON(top, randomFile, c.Random); err != nil {
			return nil, err
		}
	}
	return files.NewFolder(top), nil
}

// WithPublication adds to a folder of Encode what was published.
func WithPublication(content *files.Folder, p Publication) (*files.Folder, error) {
	p.When = p.When.UTC()
	top, err := withJSON(slices.Clone(content.Entries()), publishedFile, p)
	if err != nil {
		return nil, err
	}
	return files.NewFolder(top), nil
}

func keptList(all map[object.Ref][]string) []kept {
	var list []kept
	for _, r := range slices.SortedFunc(maps.Keys(all), object.Ref.Compare) {
		list = append(list, kept{r, all[r]})
	}
	return list
}

func withJSON(top []files.Entry, name string, v any) ([]files.Entry, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", name, err)
	}
	return append(top, files.FileEntry(name, files.NewBlob(append(data, '\n')))), nil
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
	return foldersOf(root), nil
}

func encodeReleases(releases []Release) (*files.Folder, error) {
	dirs := map[string][]files.Entry{}
	for _, r := range releases {
		dir, name := r.path()
		entries, err := withJSON(dirs[dir], name, r)
		if err != nil {
			return nil, err
		}
		dirs[dir] = entries
	}
	return foldersOf(dirs), nil
}

// foldersOf makes a folder of folders; nil of none.
func foldersOf(dirs map[string][]files.Entry) *files.Folder {
	if len(dirs) == 0 {
		return nil
	}
	entries := make([]files.Entry, 0, len(dirs))
	for dir, list := range dirs {
		entries = append(entries, files.DirEntry(dir, files.NewFolder(list)))
	}
	return files.NewFolder(entries)
}

// EncodeClusters lays clusters, in the order of names, out as a folder of the state branch;
// nil if there are none.
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

// SameDecision reports that two bindings say the same but for what they record of clusters.
func SameDecision(a, b *karmada.ResourceBinding) bool {
	x, y := *a, *b
	x.Status.AggregatedStatus, y.Status.AggregatedStatus = nil, nil
	return Same(&x, &y)
}

// decodeBinding reads a binding: fast if it is written as Encode writes.
func decodeBinding(data []byte) (b *karmada.ResourceBinding, canonical bool, err error) {
	b = &karmada.ResourceBinding{}
	if content, err := object.DecodeCanonical(data); err == nil {
		return b, true, runtime.DefaultUnstructuredConverter.FromUnstructured(content, b)
	}
	return b, false, sigsyaml.Unmarshal(data, b) // somebody wrote it in another way
}

// decodeInto reads a typed object, however it is written.
func decodeInto(data []byte, into any) error {
	return sigsyaml.Unmarshal(data, into) //nolint:wrapcheck // the caller names the file
}
