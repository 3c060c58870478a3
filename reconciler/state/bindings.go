package state

import (
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

// ReadBinding reads the file of a binding.
func ReadBinding(from *files.Blob) (*karmada.ResourceBinding, error) {
	data, err := from.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading a binding: %w", err)
	}
	b, _, err := decodeBinding(data)
	if err != nil {
		return nil, fmt.Errorf("reading a binding: %w", err)
	}
	return b, nil
}

// Rendered reads which objects releases rendered to, from the state branch's folder. A file that cannot
// be read says nothing.
func Rendered(root *files.Folder) map[object.Ref]bool {
	all := map[object.Ref]bool{}
	e, ok := root.Lookup(releasesDir)
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
