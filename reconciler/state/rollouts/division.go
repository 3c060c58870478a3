package rollouts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Division is how the replicas of an object are divided by a version of its unit.
type Division struct {
	Commit   string           `json:"commit"` // of the version
	Object   object.Ref       `json:"object"`
	Clusters map[string]int32 `json:"clusters"` // replicas, by name
}

// Compare orders divisions by their commits and objects.
func (d *Division) Compare(o *Division) int {
	return cmp.Or(cmp.Compare(d.Commit, o.Commit), d.Object.Compare(o.Object))
}

// Division is how the replicas of an object are divided by the version of a commit; nil where nothing is recorded of that.
func (r *Rollout) Division(commit string, of object.Ref) *Division {
	if r == nil {
		return nil
	}
	is := Division{Commit: commit, Object: of}
	i, known := slices.BinarySearchFunc(r.Divided, &is, func(d Division, is *Division) int { return d.Compare(is) })
	if !known {
		return nil
	}
	return &r.Divided[i]
}

// dividedFile is the name of the file of a unit that says how its replicas are divided. What ends in .yaml there is a stage: a Waybill
// that does not know this file passes over it.
const dividedFile = "divided.json"

// encodedDivisions writes the file of divisions.
func encodedDivisions(all []Division) (*files.Blob, error) {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return files.NewBlob(append(data, '\n')), nil
}

// readDivisions reads the file of divisions, and reports whether it is written as Encode writes.
func readDivisions(b *files.Blob) (all []Division, isOurs bool, err error) {
	data, err := content(b)
	if err != nil {
		return nil, false, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, false, err
	}
	slices.SortFunc(all, func(a, b Division) int { return a.Compare(&b) })
	again, err := encodedDivisions(all)
	return all, err == nil && again.ID() == b.ID(), err
}
