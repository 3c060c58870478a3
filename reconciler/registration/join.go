package registration

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// Member is a cluster that is to be registered.
type Member struct {
	Name     string
	ID       string // the UID of its Namespace kube-system; empty where nobody asked it
	SyncMode karmada.ClusterSyncMode
	Provider string
	Region   string
	Zones    []string
	Labels   map[string]string
	AgentKey string // the public half of its agent's key; empty for none
	// VirtualOf, Suffix and Selector are the annotations of a virtual cluster; empty for none.
	VirtualOf, Suffix, Selector string
}

// Annotations are those of the Cluster; nil for none.
func (m Member) Annotations() map[string]string {
	var annotations map[string]string
	for key, value := range map[string]string{karmada.VirtualOfAnnotation: m.VirtualOf, karmada.SuffixAnnotation: m.Suffix, karmada.SelectorAnnotation: m.Selector, heartbeat.AgentKey: m.AgentKey} {
		if value == "" {
			continue
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
	}
	return annotations
}

// shares reports whether a registered Cluster has the API server that the host of a virtual one is.
func (m Member) shares(o *object.Object) bool {
	return m.VirtualOf != "" && (o.Ref().Name == m.VirtualOf || o.Annotations()[karmada.VirtualOfAnnotation] == m.VirtualOf)
}

// Join returns the text of the file that registers a cluster beside those that are. There is
// no credential in it.
func Join(file string, m Member, registered []*object.Object) ([]byte, error) {
	if m.VirtualOf != "" && !slices.ContainsFunc(registered, func(o *object.Object) bool { return o.Ref().Name == m.VirtualOf }) {
		return nil, fmt.Errorf("its host %s is not registered; waybill cluster join %[1]s comes first", m.VirtualOf)
	}
	for _, o := range registered {
		spec, _ := o.Content()["spec"].(map[string]any)
		switch id, _ := spec["id"].(string); {
		case o.Ref().Name == m.Name:
			return nil, fmt.Errorf("%s: there is a Cluster %s already; choose another name, or edit that one", o.Pos(), m.Name)
		case id != "" && id == m.ID && !m.shares(o):
			return nil, fmt.Errorf("%s: this cluster is registered already, as %s: its id is %s", o.FieldPos([]any{"spec", "id"}), o.Ref().Name, id)
		}
	}
	data := object.Encode(m.content())
	d := object.Decode(file, data)
	_, _, wrong := policies.Load(d.Objects, nil)
	for _, w := range append(d.Diags, wrong...) {
		if w.Severity == diag.Error {
			return nil, fmt.Errorf("registering %s: %s; %s", m.Name, w.Message, w.Hint)
		}
	}
	return data, nil
}

func (m Member) content() map[string]any {
	meta := map[string]any{"name": m.Name}
	if len(m.Labels) > 0 {
		labels := map[string]any{}
		for k, v := range m.Labels {
			labels[k] = v
		}
		meta["labels"] = labels
	}
	if all := m.Annotations(); len(all) > 0 {
		annotations := map[string]any{}
		for k, v := range all {
			annotations[k] = v
		}
		meta["annotations"] = annotations
	}
	spec := map[string]any{"syncMode": string(m.SyncMode)}
	if m.ID != "" {
		spec["id"] = m.ID
	}
	if m.Provider != "" {
		spec["provider"] = m.Provider
	}
	if m.Region != "" {
		spec["region"] = m.Region
	}
	var zones []any
	for _, z := range m.Zones {
		zones = append(zones, z)
	}
	if len(zones) > 0 {
		spec["zones"] = zones
	}
	return map[string]any{"apiVersion": group + "/v1alpha1", "kind": "Cluster", "metadata": meta, "spec": spec}
}

// With returns a snapshot with one more file.
func With(s sources.Snapshot, file string, data []byte) sources.Snapshot {
	return added{Snapshot: s, file: file, data: data}
}

// added is a snapshot with one more file.
type added struct {
	sources.Snapshot

	file string
	data []byte
}

// Files implements sources.Snapshot.
func (a added) Files() []sources.File {
	files := append(slices.Clone(a.Snapshot.Files()), sources.File{Path: a.file, Size: int64(len(a.data))})
	slices.SortFunc(files, func(x, y sources.File) int { return cmp.Compare(x.Path, y.Path) })
	return files
}

// ReadFile implements sources.Snapshot.
func (a added) ReadFile(path string) ([]byte, error) {
	if path == a.file {
		return a.data, nil
	}
	return a.Snapshot.ReadFile(path)
}
