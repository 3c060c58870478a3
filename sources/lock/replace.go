package lock

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Replace returns a lock file in which the entry of a reference says what e says of it, and not one byte else is another
// one, whoever wrote the file. It is an error if the file has no such entry, or writes one of its values over several lines.
func Replace(data []byte, e Entry) ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	before, err := Parse(data)
	if err != nil {
		return nil, err
	}
	was, ok := before.Lookup(e.Ref)
	if !ok {
		return nil, fmt.Errorf("%s has no entry for %s", FileName, e.Ref)
	}
	edits, err := editsOf(data, was, e)
	if err != nil {
		return nil, err
	}
	after := bytes.Clone(data)
	for _, at := range edits { // the last one first, so that places stay
		after = slices.Concat(after[:at.from], []byte(at.text), after[at.to:])
	}
	if is, err := Parse(after); err != nil || !slices.Equal(is.entries, before.With(e).entries) {
		return nil, fmt.Errorf("the entry for %s is written in a way that cannot be changed alone; write %s anew with waybill update", e.Ref, FileName)
	}
	return after, nil
}

// edit is a text that takes the place of some bytes.
type edit struct {
	from, to int
	text     string
}

// editsOf are the edits that make an entry say something else, the last of the file first.
func editsOf(data []byte, was, is Entry) ([]edit, error) {
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	top, err := fields(root, "apiVersion", "kind", "charts")
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, item := range top[2].Content {
		if read, err := entry(item); err != nil || read.Normal() != was.Ref {
			continue
		}
		values, err := fields(item, "kind", "repository", "name", "constraint", "version", "url", "digest")
		if err != nil {
			return nil, err
		}
		for i, to := range []string{is.Version, is.URL, is.Digest} {
			n := values[4+i]
			if n.Value == to {
				continue
			}
			from, end, err := scalarAt(data, n)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n.Line, err)
			}
			edits = append(edits, edit{from, end, spelled(to)})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	return edits, nil
}

// spelled is a string as the canonical file has it.
func spelled(s string) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		panic("lock: encoding a string: " + err.Error())
	}
	return strings.TrimSuffix(string(text), "\n")
}

// scalarAt finds the bytes of a string in its line. One with an anchor, a tag or in a block is not found.
func scalarAt(data []byte, n *yaml.Node) (from, to int, err error) {
	for line := 1; line < n.Line; line++ {
		end := bytes.IndexByte(data[from:], '\n')
		if end < 0 {
			return 0, 0, errors.New("its line is not there")
		}
		from += end + 1
	}
	for column := 1; column < n.Column; column++ { // which counts characters
		_, size := utf8.DecodeRune(data[min(from, len(data)):])
		if from += size; size == 0 {
			return 0, 0, errors.New("its place is not there")
		}
	}
	rest, _, _ := bytes.Cut(data[from:], []byte("\n"))
	length := len(n.Value)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		if length = quoted(rest); length <= 0 {
			return 0, 0, errors.New("it does not end on its line")
		}
	} else if !bytes.HasPrefix(rest, []byte(n.Value)) {
		return 0, 0, errors.New("it is not written as it is")
	}
	return from, from + length, nil
}

// quoted is how long the quoted string is that a text begins with; zero if it begins with none, negative if it does not end.
func quoted(text []byte) int {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[0] == '"' && text[i] == '\\':
			i++
		case text[i] == text[0] && text[0] == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return -1
}
