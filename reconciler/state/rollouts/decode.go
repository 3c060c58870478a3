package rollouts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Record is what the content of Folder says, and the files that say it.
type Record struct {
	Rollouts []Rollout // in the order of units
	// Unreadable are the units of which a file cannot be read, and why: of them nothing is known.
	Unreadable map[Unit]error

	root  *files.Folder
	units map[Unit]recorded // that are written as Encode writes
}

// recorded is a unit, and its files.
type recorded struct {
	Rollout

	file   *files.Blob
	stages *files.Folder // nil for none
}

// Decode reads the content of Folder, which may be nil. A unit of which a file cannot be read is left out, and named
// with why: of it nothing is known.
func Decode(root *files.Folder) (all []Rollout, unreadable map[Unit]error) {
	r := Read(root, nil)
	return r.Rollouts, r.Unreadable
}

// Read reads the content of Folder, which may be nil. What is as it was in an earlier record, which may be nil, is not read
// again; it is the same otherwise.
func Read(root *files.Folder, earlier *Record) *Record {
	r := &Record{Unreadable: map[Unit]error{}, root: root, units: map[Unit]recorded{}}
	if root == nil {
		return r
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
			if u, ok := ParseUnit(scope.Name + "/" + name); ok {
				in, _ := scope.Dir.Lookup(u.Name)
				r.read(u, e.Blob, in.Dir, earlier)
			}
		}
	}
	slices.SortFunc(r.Rollouts, func(a, b Rollout) int { return a.Unit.Compare(b.Unit) })
	return r
}

// read reads the files of a unit.
func (r *Record) read(u Unit, file *files.Blob, stages *files.Folder, earlier *Record) {
	is := recorded{file: file, stages: stages}
	if was, known := earlier.unit(u); known && was.file.ID() == file.ID() && idOf(was.stages) == idOf(stages) {
		is.Rollout = was.Rollout
	} else {
		var isOurs bool
		var err error
		if is.Rollout, isOurs, err = decode(u, file, stages); err != nil {
			r.Unreadable[u] = err
			return
		}
		if !isOurs {
			r.Rollouts = append(r.Rollouts, is.Rollout)
			return
		}
	}
	r.Rollouts, r.units[u] = append(r.Rollouts, is.Rollout), is
}

// unit is what is recorded of a unit; false for nothing.
func (r *Record) unit(u Unit) (recorded, bool) {
	if r == nil {
		return recorded{}, false
	}
	is, known := r.units[u]
	return is, known
}

func idOf(f *files.Folder) files.ID {
	if f == nil {
		return files.ID{}
	}
	return f.ID()
}

// decode reads the files of a unit, and reports whether they are written as Encode writes.
func decode(u Unit, from *files.Blob, stages *files.Folder) (r Rollout, isOurs bool, err error) {
	r = Rollout{Unit: u, Clusters: map[string]Cluster{}}
	var f unitFile
	if isOurs, err = read(from, &f); err != nil {
		return r, false, fmt.Errorf("%s.yaml: %w", u, err)
	}
	if f.APIVersion != APIVersion || f.Kind != Kind || f.Metadata.Name != u.Name || f.Status.Phase == "" {
		return r, false, fmt.Errorf("%s.yaml: it is no %s of that name", u, Kind)
	}
	r.Strategy, r.Status, r.Stays, r.Leaves = f.Spec, f.Status, f.Stays, f.Leaves
	if stages == nil {
		return r, isOurs, nil
	}
	for _, e := range stages.Entries() {
		isOursToo, err := r.decodeBeside(e)
		if err != nil {
			return r, false, fmt.Errorf("%s/%s: %w", u, e.Name, err)
		}
		isOurs = isOurs && isOursToo
	}
	return r, isOurs, nil
}

// decodeBeside reads a file that is in the folder of a unit, and reports whether it is written as Encode writes.
func (r *Rollout) decodeBeside(e files.Entry) (isOurs bool, err error) {
	stage, isStage := strings.CutSuffix(e.Name, ".yaml")
	switch {
	case e.Blob != nil && e.Name == dividedFile:
		r.Divided, isOurs, err = readDivisions(e.Blob)
		return isOurs && len(r.Divided) > 0, err
	case e.Blob == nil || !isStage:
		return false, nil
	}
	var clusters stageFile
	isOurs, err = read(e.Blob, &clusters)
	if err != nil {
		return false, err
	}
	for name, c := range clusters.Clusters {
		if _, twice := r.Clusters[name]; twice {
			return false, fmt.Errorf("cluster %s is in two stages", name)
		}
		if c.Stage = stage; stage == leavingFile {
			c.Stage = ""
		}
		r.Clusters[name] = c
	}
	return isOurs && len(clusters.Clusters) > 0, nil
}
