package rollouts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
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
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// stageFile is the file of a stage.
type stageFile struct {
	Clusters map[string]Cluster `json:"clusters"`
}

// leavingFile is the name of the file of clusters that are in no stage, because the unit leaves them.
const leavingFile = "_leaving"

// Encode lays roll-outs out as the content of Folder; nil if there are none. Of units that could not be read
// the files of before stay.
func Encode(all []Rollout, before *files.Folder, unreadable map[Unit]error) (*files.Folder, error) {
	dirs := stay(before, unreadable)
	for i := range all {
		r := &all[i]
		in := r.Unit.Folder()
		unit, err := encoded(unitFile{APIVersion, Kind, metadata{r.Unit.Name, r.Unit.Namespace}, r.Strategy, r.Status, r.Stays})
		if err != nil {
			return nil, fmt.Errorf("encoding the roll-out of %s: %w", r.Unit, err)
		}
		dirs[in] = append(dirs[in], files.FileEntry(r.Unit.Name+".yaml", unit))
		stages, err := r.stages()
		if err != nil {
			return nil, fmt.Errorf("encoding the roll-out of %s: %w", r.Unit, err)
		}
		if len(stages) > 0 {
			dirs[in] = append(dirs[in], files.DirEntry(r.Unit.Name, files.NewFolder(stages)))
		}
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	top := make([]files.Entry, 0, len(dirs))
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		top = append(top, files.DirEntry(name, files.NewFolder(dirs[name])))
	}
	return files.NewFolder(top), nil
}

// stay returns the files of units that could not be read, by folder.
func stay(before *files.Folder, unreadable map[Unit]error) map[string][]files.Entry {
	dirs := map[string][]files.Entry{}
	if before == nil {
		return dirs
	}
	for u := range unreadable {
		for _, name := range []string{u.Name, u.Name + ".yaml"} {
			if e, ok := before.Lookup(u.Folder() + "/" + name); ok {
				e.Name = name
				dirs[u.Folder()] = append(dirs[u.Folder()], e)
			}
		}
	}
	return dirs
}

// stages are the files of the stages.
func (r *Rollout) stages() (entries []files.Entry, err error) {
	in := map[string]map[string]Cluster{}
	for name, c := range r.Clusters {
		stage := c.Stage
		if stage == "" {
			stage = leavingFile
		}
		if in[stage] == nil {
			in[stage] = map[string]Cluster{}
		}
		in[stage][name] = c
	}
	for _, stage := range slices.Sorted(maps.Keys(in)) {
		b, err := encoded(stageFile{in[stage]})
		if err != nil {
			return nil, err
		}
		entries = append(entries, files.FileEntry(stage+".yaml", b))
	}
	return entries, nil
}

// encoded writes a value as canonical YAML.
func encoded(v any) (*files.Blob, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &content); err != nil {
		return nil, err
	}
	return files.NewBlob(object.Encode(content)), nil
}

// Decode reads the content of Folder, which may be nil. A unit of which a file cannot be read is left out, and named
// with why: of it nothing is known.
func Decode(root *files.Folder) (all []Rollout, unreadable map[Unit]error) {
	unreadable = map[Unit]error{}
	if root == nil {
		return nil, unreadable
	}
	for _, scope := range root.Entries() {
		if scope.Dir == nil {
			continue
		}
		for _, e := range scope.Dir.Entries() {
			name, isUnit := strings.CutSuffix(e.Name, ".yaml")
			if e.Blob == nil || !isUnit {
				continue
			}
			u, ok := ParseUnit(scope.Name + "/" + name)
			if !ok {
				continue
			}
			r, err := decode(u, e.Blob, scope.Dir)
			if err != nil {
				unreadable[u] = err
				continue
			}
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Rollout) int { return a.Unit.Compare(b.Unit) })
	return all, unreadable
}

func decode(u Unit, from *files.Blob, scope *files.Folder) (Rollout, error) {
	r := Rollout{Unit: u, Clusters: map[string]Cluster{}}
	var f unitFile
	if err := read(from, &f); err != nil {
		return r, fmt.Errorf("%s.yaml: %w", u, err)
	}
	if f.APIVersion != APIVersion || f.Kind != Kind || f.Metadata.Name != u.Name || f.Status.Phase == "" {
		return r, fmt.Errorf("%s.yaml: it is no %s of that name", u, Kind)
	}
	r.Strategy, r.Status, r.Stays = f.Spec, f.Status, f.Stays
	e, _ := scope.Lookup(u.Name)
	if e.Dir == nil {
		return r, nil
	}
	for _, s := range e.Dir.Entries() {
		stage, ok := strings.CutSuffix(s.Name, ".yaml")
		if s.Blob == nil || !ok {
			continue
		}
		var clusters stageFile
		if err := read(s.Blob, &clusters); err != nil {
			return r, fmt.Errorf("%s/%s: %w", u, s.Name, err)
		}
		for name, c := range clusters.Clusters {
			if _, twice := r.Clusters[name]; twice {
				return r, fmt.Errorf("%s/%s: cluster %s is in two stages", u, s.Name, name)
			}
			if c.Stage = stage; stage == leavingFile {
				c.Stage = ""
			}
			r.Clusters[name] = c
		}
	}
	return r, nil
}

// most is how much of a file is read: a stage of 10,000 clusters has a third of it.
const most = 8 << 20

func read(b *files.Blob, into any) error {
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	if len(data) > most {
		return errors.New("it is larger than 8 MiB")
	}
	return sigsyaml.UnmarshalStrict(data, into)
}

// Document is a record as people read it: the file of the unit, with the clusters of each stage in it.
type Document struct {
	unitFile `json:",inline"`

	Clusters map[string]map[string]Cluster `json:"clusters,omitempty"`
}

// Document returns the record as people read it.
func (r *Rollout) Document() Document {
	d := Document{unitFile: unitFile{APIVersion, Kind, metadata{r.Unit.Name, r.Unit.Namespace}, r.Strategy, r.Status, r.Stays}}
	for name, c := range r.Clusters {
		stage := c.Stage
		if stage == "" {
			stage = leavingFile
		}
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
