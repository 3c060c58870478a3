package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	apiVersion = "waybill.dev/v1alpha1"
	fileKind   = "Lock"
	header     = "# Written by waybill update: which archive each reference to a chart stands for.\n"

	maxFile = 8 << 20 // bytes; an entry has about 400
)

// ParseError says what is wrong with a lock file, and where.
type ParseError struct {
	Line    int // from 1
	Message string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Encode returns the canonical bytes of a lock file. Parse of them is l again if every
// entry is valid.
func (l Lock) Encode() []byte {
	out := bytes.NewBufferString(header)
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	err := enc.Encode(struct {
		APIVersion string  `yaml:"apiVersion"`
		Kind       string  `yaml:"kind"`
		Charts     []Entry `yaml:"charts"`
	}{apiVersion, fileKind, l.entries})
	if err != nil {
		panic("lock: encoding strings: " + err.Error())
	}
	return out.Bytes()
}

// Parse reads a lock file. Errors are *ParseError.
func Parse(data []byte) (Lock, error) {
	if len(data) > maxFile {
		return Lock{}, &ParseError{1, fmt.Sprintf("the file has %d bytes; %d are read", len(data), maxFile)}
	}
	root, err := document(data)
	if err != nil {
		return Lock{}, err
	}
	top, err := fields(root, "apiVersion", "kind", "charts")
	if err != nil {
		return Lock{}, err
	}
	for i, want := range []string{apiVersion, fileKind} {
		if got, err := text(top[i]); err != nil {
			return Lock{}, err
		} else if got != want {
			return Lock{}, &ParseError{top[i].Line, fmt.Sprintf("this is %q, not %q", got, want)}
		}
	}
	return entries(top[2])
}

// document returns the one document of a file.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &ParseError{1, "the file is empty"}
	} else if err != nil {
		return nil, malformed(err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, &ParseError{more.Line, "the file has a second document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, malformed(err)
	}
	return doc.Content[0], nil
}

// malformed finds the line in what the parser says.
func malformed(err error) *ParseError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return &ParseError{max(line, 1), "the file is no YAML: " + text}
}

func entries(n *yaml.Node) (Lock, error) {
	if n.Kind != yaml.SequenceNode {
		return Lock{}, &ParseError{n.Line, "charts is no list"}
	}
	var all []Entry
	lines := map[Ref]int{}
	for _, item := range n.Content {
		e, err := entry(item)
		if err != nil {
			return Lock{}, err
		}
		if before, ok := lines[e.Normal()]; ok {
			return Lock{}, &ParseError{item.Line, fmt.Sprintf("%s is there already, on line %d", e.Ref, before)}
		}
		lines[e.Normal()] = item.Line
		all = append(all, e)
	}
	return Lock{}.With(all...), nil
}

func entry(n *yaml.Node) (Entry, error) {
	values, err := fields(n, "kind", "repository", "name", "constraint", "version", "url", "digest")
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	for i, to := range []*string{(*string)(&e.Kind), &e.Repository, &e.Name, &e.Constraint, &e.Version, &e.URL, &e.Digest} {
		if *to, err = text(values[i]); err != nil {
			return Entry{}, err
		}
	}
	if err := e.Validate(); err != nil {
		return Entry{}, &ParseError{n.Line, err.Error()}
	}
	return e, nil
}

// fields returns the values of a mapping that has exactly these keys, in their order.
func fields(n *yaml.Node, names ...string) ([]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, &ParseError{n.Line, "this is no mapping"}
	}
	values := make([]*yaml.Node, len(names))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := slices.Index(names, key.Value)
		switch {
		case at < 0 || key.Kind != yaml.ScalarNode:
			return nil, &ParseError{key.Line, fmt.Sprintf("there is no field %q here", key.Value)}
		case values[at] != nil:
			return nil, &ParseError{key.Line, fmt.Sprintf("the field %q is given twice", key.Value)}
		}
		values[at] = n.Content[i+1]
	}
	if at := slices.Index(values, nil); at >= 0 {
		return nil, &ParseError{n.Line, fmt.Sprintf("the field %q is missing", names[at])}
	}
	return values, nil
}

// text returns the value of a string.
func text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", &ParseError{n.Line, fmt.Sprintf("%q is no string; put it in quotes", n.Value)}
	}
	return n.Value, nil
}
