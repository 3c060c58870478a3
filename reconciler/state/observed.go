package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/sources/files"
)

// observation is the file of what was observed of a cluster: a Cluster without what people
// say of it.
type observation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            karmada.ClusterStatus `json:"status"`
}

// addObserved reads what was observed of a cluster.
func (s *State) addObserved(name string, data []byte, from *files.Blob, earlier *State) error {
	if earlier != nil && earlier.Observed[name] != nil && earlier.observed[name].ID() == from.ID() {
		s.Observed[name], s.observed[name] = earlier.Observed[name], from
		return nil
	}
	o, err := readObserved(name, data)
	if err != nil {
		return err
	}
	s.Observed[name], s.observed[name] = &o.Status, from
	return nil
}

func readObserved(name string, data []byte) (o observation, err error) {
	if err := decodeInto(data, &o); err != nil {
		return o, err
	}
	if o.Name != name {
		return o, fmt.Errorf("it is that of the cluster %q", o.Name)
	}
	return o, nil
}

// Observed reads what was observed of clusters, by name, from the state branch's folder. A file
// that cannot be read says nothing.
func Observed(root *files.Folder) map[string]*karmada.ClusterStatus {
	all := map[string]*karmada.ClusterStatus{}
	e, ok := root.Lookup(observedDir)
	if !ok || e.Dir == nil {
		return all
	}
	for path, f := range e.Dir.All() {
		name, ok := strings.CutSuffix(path, ".yaml")
		if !ok || f.Blob == nil {
			continue
		}
		data, err := f.Blob.Bytes()
		if err != nil {
			continue
		}
		if o, err := readObserved(name, data); err == nil {
			all[name] = &o.Status
		}
	}
	return all
}

// ObservedOf reads what was observed of one cluster from a folder as the state branch has it; nil if there
// is no file of it. One of more than so many bytes, or that cannot be read, is an error.
func ObservedOf(root *files.Folder, name string, most int) (*karmada.ClusterStatus, error) {
	path := observedDir + "/" + name + ".yaml"
	e, ok := root.Lookup(path)
	if !ok || e.Blob == nil {
		return nil, nil
	}
	data, err := e.Blob.Bytes()
	if err == nil && len(data) > most {
		err = fmt.Errorf("it has %d bytes; want at most %d", len(data), most)
	}
	var o observation
	if err == nil {
		o, err = readObserved(name, data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &o.Status, nil
}

// Observe returns the state branch's folder with what was observed of clusters since, by name.
func Observe(root *files.Folder, seen map[string]*karmada.ClusterStatus) (*files.Folder, error) {
	entries := map[string]files.Entry{}
	if e, ok := root.Lookup(observedDir); ok && e.Dir != nil {
		for _, f := range e.Dir.Entries() {
			entries[f.Name] = f
		}
	}
	for name, status := range seen {
		o := observation{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: *status}
		o.APIVersion, o.Kind = "cluster.karmada.io/v1alpha1", "Cluster"
		data, err := encode(&o)
		if err != nil {
			return nil, fmt.Errorf("encoding what was observed of %s: %w", name, err)
		}
		entries[name+".yaml"] = files.FileEntry(name+".yaml", files.NewBlob(data))
	}
	top := slices.Clone(without(root, observedDir).Entries())
	return files.NewFolder(append(top, files.DirEntry(observedDir, files.NewFolder(slices.Collect(maps.Values(entries)))))), nil
}

// OnlyObserved reports whether two folders of the state branch differ in nothing but what was
// observed of clusters.
func OnlyObserved(before, after *files.Folder) bool {
	return without(before, observedDir).ID() == without(after, observedDir).ID()
}

// observedFolder is what was observed of the clusters of content, as it is in a state; nil for
// nothing.
func (c *Content) observedFolder(earlier *State) *files.Folder {
	if earlier == nil {
		return nil
	}
	var entries []files.Entry
	for i := range c.Clusters {
		name := c.Clusters[i].Spec.Name
		if b := earlier.observed[name]; b != nil {
			entries = append(entries, files.FileEntry(name+".yaml", b))
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return files.NewFolder(entries)
}
