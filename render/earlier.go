package render

import (
	"fmt"
	"slices"
	"strings"

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
	have := make(map[object.Ref]bool, len(l.src.Objects))
	for _, o := range l.src.Objects {
		have[o.Ref()] = true
	}
	for _, b := range slices.Clone(l.src.Broken) {
		s, ok := l.with.Earlier(b.Path)
		if !ok || b.Path == "" {
			continue
		}
		for _, f := range s.Files() {
			if f.Kind != sources.Regular || f.Path != b.Path && !(b.Dir && strings.HasPrefix(f.Path, b.Path+"/")) || !isManifestName(f.Path) {
				continue
			}
			d, err := l.decode(s, f)
			if err != nil {
				return fmt.Errorf("reading what %s was: %w", b.Path, err)
			}
			for _, o := range d.Objects {
				if !have[o.Ref()] {
					l.inherited = append(l.inherited, o)
				}
			}
		}
	}
	return nil
}

// wasReferences returns what a kustomization used that cannot be read now.
func (l *loader) wasReferences(file string) (references, error) {
	l.breaks(file)
	if l.with.Earlier == nil {
		return references{}, nil
	}
	s, ok := l.with.Earlier(file)
	if !ok || !slices.ContainsFunc(s.Files(), func(f sources.File) bool { return f.Path == file && f.Kind == sources.Regular }) {
		return references{}, nil
	}
	data, err := s.ReadFile(file)
	if err != nil {
		return references{}, fmt.Errorf("reading what %s was: %w", file, err)
	}
	k, _ := parseReferences(file, data)
	return k, nil
}

// breaks notes that a file cannot be used.
func (l *loader) breaks(file string) {
	if b := (Broken{Path: file}); !slices.Contains(l.src.Broken, b) {
		l.src.Broken = append(l.src.Broken, b)
	}
}
