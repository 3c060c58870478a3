package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// BindingFiles yields the files of the bindings of the state branch's folder, by their paths in it.
func BindingFiles(root *files.Folder) iter.Seq2[string, *files.Blob] {
	return func(yield func(string, *files.Blob) bool) {
		e, ok := root.Lookup(bindingsDir)
		if !ok || e.Dir == nil {
			return
		}
		for path, f := range e.Dir.All() {
			if f.Blob != nil && !yield(bindingsDir+"/"+path, f.Blob) {
				return
			}
		}
	}
}

// IsBindingFile reports a path of the state branch at which a binding is.
func IsBindingFile(path string) bool { return strings.HasPrefix(path, bindingsDir+"/") }

// BindingsNamed yields the files of the bindings that a template with a name may have, by their paths in the state branch's folder.
// Its group is not looked at, so that there may be several.
func BindingsNamed(root *files.Folder, r object.Ref) iter.Seq2[string, *files.Blob] {
	return func(yield func(string, *files.Blob) bool) {
		dir := bindingsDir + "/" + cmp.Or(r.Namespace, clusterScope)
		for _, e := range entriesOf(folderAt(root, dir)) {
			name := strings.TrimSuffix(e.Name, ".yaml")
			if e.Blob != nil && strings.HasPrefix(name, BindingName(r)) && !yield(dir+"/"+e.Name, e.Blob) {
				return
			}
		}
		file := BindingName(r) + ".yaml"
		path := dir + "/" + shardOf(file) + "/" + file
		if e, ok := root.Lookup(path); ok && e.Blob != nil {
			yield(path, e.Blob)
		}
	}
}

// entriesOf are the entries of a folder, which may be nil.
func entriesOf(f *files.Folder) []files.Entry {
	if f == nil {
		return nil
	}
	return f.Entries()
}

// BindingReader reads the files of bindings of one folder of the state branch. It is for one caller at a time.
type BindingReader struct {
	root   *files.Folder
	lists  read
	stages *stages // nil until a binding goes by a record
}

// NewBindingReader returns what reads the bindings of the state branch's folder.
func NewBindingReader(root *files.Folder) *BindingReader {
	return &BindingReader{root: root, lists: read{}}
}

// Read reads the file of a binding. FollowsRun reports one that says where its object is by the record of a roll-out, too:
// with another record the same file says something else.
func (r *BindingReader) Read(from *files.Blob) (b *karmada.ResourceBinding, followsRun bool, err error) {
	data, err := from.Bytes()
	if err == nil {
		b, _, err = r.lists.decode(data)
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading a binding: %w", err)
	}
	if b.Annotations[stagedAnnotation] == "" {
		return b, false, nil
	}
	if r.stages == nil {
		recorded, _ := Rollouts(r.root)
		r.stages = newStages(recorded)
	}
	return r.stages.longer(b), true, nil
}

// Rendered reads which objects releases rendered to, from the state branch's folder. A file that cannot
// be read says nothing.
func Rendered(root *files.Folder) map[object.Ref]bool {
	all := map[object.Ref]bool{}
	e, ok := root.Lookup(ReleasesFolder)
	if !ok || e.Dir == nil {
		return all
	}
	for _, f := range e.Dir.All() {
		if f.Blob == nil {
			continue
		}
		var r Release
		data, err := f.Blob.Bytes()
		if err == nil && json.Unmarshal(data, &r) == nil {
			for _, o := range r.Objects {
				all[o] = true
			}
		}
	}
	return all
}
