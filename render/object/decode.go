package object

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// Decoded is what a file held.
type Decoded struct {
	Objects []*Object
	// NotManifests counts the documents that are YAML or JSON but no manifest.
	NotManifests int
	// Broken reports that part of the file could not be read, so that Objects may
	// lack what the file holds. Of a file that is over a limit there are none.
	Broken bool
	Diags  []diag.Diagnostic
}

// Decode reads the manifests of one file: multi-document YAML, JSON, and Lists,
// which it flattens. A document without apiVersion and kind is no manifest and
// is counted. The name ends in .json for JSON. Values are read as kubectl reads
// them (YAML 1.1), but for the letters y and n, which are strings.
func Decode(file string, data []byte) Decoded {
	d := decoder{file: file}
	d.read(data)
	return d.out
}

func (d *decoder) read(data []byte) {
	if big := tooLarge(d.file, data); big != nil {
		d.fail(*big)
		return
	}
	if bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")) {
		d.fail(diag.Diagnostic{
			Code: diag.LFSPointer, Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: 1},
			Message: "the file is a Git LFS pointer, not a manifest",
			Hint:    "keep manifests out of LFS: git lfs untrack " + strconv.Quote(d.file),
		})
		return
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if path.Ext(d.file) == ".json" {
		d.json(data)
	} else {
		d.yaml(data)
	}
}

// Single reads a file that holds one manifest and nothing else, which is an error
// for whatever else it holds: nil comes with the diagnostics that say why.
func Single(file string, data []byte) (*Object, []diag.Diagnostic) {
	d := decoder{file: file}
	d.read(data)
	switch n := len(d.out.Objects); {
	case len(d.out.Diags) > 0:
	case len(d.lines) > 1:
		d.malformed(d.lines[1], "the file holds a second document, which would not be read")
	case n == 1:
		return d.out.Objects[0], nil
	default:
		d.malformed(1, fmt.Sprintf("the file holds %d manifests, not one", n))
	}
	return nil, d.out.Diags
}

// RefOf names the one object of a manifest file.
func RefOf(file string, data []byte) (Ref, error) {
	d := decoder{file: file, names: true}
	d.read(data)
	if len(d.out.Objects) != 1 {
		return Ref{}, fmt.Errorf("reading %s: it holds %d objects, not one", file, len(d.out.Objects))
	}
	return d.out.Objects[0].ref, nil
}

type decoder struct {
	file  string
	names bool // only the names of objects are asked for
	plain int  // bytes so far of documents that are no CustomResourceDefinition
	out   Decoded
	lines []int // where each document stands

	refused bool // the whole file
}

func (d *decoder) fail(g diag.Diagnostic) {
	d.out.Broken = true
	d.out.Diags = append(d.out.Diags, g)
}

func (d *decoder) malformed(line int, message string) {
	d.fail(diag.Diagnostic{
		Code: diag.Malformed, Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: line},
		Message: message,
		Hint:    "mend the file, or name it in .waybillignore if it is no manifest",
	})
}

// yaml reads the documents of a stream.
func (d *decoder) yaml(data []byte) {
	parts := Split(data)
	if len(bytes.TrimSpace(parts[0].Data)) == 0 {
		parts = parts[1:] // before the first marker
	}
	if len(parts) > maxDocuments {
		d.refuse(*tooManyDocuments(d.file, parts[maxDocuments].Line+1))
		return
	}
	for _, p := range parts {
		if d.text(p.Line, p.Data); d.refused {
			return
		}
	}
}

// refuse reports a limit of the whole file: nothing that was read of it counts.
func (d *decoder) refuse(g diag.Diagnostic) {
	d.out, d.refused = Decoded{}, true
	d.fail(g)
}

// Part is a document of a stream, as it is written.
type Part struct {
	Line int // of the file, from 0, in which it begins
	Data []byte
}

// Split splits a stream at its document markers, beyond the first document that is one too
// many, and no further. A marker stands at the start of a line, where nothing else of YAML can: "---"
// begins a document, "..." ends one.
func Split(data []byte) []Part {
	var parts []Part
	line, start, startLine := 0, 0, 0
	for at := 0; at < len(data) && len(parts) <= maxDocuments+1; line++ {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			end = len(data)
		} else {
			end += at + 1
		}
		begins, ends := isBegin(data[at:end]), isEnd(data[at:end])
		if begins || ends {
			parts = append(parts, Part{startLine, data[start:at]})
			start, startLine = at, line
		}
		if ends {
			start, startLine = end, line+1
		}
		at = end
	}
	return append(parts, Part{startLine, data[start:]})
}

func isBegin(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || strings.IndexByte("\n\r \t", rest[0]) >= 0)
}

// isEnd reports a line that ends a document. With text behind the dots it is none,
// and an error of the document.
func isEnd(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("..."))
	behind := bytes.TrimSpace(rest)
	return ok && (len(behind) == 0 || behind[0] == '#' && rest[0] != '#')
}

// text reads one document of YAML whose first line is the offset-th of the file,
// counted from 0.
func (d *decoder) text(offset int, data []byte) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return
	} else if err != nil {
		d.noYAML(offset, err)
		return
	}
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		d.noYAML(offset, err)
		return
	default:
		d.malformed(offset+more.Line, "another document begins here, behind a line break that is no newline")
		return
	}
	shift(&doc, offset)
	d.document(&doc, data, func() (map[string]any, error) { return values(doc.Content[0]) })
}

var yamlLine = regexp.MustCompile(`(?:yaml: )?line (\d+): `)

// anchorNamed is what the parser says of an alias, with the text behind its asterisk: a
// value of the document that somebody forgot to quote. Nothing else that it says has text
// of the document in it.
var anchorNamed = regexp.MustCompile(`(?s)unknown anchor '.*' referenced`)

// said returns what a YAML parser said, without any value of the document.
func said(err error) string {
	return anchorNamed.ReplaceAllString(err.Error(), "a value that begins with * is an alias, and no anchor has its name; put it in quotes if it is none")
}

// noYAML reports what a YAML parser said of a document.
func (d *decoder) noYAML(offset int, err error) {
	line, message := offset+1, strings.TrimPrefix(said(err), "yaml: ")
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		n, _ := strconv.Atoi(m[1])
		if !strings.Contains(message, "did not find expected") {
			n-- // the parser counts from 0, the scanner from 1
		}
		line += n
		message = strings.Replace(message, strings.TrimPrefix(m[0], "yaml: "), "", 1)
	}
	d.malformed(line, "the document is no valid YAML: "+message)
}

// document takes in a document that is written so, and of which read gives the
// values.
func (d *decoder) document(doc *yaml.Node, written []byte, read func() (map[string]any, error)) {
	root := doc.Content[0]
	if root.ShortTag() == "!!null" {
		return
	}
	d.lines = append(d.lines, root.Line)
	if !definesKinds(root) {
		if d.plain += len(written); d.plain > MaxFile {
			d.refuse(*fileTooLarge(d.file, root.Line, fmt.Sprintf("the file has %d bytes up to here that are no %s", d.plain, definition)))
			return
		}
	}
	if over := checkLimits(doc); over != nil {
		d.fail(diag.Diagnostic{
			Code: over.code, Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: over.line},
			Message: over.message,
			Hint:    "write the values out; Waybill expands no more than that",
		})
		return
	}
	if !looksLikeManifest(root) {
		if missing := nearly(root); missing != "" {
			d.malformed(root.Line, "the document looks like a manifest and has no "+missing)
			return
		}
		d.out.NotManifests++
		return
	}
	if twice, secret := duplicateKey(root, false); twice != nil {
		key := "a key of what may be a Secret"
		if !secret || !mayBeSecret(root) {
			key = "the key " + strconv.Quote(twice.Value)
		}
		d.fail(diag.Diagnostic{
			Code: diag.DuplicateKey, Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: twice.Line},
			Message: key + " stands twice in one mapping",
			Hint:    "remove one of them: which one counts differs between tools",
		})
		return
	}
	content, err := read()
	if err != nil {
		line := root.Line
		if at, ok := errors.AsType[*valueError](err); ok {
			line = at.line
		}
		d.malformed(line, "the document cannot be read: "+err.Error())
		return
	}
	before := len(d.out.Objects)
	d.manifest(content, root)
	if !d.names && isEncrypted(content) {
		d.seal(before, root, content, written)
	}
}

// shift moves the lines of a document to where it stands in its file.
func shift(n *yaml.Node, offset int) {
	if offset == 0 {
		return
	}
	n.Line += offset
	for _, c := range n.Content {
		shift(c, offset)
	}
}

func looksLikeManifest(n *yaml.Node) bool {
	return scalar(n, "apiVersion") != "" && scalar(n, "kind") != ""
}

// nearly says which of apiVersion and kind a document lacks that has the other, and a
// name: somebody misspelled it, and what it was is not to be lost in silence.
func nearly(n *yaml.Node) (missing string) {
	var pos diag.Pos
	if scalar(child(n, "metadata", &pos), "name") == "" && !strings.Contains(scalar(n, "apiVersion"), ".karmada.io/") {
		return ""
	}
	switch apiVersion, kind := scalar(n, "apiVersion"), scalar(n, "kind"); {
	case kind == "" && apiVersion != "":
		return "kind"
	case apiVersion == "" && kind != "":
		return "apiVersion"
	}
	return ""
}

func scalar(n *yaml.Node, key string) string {
	if n == nil || n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// duplicateKey finds the first key below n that stands twice in one mapping, and
// whether it is below data or stringData.
func duplicateKey(n *yaml.Node, below bool) (key *yaml.Node, secret bool) {
	if n.Kind != yaml.MappingNode {
		for _, c := range n.Content {
			if key, secret = duplicateKey(c, below); key != nil {
				return key, secret
			}
		}
		return nil, false
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || k.Value == "<<" {
			continue
		}
		if seen[k.Value] {
			return k, below
		}
		seen[k.Value] = true
	}
	for i, c := range n.Content {
		value := i%2 == 1 && slices.Contains(secretFields, n.Content[i-1].Value)
		if key, secret = duplicateKey(c, below || value); key != nil {
			return key, secret
		}
	}
	return nil, false
}

// mayBeSecret reports whether a Secret is among what a document holds, whose keys may
// be values that somebody forgot to quote.
func mayBeSecret(n *yaml.Node) bool {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "kind" && strings.Contains(n.Content[i+1].Value, "Secret") {
				return true
			}
		}
	}
	return slices.ContainsFunc(n.Content, mayBeSecret)
}
