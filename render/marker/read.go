package marker

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// File is a file with its markers.
type File struct {
	Path    string
	Markers []Marker // in the order of their lines
	Bad     []Bad

	data  []byte
	nodes []*yaml.Node
}

// Has reports whether a file may have markers, so that it is to be read: YAML and JSON files with the word.
func Has(name string, data []byte) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && bytes.Contains(data, []byte(word))
}

// Read finds the markers of a file.
func Read(name string, data []byte) File {
	f := File{Path: name, data: data}
	nodes, inAnchors, err := parse(data)
	f.nodes = nodes
	why := ""
	switch {
	case path.Ext(name) == ".json":
		why = "JSON has no comments, and is not written"
	case err != nil:
		why = "the file cannot be read: " + err.Error()
	case isSops(nodes):
		why = "sops encrypted the file, and would find that it was changed"
	}
	from := 0
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if bytes.Contains(line, []byte(word)) {
			f.line(line, from, number, why, inAnchors)
		}
		from += len(line)
	}
	return f
}

// line takes in the markers of a line. Why says why no value of the file is written; empty if they are.
func (f *File) line(line []byte, from, number int, why string, inAnchors map[int]bool) {
	pos := diag.Pos{File: f.Path, Line: number}
	bad := func(code diag.Code, of []Policy, hint, format string, args ...any) {
		message := "the marker of an image " + fmt.Sprintf(format, args...)
		f.Bad = append(f.Bad, Bad{of, diag.Diagnostic{Code: code, Severity: diag.Error, Pos: pos, Message: message, Hint: hint}})
	}
	var policies []Policy // those of a marker with a mistake, too
	var part Part
	wrong := ""
	for _, found := range written.FindAllSubmatch(line, -1) {
		p, of, ok := named(string(found[1]))
		if !ok {
			wrong = cmp.Or(wrong, fmt.Sprintf("says %q, which is no policy", found[1]))
		}
		if p != (Policy{}) {
			policies, part = append(policies, p), of
		}
	}
	switch {
	case wrong != "":
		bad(diag.BadMarker, policies, `write it as {"$imagepolicy": "NAMESPACE:NAME"}, with :name, :tag or :digest behind it for a part`, "%s", wrong)
		return
	case len(policies) == 0:
		bad(diag.BadMarker, nil, `write it as {"$imagepolicy": "NAMESPACE:NAME"}`, "cannot be read")
		return
	case len(policies) > 1:
		bad(diag.BadMarker, policies, "leave one of them", "stands beside another one on its line, and one value cannot follow two")
		return
	case why != "":
		bad(diag.MarkerNotEditable, policies, "write the value in another file", "stands where nothing is written: %s", why)
		return
	}
	m := Marker{Pos: pos, Policy: policies[0], Part: part}
	m.node = slices.IndexFunc(f.nodes, func(n *yaml.Node) bool { return n.Line == number && strings.Contains(n.LineComment, word) })
	if m.node < 0 {
		bad(diag.MarkerNotEditable, policies, "write it as a comment behind the value, on a line of its own", "stands beside no value: it is in a text, or behind more than a value")
		return
	}
	n := f.nodes[m.node]
	m.Value = n.Value
	if p := m.find(n, line, from, inAnchors[m.node]); p != "" {
		bad(diag.MarkerNotEditable, policies, "write the value on a line of its own, plain or in quotes", "stands beside a value that cannot be written by itself: %s", p)
		return
	}
	if p := m.problem(); p != "" {
		bad(diag.BadMarker, policies, "mend the value, or remove the marker", "stands on a value that is none of an image: %s", p)
		return
	}
	f.Markers = append(f.Markers, m)
}

// find finds the bytes of the marker's value; it says why they cannot be written.
func (m *Marker) find(n *yaml.Node, line []byte, from int, inAnchor bool) (why string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "it is no text"
	case n.Anchor != "" || inAnchor:
		return "it has an anchor, or is in what has one"
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return "it is a block of text"
	case n.Style&yaml.TaggedStyle != 0:
		return "it has a tag of YAML"
	}
	at := 0
	if from == 0 && bytes.HasPrefix(line, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	text := n.Value
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		m.quote = "'"
	case n.Style&yaml.DoubleQuotedStyle != 0:
		m.quote = `"`
	}
	text = m.quote + text + m.quote
	if at > len(line) || !bytes.HasPrefix(line[at:], []byte(text)) {
		return "it is not written as it is read"
	}
	m.from, m.to = from+at, from+at+len(text)
	return ""
}

// parse reads all documents of a file, and lists their nodes in their order. In anchors are those that are below a node
// with an anchor.
func parse(data []byte) (all []*yaml.Node, inAnchors map[int]bool, err error) {
	inAnchors = map[int]bool{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return all, inAnchors, nil
		} else if err != nil {
			return all, inAnchors, fmt.Errorf("reading YAML: %w", err)
		}
		walk(&n, false, func(n *yaml.Node, inAnchor bool) {
			if inAnchor {
				inAnchors[len(all)] = true
			}
			all = append(all, n)
		})
	}
}

// walk visits a node and those below it.
func walk(n *yaml.Node, inAnchor bool, visit func(n *yaml.Node, inAnchor bool)) {
	visit(n, inAnchor)
	for _, c := range n.Content {
		walk(c, inAnchor || n.Anchor != "", visit)
	}
}

// isSops reports a file that sops encrypted.
func isSops(all []*yaml.Node) bool {
	return slices.ContainsFunc(all, func(n *yaml.Node) bool {
		if n.Kind != yaml.DocumentNode || len(n.Content) == 0 || n.Content[0].Kind != yaml.MappingNode {
			return false
		}
		top := n.Content[0].Content
		for i := 0; i+1 < len(top); i += 2 {
			if top[i].Value == "sops" {
				return true
			}
		}
		return false
	})
}
