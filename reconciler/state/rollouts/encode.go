package rollouts

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/waybill-dev/waybill/sources/files"
)

// Encode lays roll-outs out as the content of Folder; nil if there are none. What an earlier record, which may be nil, says
// the same of is not written again, and of units that could not be read there the files stay.
func Encode(all []Rollout, earlier *Record) (*files.Folder, error) {
	dirs := earlier.stay()
	for i := range all {
		r := &all[i]
		was, _ := earlier.unit(r.Unit)
		unit, stages, err := r.files(was)
		if err != nil {
			return nil, fmt.Errorf("encoding the roll-out of %s: %w", r.Unit, err)
		}
		in := r.Unit.Folder()
		dirs[in] = append(dirs[in], files.FileEntry(r.Unit.Name+".yaml", unit))
		if stages != nil {
			dirs[in] = append(dirs[in], files.DirEntry(r.Unit.Name, stages))
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
func (r *Record) stay() map[string][]files.Entry {
	dirs := map[string][]files.Entry{}
	if r == nil || r.root == nil {
		return dirs
	}
	for u := range r.Unreadable {
		for _, name := range []string{u.Name, u.Name + ".yaml"} {
			if e, ok := r.root.Lookup(u.Folder() + "/" + name); ok {
				e.Name = name
				dirs[u.Folder()] = append(dirs[u.Folder()], e)
			}
		}
	}
	return dirs
}

// files are the file of the unit and those of its stages, nil for none of these: the ones of before, if there were any, as far
// as they say the same.
func (r *Rollout) files(was recorded) (_ *files.Blob, stages *files.Folder, err error) {
	is, unit, known := r.unitFile(), was.file, was.file != nil
	if !known || !reflect.DeepEqual(is, was.unitFile()) {
		if unit, err = encoded(&is); err != nil {
			return nil, nil, err
		}
	}
	changed, isDivided := r.changed(was.Clusters), !reflect.DeepEqual(r.Divided, was.Divided)
	if known && len(changed) == 0 && !isDivided {
		return unit, was.stages, nil
	}
	var entries []files.Entry
	if was.stages != nil {
		entries = slices.DeleteFunc(slices.Clone(was.stages.Entries()), func(e files.Entry) bool {
			_, isChanged := changed[e.Name]
			return isChanged || isDivided && e.Name == dividedFile
		})
	}
	if isDivided && len(r.Divided) > 0 {
		b, err := encodedDivisions(r.Divided)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, files.FileEntry(dividedFile, b))
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if len(changed[name]) == 0 {
			continue
		}
		b, err := encoded(&stageFile{changed[name]})
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, files.FileEntry(name, b))
	}
	if len(entries) == 0 {
		return unit, nil, nil
	}
	return unit, files.NewFolder(entries), nil
}

// changed are the clusters of the files of stages that say something else than before, by the names of the files.
func (r *Rollout) changed(before map[string]Cluster) map[string]map[string]Cluster {
	if isSame(r.Clusters, before) {
		return nil // which is so most of the time
	}
	all, stay := map[string]map[string]Cluster{}, 0
	for name, c := range r.Clusters {
		was, known := before[name]
		if known {
			stay++
		}
		if !known || was != c {
			all[c.file()] = map[string]Cluster{}
			if known {
				all[was.file()] = map[string]Cluster{}
			}
		}
	}
	if stay < len(before) {
		for name, was := range before {
			if _, known := r.Clusters[name]; !known {
				all[was.file()] = map[string]Cluster{}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	for name, c := range r.Clusters {
		if in := all[c.file()]; in != nil {
			in[name] = c
		}
	}
	return all
}

// isSame reports that two are one map: what nobody changed is handed on.
func isSame(a, b map[string]Cluster) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// file is the name of the file that a cluster is in.
func (c *Cluster) file() string { return cmp.Or(c.Stage, leavingFile) + ".yaml" }
