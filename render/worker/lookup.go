package worker

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

const (
	// maxAsks bounds how many paths a job may ask for.
	maxAsks = 200_000
	// maxPath bounds the length of one.
	maxPath = 4096
)

// lookup answers a child from the files of one job, and notes what it asks for.
type lookup struct {
	files fs.FS
	room  int64 // bytes that may still be handed over

	seen  map[string]bool
	reads []Read
	err   error // of the first file that could not be had
}

func newLookup(files fs.FS, room int64) *lookup {
	return &lookup{files: files, room: room, seen: map[string]bool{}}
}

// answer says, encoded, what is at a path. An error of it is the child's: of an
// honest one every path is valid, and asked for once.
func (l *lookup) answer(name string) ([]byte, error) {
	f, err := l.look(name)
	if err != nil {
		return nil, err
	}
	data, err := f.encode()
	if l.room -= int64(len(name) + len(data)); err != nil || l.room < 0 {
		l.err = cmp.Or(l.err, err, fmt.Errorf("reading %s: the files that it reads are too large together", name))
		return found{Kind: Refused}.encode()
	}
	return data, nil
}

// look says what is at a path, as answer does.
func (l *lookup) look(name string) (found, error) {
	if !fs.ValidPath(name) || len(name) > maxPath {
		return found{}, fmt.Errorf("%w: it asked for a path that is none", errProtocol)
	}
	if l.seen[name] || len(l.seen) >= maxAsks {
		return found{}, fmt.Errorf("%w: it asked for a path twice, or for more than %d", errProtocol, maxAsks)
	}
	l.seen[name] = true
	f, err := l.find(name)
	if err != nil {
		l.err = cmp.Or(l.err, fmt.Errorf("reading %s: %w", name, err))
		f = found{Kind: Refused}
	}
	l.reads = append(l.reads, Read{Path: name, Kind: f.Kind})
	return f, nil
}

// find reads what is at a path. That nothing is there, or nothing that may be read, is
// an answer and no error.
func (l *lookup) find(name string) (found, error) {
	if l.files == nil {
		return found{Kind: Absent}, nil
	}
	info, err := fs.Stat(l.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{Kind: Absent}, nil
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrPermission):
		return found{Kind: Refused}, nil
	case err != nil:
		return found{}, err
	case info.IsDir():
		return l.list(name)
	case !info.Mode().IsRegular():
		return found{Kind: Refused}, nil
	case info.Size() > l.room:
		return found{}, fmt.Errorf("its %d bytes are too many", info.Size())
	}
	content, err := fs.ReadFile(l.files, name)
	return found{Kind: File, content: content}, err
}

// list reads a folder.
func (l *lookup) list(name string) (found, error) {
	list, err := fs.ReadDir(l.files, name)
	if err != nil {
		return found{}, err
	}
	f := found{Kind: Folder}
	for _, e := range list {
		f.Entries = append(f.Entries, entry{Name: e.Name(), Mode: e.Type()})
	}
	slices.SortFunc(f.Entries, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	return f, nil
}
