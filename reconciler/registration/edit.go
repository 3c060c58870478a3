// Package registration knows which clusters a source registers, and edits the files that do, as a person would: as text, so that
// comments, order and every other byte stay. Files come in as bytes and go out as bytes;
// nothing is read or written here.
//
// An edit is tried, and read again: it is only returned if the file then says what it said
// before, but for what was asked. A file that is written in a way for which no edit does that
// is left to a person, with what to write.
package registration

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// group is the API group of Clusters.
const group = "cluster.karmada.io"

// document is a file with the Cluster in it that is to be edited.
type document struct {
	file, name string
	data       []byte
	before     object.Decoded
	index      int         // of the Cluster in before
	part       object.Part // what it stands in
	root       *yaml.Node  // of the part
	cluster    *yaml.Node  // the mapping that is the Cluster
	starts     []int       // where each line of the file begins, and where the last one ends
}

// open finds a Cluster in a file of a source. At is where the source has it.
func open(at diag.Pos, data []byte, name string) (*document, error) {
	if path.Ext(at.File) == ".json" {
		return nil, fmt.Errorf("%s: Cluster %s is written in JSON, which is not edited here; edit it by hand", at, name)
	}
	d := &document{file: at.File, name: name, data: data, before: object.Decode(at.File, data), index: -1}
	for i, o := range d.before.Objects {
		if o.Ref() == ref(name) {
			d.index = i
		}
	}
	if d.index < 0 {
		return nil, fmt.Errorf("%s: Cluster %s is not written there, it is built from other files; edit those by hand", at, name)
	}
	if _, sealed := d.before.Objects[d.index].Sealed(); sealed {
		return nil, fmt.Errorf("%s: Cluster %s is encrypted; edit it with sops", at, name)
	}
	for _, p := range object.Split(data) {
		var root yaml.Node
		if yaml.Unmarshal(p.Data, &root) != nil || len(root.Content) == 0 {
			continue
		}
		if d.cluster = find(root.Content[0], name); d.cluster != nil {
			d.part, d.root = p, root.Content[0]
			break
		}
	}
	if d.cluster == nil {
		return nil, fmt.Errorf("%s: Cluster %s is written in a way that is not edited here; edit it by hand", at, name)
	}
	shift(d.root, d.part.Line)
	d.starts = []int{0}
	for line := range strings.Lines(string(data)) {
		d.starts = append(d.starts, d.starts[len(d.starts)-1]+len(line))
	}
	return d, nil
}

func ref(name string) object.Ref { return object.Ref{Group: group, Kind: "Cluster", Name: name} }

// find returns the mapping that is the Cluster, of a document or of a List that is one.
func find(n *yaml.Node, name string) *yaml.Node {
	is := func(key, value string) bool { _, v := field(n, key); return v != nil && v.Value == value }
	_, version := field(n, "apiVersion")
	_, meta := field(n, "metadata")
	_, called := field(meta, "name")
	if version != nil && strings.HasPrefix(version.Value, group+"/") && is("kind", "Cluster") && called != nil && called.Value == name {
		return n
	}
	_, items := field(n, "items")
	if items == nil {
		return nil
	}
	for _, item := range items.Content {
		if c := find(item, name); c != nil {
			return c
		}
	}
	return nil
}

// field returns a key of a mapping, and its value; nil where there is none.
func field(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// shift moves the lines of nodes to where their document stands in its file.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}

// offset is where a node begins in the file.
func (d *document) offset(n *yaml.Node) int {
	at := d.starts[n.Line-1]
	column := 1 // the parser counts characters
	for i := range string(d.data[at:d.starts[n.Line]]) {
		if column == n.Column {
			return at + i
		}
		column++
	}
	return d.starts[n.Line]
}

// following returns the first node of the document that comes after a node and all in it.
func (d *document) following(n *yaml.Node) *yaml.Node {
	var next *yaml.Node
	passed := false
	var walk func(x *yaml.Node)
	walk = func(x *yaml.Node) {
		if next != nil {
			return
		}
		if passed {
			next = x
			return
		}
		if x == n {
			passed = true
			return
		}
		for _, c := range x.Content {
			walk(c)
		}
	}
	walk(d.root)
	return next
}

// last returns the last line of a node, counted from 1. Comments and empty lines behind it
// are not its own.
func (d *document) last(n *yaml.Node) int {
	line := d.part.Line + strings.Count(string(d.part.Data), "\n")
	if !strings.HasSuffix(string(d.part.Data), "\n") {
		line++
	}
	if next := d.following(n); next != nil {
		line = max(next.Line-1, n.Line)
	}
	for ; line > n.Line; line-- {
		if text := strings.TrimSpace(d.line(line)); text != "" && text[0] != '#' {
			break
		}
	}
	return line
}

// line returns a line of the file, counted from 1.
func (d *document) line(n int) string { return string(d.data[d.starts[n-1]:d.starts[n]]) }

// spliced returns the file with other text in place of some.
func (d *document) spliced(from, to int, text string) []byte {
	return []byte(string(d.data[:from]) + text + string(d.data[to:]))
}

// below returns the file with lines inserted below a line. They end as that line does.
func (d *document) below(line int, text ...string) []byte {
	end := "\n"
	if strings.HasSuffix(d.line(line), "\r\n") || line > 1 && strings.HasSuffix(d.line(line-1), "\r\n") {
		end = "\r\n"
	}
	at := d.starts[line]
	if strings.HasSuffix(d.line(line), "\n") {
		return d.spliced(at, at, strings.Join(text, end)+end)
	}
	return d.spliced(at, at, end+strings.Join(text, end))
}

// span is some lines of a file, the first and the last of them.
type span struct{ first, last int }

// cut returns the file without some lines.
func (d *document) cut(spans ...span) []byte {
	var left strings.Builder
	for n := 1; n < len(d.starts); n++ {
		if !slices.ContainsFunc(spans, func(s span) bool { return s.first <= n && n <= s.last }) {
			left.WriteString(d.line(n))
		}
	}
	text := left.String()
	if !strings.HasSuffix(string(d.data), "\n") { // as it did not end in a line break before
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return []byte(text)
}

// says reports whether a file says what it said before, with other taints of the Cluster.
func (d *document) says(data []byte, taints []any) bool {
	return d.becomes(data, func(is, was *object.Object) bool {
		return reflect.DeepEqual(tainted(is.Content(), taintsOf(is)), tainted(was.Content(), taints))
	})
}

// becomes reports whether a file says what it said before, but for what the Cluster is now.
func (d *document) becomes(data []byte, cluster func(is, was *object.Object) bool) bool {
	after := object.Decode(d.file, data)
	if len(after.Objects) != len(d.before.Objects) || after.NotManifests != d.before.NotManifests || len(after.Diags) != len(d.before.Diags) {
		return false
	}
	for i, o := range after.Objects {
		is := same
		if i == d.index {
			is = cluster
		}
		if !is(o, d.before.Objects[i]) {
			return false
		}
	}
	return true
}

// same reports whether two objects are the same to whoever gets them.
func same(a, b *object.Object) bool {
	return a.Ref() == b.Ref() && string(a.YAML()) == string(b.YAML())
}

// Diff is how a file changes, as a patch that git takes. Before is nil for a new file, and
// after for one that is removed.
func Diff(file string, before, after []byte) string {
	from, to := "a/"+file, "b/"+file
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	text := string(diff.Diff(from, before, to, after))
	_, text, _ = strings.Cut(text, "\n") // the line "diff a b" is for people
	return text
}
