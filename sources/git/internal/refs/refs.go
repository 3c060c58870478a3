// Package refs reads and moves the refs of a repository on disk, side by side with
// Git itself and with other Waybills.
//
// # Reading
//
// A ref is a file below refs/ (loose) or a line of packed-refs; loose wins. Loose
// files are read before packed-refs: a ref that Git packs in between is then seen
// twice and never not at all.
//
// # Writing
//
// A Writer holds an exclusive flock on the file waybill.lock, so that there is one
// in all processes. To move refs, it
//
//  1. takes Git's own lock of each ref, refs/heads/x.lock, and fails if Git keeps one
//     for longer than a moment;
//  2. compares each ref with what the caller expects, and gives up, with nothing
//     changed, if one differs;
//  3. takes packed-refs.lock, writes all new values to a new packed-refs, has it
//     stored, and renames it over the old one: this moves every ref that has no loose
//     file at once;
//  4. removes the loose files of these refs, in the order given, which moves the
//     others;
//  5. removes the locks.
//
// A ref that is moved once has no loose file afterwards, until somebody pushes to
// it. So a thousand branches normally move in one rename.
//
// A git process takes packed-refs for what it has read before if inode, size and second
// are the same, and a push that compares a ref with that undoes what came in between. A
// file system gives the inode of a replaced file away again at once, and names of refs do
// not change the size. So each new file has another size than the 255 before it.
//
// # After a kill
//
// Each lock is a hard link to waybill.lock itself. It is taken atomically, it is
// never mistaken for one of Git's, and whether any was left behind is the link
// count of that one file. The next Writer, which holds the flock and therefore is
// the only one of its kind, removes the links it finds. A lock of a live git process
// is another file and stays.
//
// A kill between 3 and 4 leaves refs at their old values with loose files on top of
// packed ones: as if they had not been moved yet.
//
// # Limits
//
// File systems without hard links or flock are refused. Reflogs are not written and
// hooks are not run.
package refs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/waybill-dev/waybill/sources/files"
)

// Store is the refs of one repository.
type Store struct{ dir string }

// At returns the refs in a Git directory, the common one if work trees share it.
func At(dir string) Store { return Store{dir} }

// List returns the refs whose full names begin with prefix, which must end with a
// slash. Symbolic refs are left out. A file that should be a ref and is none is an
// error.
func (s Store) List(prefix string) (map[string]files.ID, error) {
	loose := map[string]files.ID{}
	if err := s.walk(prefix, loose); err != nil {
		return nil, fmt.Errorf("reading refs: %w", err)
	}
	packed, err := s.packed()
	if err != nil {
		return nil, err
	}
	for _, l := range packed.lines {
		if _, ok := loose[l.name]; !ok && strings.HasPrefix(l.name, prefix) {
			loose[l.name] = l.id
		}
	}
	return loose, nil
}

// walk adds the loose refs below a prefix.
func (s Store) walk(prefix string, into map[string]files.ID) error {
	entries, err := os.ReadDir(s.path(prefix))
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := prefix + e.Name()
		switch {
		case e.IsDir():
			if err := s.walk(name+"/", into); err != nil {
				return err
			}
		case strings.HasSuffix(name, lockSuffix):
		default:
			v, err := s.loose(name)
			if err != nil {
				return err
			}
			if v.symbolic == "" && !v.id.IsZero() {
				into[name] = v.id
			}
		}
	}
	return nil
}

// Read returns the id that a ref or HEAD leads to, through symbolic refs; zero if
// it does not exist.
func (s Store) Read(name string) (files.ID, error) {
	const maxSymbolic = 5 // as Git
	for range maxSymbolic {
		v, err := s.value(name)
		if err != nil || v.symbolic == "" {
			return v.id, err
		}
		name = v.symbolic
	}
	return files.ID{}, fmt.Errorf("reading ref %s: too many symbolic refs", name)
}

// Target returns the ref that a symbolic ref of the directory, such as HEAD, names;
// empty if it is none.
func (s Store) Target(name string) (string, error) {
	v, err := s.loose(name)
	return v.symbolic, err
}

// value is what a ref holds: an id, the name of another ref, or, if the ref does
// not exist, neither.
type value struct {
	id       files.ID
	symbolic string
}

func (s Store) value(name string) (value, error) {
	v, err := s.loose(name)
	if err != nil || v != (value{}) {
		return v, err
	}
	packed, err := s.packed()
	if err != nil {
		return value{}, err
	}
	for _, l := range packed.lines {
		if l.name == name {
			return value{id: l.id}, nil
		}
	}
	return value{}, nil
}

// loose reads the file of a ref; the zero value if there is none.
func (s Store) loose(name string) (value, error) {
	data, err := os.ReadFile(s.path(name))
	if missing(err) || errors.Is(err, syscall.EISDIR) {
		return value{}, nil
	}
	if err != nil {
		return value{}, err
	}
	text := strings.TrimRight(string(data), " \t\r\n")
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		return value{symbolic: strings.TrimSpace(target)}, nil
	}
	id, err := files.ParseID(text)
	if err != nil {
		return value{}, fmt.Errorf("ref %s is damaged: %w; repair or delete %s", name, err, s.path(name))
	}
	return value{id: id}, nil
}

// missing reports whether an error means that a file is not there, also where its
// folder would have to be is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s Store) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

const packedName = "packed-refs"

// packed is the content of packed-refs.
type packed struct {
	header string // first line, which says what Git may rely on
	lines  []line
}

type line struct {
	name string
	id   files.ID
	peel string // the line that follows an annotated tag; empty for none
}

func (s Store) packed() (packed, error) {
	p := packed{header: "# pack-refs with: peeled fully-peeled sorted "}
	data, err := os.ReadFile(s.path(packedName))
	if missing(err) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	scan := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		switch {
		case strings.HasPrefix(text, "#"):
			if n == 1 {
				p.header = text
			}
			continue
		case strings.HasPrefix(text, "^") && len(p.lines) > 0:
			p.lines[len(p.lines)-1].peel = text
			continue
		}
		hex, name, _ := strings.Cut(text, " ")
		id, err := files.ParseID(hex)
		if err != nil || name == "" {
			return p, fmt.Errorf("%s is damaged: line %d is %q", s.path(packedName), n, text)
		}
		p.lines = append(p.lines, line{name: name, id: id})
	}
	if err := scan.Err(); err != nil {
		return p, fmt.Errorf("reading %s: %w", s.path(packedName), err)
	}
	return p, nil
}

// with returns p with other values for some refs.
func (p packed) with(changes []Change) packed {
	moved := make(map[string]files.ID, len(changes))
	for _, c := range changes {
		moved[c.Name] = c.New
	}
	lines := make([]line, 0, len(p.lines)+len(changes))
	for _, l := range p.lines {
		if _, ok := moved[l.name]; !ok {
			lines = append(lines, l)
		}
	}
	for name, id := range moved {
		lines = append(lines, line{name: name, id: id})
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.name, b.name) })
	return packed{header: p.header, lines: lines}
}

// encode prints p after a file of some size. It writes spaces at the end of the header, so
// that its size is that one and one more, modulo sizes: see the package comment.
func (p packed) encode(before int64) []byte {
	const sizes = 256
	var b bytes.Buffer
	header := strings.TrimRight(p.header, " ") + " "
	size := int64(len(header) + 1)
	for _, l := range p.lines {
		size += int64(len(l.id.String()) + 1 + len(l.name) + 1)
		if l.peel != "" {
			size += int64(len(l.peel) + 1)
		}
	}
	spaces := ((before+1-size)%sizes + sizes) % sizes
	b.WriteString(header + strings.Repeat(" ", int(spaces)) + "\n")
	for _, l := range p.lines {
		b.WriteString(l.id.String() + " " + l.name + "\n")
		if l.peel != "" {
			b.WriteString(l.peel + "\n")
		}
	}
	return b.Bytes()
}
