package render

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/references"
)

// inherit takes of what may be in broken parts all that the source does not have, wherever
// it has it: that is delivered by whoever makes the source to plan from.
func (l *loader) inherit() {
	have := object.Refs(l.src.Objects)
	l.inherited = slices.DeleteFunc(slices.Clone(l.with.Inherited), func(o *object.Object) bool { return have[o.Ref()] })
}

// wasReferences returns what a kustomization used that cannot be read now; false if it
// is not known.
func (l *loader) wasReferences(file string) (references.Named, bool, error) {
	s, _, ok := l.earlier(file)
	if !ok {
		return references.Named{}, false, nil
	}
	data, err := s.ReadFile(file)
	if err != nil {
		return references.Named{}, false, fmt.Errorf("reading what %s was: %w", file, err)
	}
	k, ok := references.Of(file, data)
	return k, ok, nil
}

// breaks notes that a file cannot be used.
func (l *loader) breaks(file string) { l.addBroken(Broken{Path: file}) }

// breaksBelow notes that nothing below a folder can be used.
func (l *loader) breaksBelow(dir string) { l.addBroken(Broken{Path: dir, Dir: true}) }

func (l *loader) addBroken(b Broken) {
	if !slices.Contains(l.src.Broken, b) {
		l.src.Broken = append(l.src.Broken, b)
	}
}
