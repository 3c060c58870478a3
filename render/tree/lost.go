package tree

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Lost is what a published tree has and the next has not.
type Lost struct {
	Refs     []object.Ref // sorted
	Labelled []object.Ref // of these, those that were asked for by a label
	Before   int          // how many objects the published tree has
}

// Lost lists the objects that a published tree has and the next has not, and which of them
// have a label with a value.
func (p *Published) Lost(next *files.Folder, label, value string) (*Lost, error) {
	paths, err := p.Paths()
	if err != nil {
		return nil, err
	}
	l := &Lost{Before: len(paths)}
	for c := range files.Diff(p.Built, next) {
		if c.New.Name != "" || !strings.HasPrefix(c.Path, ManifestDir+"/") {
			continue
		}
		data, err := c.Old.Blob.Bytes()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", c.Path, err)
		}
		r, err := object.RefOf(c.Path, data)
		if err != nil {
			return nil, err
		}
		l.Refs = append(l.Refs, r)
		if bytes.Contains(data, []byte(label)) && slices.ContainsFunc(object.Decode(c.Path, data).Objects, func(o *object.Object) bool { return o.Labels()[label] == value }) {
			l.Labelled = append(l.Labelled, r)
		}
	}
	slices.SortFunc(l.Refs, object.Ref.Compare)
	return l, nil
}
