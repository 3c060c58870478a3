package listing

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// listAPI is the apiVersion of what is only in lists, and in no file.
const listAPI = "list.waybill.dev/v1alpha1"

// work is one manifest in one cluster.
type work struct {
	metav1.TypeMeta `json:",inline"`

	Metadata named      `json:"metadata"`
	Spec     workSpec   `json:"spec"`
	Status   workStatus `json:"status"`
}

// named is what an object of a list is called.
type named struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// workSpec says what should be where.
type workSpec struct {
	Cluster string     `json:"cluster"`
	Object  object.Ref `json:"object"`
	Path    string     `json:"path"`
}

// workStatus is what the cluster says of it; empty where it says nothing.
type workStatus struct {
	Applied status.Phase           `json:"applied,omitempty"`
	Health  karmada.ResourceHealth `json:"health,omitempty"`
	Message string                 `json:"message,omitempty"`
}

func (l *Lists) ofWorks() []column {
	if len(l.Words) > 0 {
		return columnsOf("CLUSTER", "OBJECT", "APPLIED", "HEALTH", "PATH", "-", "NAME", "MESSAGE")
	}
	return columnsOf("CLUSTER", "OBJECT", "PATH", "-", "NAME", "MESSAGE")
}

// works lists what each cluster should hold.
func (l *Lists) works() (items []item, err error) {
	for _, c := range l.Plan.Clusters {
		for path, e := range c.Tree.All() {
			if !strings.HasPrefix(path, tree.ManifestDir+"/") {
				continue
			}
			if items, err = l.worksIn(items, c.Name, path, e.Blob); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// worksIn adds the works of a file of a cluster's branch.
func (l *Lists) worksIn(items []item, cluster, path string, blob *files.Blob) ([]item, error) {
	data, err := blob.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s of cluster %s: %w", path, cluster, err)
	}
	for _, o := range object.Decode(path, data).Objects {
		r := l.Plan.Template(cluster, o.Ref())
		w := work{TypeMeta: metav1.TypeMeta{APIVersion: listAPI, Kind: "Work"}, Spec: workSpec{cluster, r, path}, Status: l.told(cluster, r)}
		w.Metadata = named{cluster + "." + r.Name + "-" + strings.ToLower(r.Kind), r.Namespace, o.Labels()}
		cells := []any{cluster, r.String()}
		if len(l.Words) > 0 {
			cells = append(cells, cell.Dash(string(w.Status.Applied)), cell.Dash(string(w.Status.Health)))
		}
		i, err := made(w, append(cells, path, w.Metadata.Name, cell.Dash(w.Status.Message))...)
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// told is what a cluster says of an object.
func (l *Lists) told(cluster string, r object.Ref) workStatus {
	said := l.Words[cluster]
	if said == nil || said.Objects[r] == nil {
		return workStatus{}
	}
	o := said.Objects[r]
	return workStatus{o.Applied.Phase, o.Health.State, cmp.Or(o.Applied.Message, o.Health.Message)}
}
