package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Metadata is what waybill.metadata holds.
type Metadata struct {
	DrySHA  string `json:"drySha"`
	RepoURL string `json:"repoURL,omitempty"`
	// Tree is the id of the tree as Build made it, without this file and without
	// what others put on the branch: it tells whether somebody edited our files.
	Tree    string `json:"tree"`
	Version string `json:"waybillVersion"`
}

// hydrated is what hydrator.metadata holds: what Argo CD's GitOps Promoter asks of whatever
// renders branches, in its words. It is the same in all clusters that are written at once.
type hydrated struct {
	RepoURL string `json:"repoURL,omitempty"`
	DrySHA  string `json:"drySha"`
}

// WithMetadata returns a tree of Build with its waybill.metadata and, where it is made from a
// commit, hydrator.metadata, and with the foreign files of the branch, which stay where they
// are unless the tree needs their place. What its metadata has in common with like, another
// tree's, which may be nil, is not kept twice.
func WithMetadata(built *files.Folder, m Metadata, like *files.Blob, foreign map[string]files.Entry) (*files.Folder, error) {
	m.Tree = built.ID().String()
	data, err := encode(MetadataFile, m)
	if err != nil {
		return nil, err
	}
	entries := append([]files.Entry{files.FileEntry(MetadataFile, files.Like(like, data))}, built.Entries()...)
	if m.DrySHA != "" {
		if data, err = encode(hydratorFile, hydrated{RepoURL: m.RepoURL, DrySHA: m.DrySHA}); err != nil {
			return nil, err
		}
		entries = append(entries, files.FileEntry(hydratorFile, files.NewBlob(data)))
	}
	return Overlay(files.NewFolder(entries), foreign), nil
}

func encode(file string, v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", file, err)
	}
	return append(data, '\n'), nil
}

// Overlay adds entries at their paths below f. What f holds stays.
func Overlay(f *files.Folder, foreign map[string]files.Entry) *files.Folder {
	if len(foreign) == 0 {
		return f
	}
	below := map[string]map[string]files.Entry{}
	entries := append([]files.Entry(nil), f.Entries()...)
	has := map[string]int{}
	for i, e := range entries {
		has[e.Name] = i
	}
	for p, e := range foreign {
		name, rest, deeper := strings.Cut(p, "/")
		if deeper {
			if below[name] == nil {
				below[name] = map[string]files.Entry{}
			}
			below[name][rest] = e
		} else if _, taken := has[name]; !taken {
			entries = append(entries, e)
		}
	}
	for name, sub := range below {
		if i, ok := has[name]; !ok {
			entries = append(entries, files.DirEntry(name, Overlay(files.NewFolder(nil), sub)))
		} else if entries[i].Dir != nil {
			entries[i] = files.DirEntry(name, Overlay(entries[i].Dir, sub))
		}
	}
	return files.NewFolder(entries)
}

// Published is the head of a cluster branch, taken apart.
type Published struct {
	// Built is the tree as Build made it; nil if the branch was not written by
	// Waybill.
	Built *files.Folder
	// Metadata is the head's waybill.metadata.
	Metadata Metadata
	// Foreign holds the files that others put on the branch.
	Foreign map[string]files.Entry
	// Edited reports that files of ours are not as they were written.
	Edited bool
	// Edit says which files these are, and in which commit, as the end of a sentence; empty where
	// nobody looked.
	Edit string
}

// Paths lists the manifests of a published tree.
func (p *Published) Paths() ([]string, error) { return manifestPaths(p.Built) }

// Rooted counts the manifests that the root kustomization lists itself.
func (p *Published) Rooted() (int, error) {
	paths, err := rooted(p.Built)
	return len(paths), err
}

// Read takes the root folder of a branch head apart. A branch whose
// waybill.metadata is gone, but whose kustomization lists manifests as we lay them
// out, was ours and is edited.
func Read(root *files.Folder) (Published, error) {
	var p Published
	e, ok := root.Lookup(MetadataFile)
	if !ok || e.Blob == nil {
		paths, err := manifestPaths(root)
		if err != nil || len(paths) == 0 {
			p.Foreign = maps.Collect(root.All())
			return p, err
		}
		return p, p.separate(without(root, hydratorFile))
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return p, fmt.Errorf("reading %s: %w", MetadataFile, err)
	}
	if err := json.Unmarshal(data, &p.Metadata); err != nil {
		p.Edited = true
	}
	rest := without(root, MetadataFile, hydratorFile)
	if rest.ID().String() == p.Metadata.Tree {
		p.Built = rest
		return p, nil
	}
	return p, p.separate(rest)
}

func without(f *files.Folder, names ...string) *files.Folder {
	var entries []files.Entry
	for _, e := range f.Entries() {
		if !slices.Contains(names, e.Name) {
			entries = append(entries, e)
		}
	}
	return files.NewFolder(entries)
}

// separate tells our files from foreign ones by what the kustomization lists.
func (p *Published) separate(rest *files.Folder) error {
	paths, err := manifestPaths(rest)
	if err != nil {
		return err
	}
	ours := map[string]bool{kustomizationFile: true, attributesFile: true, ServicesFile: true}
	for _, path := range paths {
		ours[path] = true
	}
	own := map[string]files.Entry{}
	p.Foreign = map[string]files.Entry{}
	for path, e := range rest.All() {
		if ours[path] || strings.HasPrefix(path, fluxDir+"/") {
			own[path] = e
		} else {
			p.Foreign[path] = e
		}
	}
	p.Built = Overlay(files.NewFolder(nil), own)
	p.Edited = p.Edited || p.Built.ID().String() != p.Metadata.Tree
	return nil
}

// manifestPaths lists the manifests of a tree: those of its root, then those of its parts.
func manifestPaths(f *files.Folder) ([]string, error) {
	paths, err := rooted(f)
	if err != nil {
		return nil, err
	}
	parts, err := (&Published{Built: f}).Parts()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		listed, err := p.paths(f)
		if err != nil {
			return nil, err
		}
		paths = append(paths, listed...)
	}
	return paths, nil
}

// rooted lists the manifests that the root kustomization of a tree lists itself.
func rooted(f *files.Folder) ([]string, error) {
	paths, err := resources(f, kustomizationFile)
	return slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, ManifestDir+"/") }), err
}

// resources lists what the kustomization at a path lists.
func resources(f *files.Folder, path string) ([]string, error) {
	if f == nil {
		return nil, nil
	}
	e, ok := f.Lookup(path)
	if !ok || e.Blob == nil {
		return nil, nil
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return listed(data), nil
}
