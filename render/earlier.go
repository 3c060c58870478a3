package render

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// inherit reads what the broken parts held when they were last sound, so that no file
// counts for another's because the one that says whose it is cannot be read: a Cluster
// with a directory, a Flux Kustomization with a folder, a definition of kinds. It is
// known then, and delivered by whoever mends the source.
func (l *loader) inherit() error {
	if l.with.Earlier == nil {
		return nil
	}
	have := object.Refs(l.src.Objects)
	for _, b := range slices.Clone(l.src.Broken) {
		if b.Path == "" {
			continue
		}
		if err := l.inheritOf(b, have); err != nil {
			return fmt.Errorf("reading what %s was: %w", b.Path, err)
		}
	}
	return nil
}

// inheritOf reads what a broken part held when it was last sound.
func (l *loader) inheritOf(b Broken, have map[object.Ref]bool) error {
	s, ok := l.with.Earlier(quoted(b.Path))
	if !ok {
		return nil
	}
	for _, f := range s.Files() {
		if f.Kind != sources.Regular || !b.covers(f.Path) || !isManifestName(f.Path) {
			continue
		}
		d, err := l.decode(s, f)
		if err != nil {
			return err
		}
		for _, o := range d.Objects {
			if !have[o.Ref()] {
				l.inherited = append(l.inherited, o)
			}
		}
	}
	return nil
}

// disown drops of what was inherited all that the source has now, wherever it has it.
func (l *loader) disown() {
	have := object.Refs(l.src.Objects)
	l.inherited = slices.DeleteFunc(l.inherited, func(o *object.Object) bool { return have[o.Ref()] })
}

// wasReferences returns what a kustomization used that cannot be read now; false if it
// is not known.
func (l *loader) wasReferences(file string) (references, bool, error) {
	s, _, ok := l.earlier(file)
	if !ok {
		return references{}, false, nil
	}
	data, err := s.ReadFile(file)
	if err != nil {
		return references{}, false, fmt.Errorf("reading what %s was: %w", file, err)
	}
	k, ok := parseReferences(file, data)
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
