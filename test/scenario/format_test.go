package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/test/twin"
)

// scenario is a parsed scenario.
type scenario struct {
	steps []step
}

// step is what is done between one publication and the next, and what comes out.
type step struct {
	prefix   string // of the names of its golden sections
	whole    bool   // the files are all that there are
	files    twin.Tree
	edits    map[string]twin.Tree // files that somebody writes to branches, by branch
	commands []string
	golden   []string // names of golden sections, without the prefix
}

// numbered is the beginning of a section of a step that has a number.
var numbered = regexp.MustCompile(`^([1-9][0-9]*)(/|$)`)

// prefixOf is what the names of the sections of a section's step begin with.
func prefixOf(name string) string {
	if m := numbered.FindStringSubmatch(name); m != nil {
		return m[1] + "/"
	}
	if strings.HasPrefix(name, "previous/") {
		return "previous/"
	}
	return ""
}

// isGolden reports whether a section is what comes out.
func isGolden(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, prefixOf(name)), "@")
}

func parse(ar *txtar.Archive) (scenario, error) {
	if len(bytes.TrimSpace(ar.Comment)) == 0 {
		return scenario{}, errors.New("a scenario says what it shows")
	}
	var s scenario
	for _, f := range ar.Files {
		prefix := prefixOf(f.Name)
		s.step(prefix).add(strings.TrimPrefix(f.Name, prefix), f)
	}
	return s, s.sound(ar)
}

// step returns the step of a prefix, which is made if there is none. The previous one comes
// first.
func (s *scenario) step(prefix string) *step {
	i := slices.IndexFunc(s.steps, func(st step) bool { return st.prefix == prefix })
	if i < 0 {
		i = len(s.steps)
		if prefix == "previous/" {
			i = 0
		}
		s.steps = slices.Insert(s.steps, i, step{prefix: prefix, whole: prefix == "", files: twin.Tree{}, edits: map[string]twin.Tree{}})
	}
	return &s.steps[i]
}

// add adds a section to a step.
func (st *step) add(name string, f txtar.File) {
	branch, path, edit := strings.Cut(name, ":")
	file, to, link := strings.Cut(name, " -> ")
	switch {
	case name+"/" == st.prefix:
		st.commands = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
	case strings.HasPrefix(name, "@"):
		st.golden = append(st.golden, name)
	case edit && strings.HasPrefix(branch, "waybill/"):
		if st.edits[branch] == nil {
			st.edits[branch] = twin.Tree{}
		}
		st.edits[branch][path] = twin.File(f.Data)
	case link:
		st.files[file] = twin.Link(to)
	default:
		st.files[name] = twin.File(f.Data)
	}
}

// sound says what is wrong with the form of a scenario.
func (s *scenario) sound(ar *txtar.Archive) error {
	sections := map[string]bool{}
	for _, f := range ar.Files {
		if sections[f.Name] {
			return fmt.Errorf("section %s is there twice", f.Name)
		}
		sections[f.Name] = true
	}
	count := 0
	for i, st := range s.steps {
		count += len(st.golden)
		want := s.prefix(i)
		if st.prefix != want {
			return fmt.Errorf("there are sections of step %q where those of step %q should be", st.prefix, want)
		}
		if want != "previous/" && !slices.Contains(st.golden, "@diagnostics") {
			return fmt.Errorf("there is no section %s@diagnostics", st.prefix)
		}
	}
	if count < 2 {
		return errors.New("there is no golden section but the diagnostics")
	}
	return nil
}

// prefix is what the names of the sections of a step begin with.
func (s *scenario) prefix(i int) string {
	last := len(s.steps) - 1
	switch {
	case s.steps[last].prefix != "":
		return fmt.Sprintf("%d/", i+1)
	case i < last:
		return "previous/"
	}
	return ""
}

// commit makes the step's change to a source.
func (st *step) commit(source twin.Tree) (twin.Tree, error) {
	next := twin.Tree{}
	if !st.whole {
		next = maps.Clone(source)
	}
	for _, c := range st.commands {
		f := strings.Fields(c)
		found := true
		switch {
		case len(f) == 4 && f[0] == "git" && f[1] == "mv":
			found = next.Rename(f[2], f[3])
		case len(f) == 3 && f[0] == "git" && f[1] == "rm":
			found = next.Remove(f[2])
		}
		if !found {
			return nil, fmt.Errorf("%s: there is no such file or folder", c)
		}
	}
	maps.Copy(next, st.files)
	return next, nil
}
