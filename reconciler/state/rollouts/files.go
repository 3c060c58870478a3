package rollouts

import (
	"cmp"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Folder is the folder of the state branch that roll-outs are recorded in.
const Folder = "rollouts"

// unitFile is the file of a unit.
type unitFile struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       Strategy `json:"spec"`
	Status     Status   `json:"status"`
	// Stays is Rollout.Stays.
	Stays []object.Ref `json:"stays,omitempty"`
	// Leaves is Rollout.Leaves.
	Leaves []object.Ref `json:"leaves,omitempty"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

func (r *Rollout) unitFile() unitFile {
	return unitFile{APIVersion, Kind, metadata{r.Unit.Name, r.Unit.Namespace}, r.Strategy, r.Status, r.Stays, r.Leaves}
}

// stageFile is the file of a stage.
type stageFile struct {
	Clusters map[string]Cluster `json:"clusters"`
}

// leavingFile is the name of the file of clusters that are in no stage, because the unit leaves them.
const leavingFile = "_leaving"

// encoded writes a value as canonical YAML.
func encoded(v any) (*files.Blob, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
	if err != nil {
		return nil, err
	}
	return files.NewBlob(object.Encode(content)), nil
}

// most is how much of a file is read: a stage of 10,000 clusters has a third of it.
const most = 8 << 20

// content is what is in a file.
func content(b *files.Blob) ([]byte, error) {
	data, err := b.Bytes()
	if err == nil && len(data) > most {
		return nil, errors.New("it is larger than 8 MiB")
	}
	return data, err
}

// read reads a file, and reports whether it is written as Encode writes.
func read(b *files.Blob, into any) (isOurs bool, err error) {
	data, err := content(b)
	if err != nil {
		return false, err
	}
	if content, err := object.DecodeCanonical(data); err == nil {
		return true, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, into, true)
	}
	return false, sigsyaml.UnmarshalStrict(data, into)
}

// Document is a record as people read it: the file of the unit, with the clusters of each stage in it.
type Document struct {
	unitFile `json:",inline"`

	Clusters map[string]map[string]Cluster `json:"clusters,omitempty"`
}

// Head returns the document without clusters, which are many.
func (r *Rollout) Head() Document { return Document{unitFile: r.unitFile()} }

// Document returns the record as people read it.
func (r *Rollout) Document() Document {
	d := r.Head()
	for name, c := range r.Clusters {
		stage := cmp.Or(c.Stage, leavingFile)
		if d.Clusters == nil {
			d.Clusters = map[string]map[string]Cluster{}
		}
		if d.Clusters[stage] == nil {
			d.Clusters[stage] = map[string]Cluster{}
		}
		d.Clusters[stage][name] = c
	}
	return d
}
