package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// Decoded is what a file held.
type Decoded struct {
	Objects []*Object
	// NotManifests counts the documents that are YAML or JSON but no manifest.
	NotManifests int
	// Broken reports that part of the file could not be read, so that Objects may
	// lack what the file holds.
	Broken bool
	Diags  []diag.Diagnostic
}

// Decode reads the manifests of one file: multi-document YAML, JSON, and Lists,
// which it flattens. A document without apiVersion and kind is no manifest and
// is counted. The name ends in .json for JSON. Values are read as kubectl reads
// them (YAML 1.1).
func Decode(file string, data []byte) Decoded {
	d := decoder{file: file}
	if big := tooLarge(file, int64(len(data)), data); big != nil {
		d.fail(*big)
		return d.out
	}
	if bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")) {
		d.fail(diag.Diagnostic{
			Code: "lfs-pointer", Severity: diag.Error, Pos: diag.Pos{File: file, Line: 1},
			Message: "the file is a Git LFS pointer, not a manifest",
			Hint:    "keep manifests out of LFS: git lfs untrack " + strconv.Quote(file),
		})
		return d.out
	}
	if path.Ext(file) == ".json" {
		d.json(data)
	} else {
		d.yaml(data)
	}
	return d.out
}

// RefOf names the one object of a manifest file.
func RefOf(file string, data []byte) (Ref, error) {
	d := Decode(file, data)
	if len(d.Objects) != 1 {
		return Ref{}, fmt.Errorf("reading %s: it holds %d objects, not one", file, len(d.Objects))
	}
	return d.Objects[0].ref, nil
}

type decoder struct {
	file string
	out  Decoded
}

func (d *decoder) fail(g diag.Diagnostic) {
	d.out.Broken = true
	d.out.Diags = append(d.out.Diags, g)
}

func (d *decoder) malformed(line int, message string) {
	d.fail(diag.Diagnostic{
		Code: "malformed", Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: line},
		Message: message,
		Hint:    "mend the file, or name it in .waybillignore if it is no manifest",
	})
}

// surrogate matches half of a character beyond the basic plane, as JSON escapes it.
var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// asYAML returns JSON that a YAML parser takes, for its nodes, which give lines and
// structure: without tabs, which may stand between tokens, and without halves of
// characters in escapes. Values come from the JSON itself.
func asYAML(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte("\t"), []byte(" "))
	raw = bytes.ReplaceAll(raw, []byte(`\/`), []byte(`/`))
	return surrogate.ReplaceAll(raw, []byte(`\ufffd`))
}

// json reads concatenated JSON values.
func (d *decoder) json(data []byte) {
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		start := dec.InputOffset()
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			at := start
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = syntax.Offset
			}
			d.malformed(lineAt(data, at), "the file is no valid JSON: "+err.Error())
			return
		}
		begin := dec.InputOffset() - int64(len(raw))
		d.document(lineAt(data, begin)-1, asYAML(raw), raw)
	}
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// yaml splits a stream at its document markers. A marker stands at the start of a
// line, where nothing else of YAML can.
func (d *decoder) yaml(data []byte) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	count, line, start, startLine := 0, 0, 0, 0
	emit := func(end int) bool {
		if count++; count > maxDocuments {
			d.malformed(line, fmt.Sprintf("the file has over %d documents", maxDocuments))
			return false
		}
		d.document(startLine, data[start:end], nil)
		return true
	}
	for at := 0; at < len(data); line++ {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			end = len(data)
		} else {
			end += at + 1
		}
		if isMarker(data[at:end]) {
			if !emit(at) {
				return
			}
			start, startLine = at, line
		}
		at = end
	}
	emit(len(data))
}

func isMarker(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r' || rest[0] == ' ' || rest[0] == '\t')
}

var yamlLine = regexp.MustCompile(`(?:yaml: )?line (\d+): `)

// document reads one document whose first line is the offset-th of the file, counted
// from 0. Of JSON, which is given as it stands, data is what a YAML parser takes.
func (d *decoder) document(offset int, data []byte, asJSON json.RawMessage) {
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line, message := offset+1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			n, _ := strconv.Atoi(m[1])
			if !strings.Contains(message, "did not find expected") {
				n-- // the parser counts from 0, the scanner from 1
			}
			line += n
			message = strings.Replace(message, strings.TrimPrefix(m[0], "yaml: "), "", 1)
		}
		d.malformed(line, "the document is no valid YAML: "+message)
		return
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return
	}
	written := data
	data = quoteLetters(data, &doc)
	shift(&doc, offset)
	if over := checkLimits(&doc); over != nil {
		d.fail(diag.Diagnostic{
			Code: over.code, Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: over.line},
			Message: over.message,
			Hint:    "write the values out; Waybill expands no more than that",
		})
		return
	}
	root := doc.Content[0]
	if !looksLikeManifest(root) {
		d.out.NotManifests++
		return
	}
	if line, key, dup := duplicateKey(root); dup {
		d.fail(diag.Diagnostic{
			Code: "duplicate-key", Severity: diag.Error, Pos: diag.Pos{File: d.file, Line: line},
			Message: fmt.Sprintf("the key %q stands twice in one mapping", key),
			Hint:    "remove one of them: which one counts differs between tools",
		})
		return
	}
	content, err := values(data, asJSON)
	if err != nil {
		d.malformed(root.Line, "the document cannot be read: "+err.Error())
		return
	}
	before := len(d.out.Objects)
	d.manifest(content, root)
	if asJSON != nil {
		written = asJSON
	}
	if _, encrypted := content["sops"].(map[string]any); encrypted && len(d.out.Objects) > before {
		d.out.Objects[before].sealed = sealedDocument(written)
	}
}

// sealedDocument returns a document without its marker, ending in one newline.
func sealedDocument(data []byte) []byte {
	if isMarker(data) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return append(bytes.Clone(bytes.TrimRight(data, " \t\r\n")), '\n')
}

// quoteLetters puts the plain scalars y, Y, n and N in quotes, which YAML 1.1 reads
// as booleans. Nobody writes a boolean of a manifest that way, YAML 1.2 reads
// strings, and where an annotation is n Karmada delivers n.
func quoteLetters(data []byte, doc *yaml.Node) []byte {
	var at []*yaml.Node
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Style == 0 && len(n.Value) == 1 && strings.Contains("yYnN", n.Value) {
			at = append(at, n)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(doc)
	if len(at) == 0 {
		return data
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for _, n := range slices.Backward(at) { // from the end, so that columns stay true
		if n.Line > len(lines) {
			continue // the parser breaks lines at more characters than LF
		}
		line := []rune(string(lines[n.Line-1]))
		if i := n.Column - 1; i < len(line) && string(line[i]) == n.Value {
			lines[n.Line-1] = []byte(string(line[:i]) + "\"" + n.Value + "\"" + string(line[i+1:]))
		}
	}
	return bytes.Join(lines, nil)
}

// values decodes a document as kubectl does.
func values(data []byte, asJSON json.RawMessage) (map[string]any, error) {
	if asJSON == nil {
		var err error
		if asJSON, err = sigsyaml.YAMLToJSON(data); err != nil {
			return nil, err
		}
	}
	var content map[string]any
	if err := utiljson.Unmarshal(asJSON, &content); err != nil {
		return nil, err
	}
	return content, nil
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

func scalar(n *yaml.Node, key string) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// duplicateKey finds the first mapping below n in which a key stands twice.
func duplicateKey(n *yaml.Node) (line int, key string, found bool) {
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind == yaml.ScalarNode && k.Value != "<<" {
				if seen[k.Value] {
					return k.Line, k.Value, true
				}
				seen[k.Value] = true
			}
		}
	}
	for _, c := range n.Content {
		if line, key, found = duplicateKey(c); found {
			return line, key, true
		}
	}
	return 0, "", false
}

// manifest takes one manifest in, or each item of a List.
func (d *decoder) manifest(content map[string]any, node *yaml.Node) {
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	if apiVersion == "" || kind == "" {
		d.out.NotManifests++
		return
	}
	if items, ok := listItems(kind, content); ok {
		d.items(items, strings.TrimSuffix(kind, "List"), apiVersion, node)
		return
	}
	group, _ := GroupVersion(apiVersion)
	o := &Object{
		ref: Ref{Group: group, Kind: kind}, apiVersion: apiVersion, content: content,
		pos: diag.Pos{File: d.file, Line: node.Line},
	}
	if strings.HasSuffix(group, "karmada.io") || group == "waybill.dev" {
		o.node = node
	}
	if d.named(o) {
		d.out.Objects = append(d.out.Objects, o)
	}
}

// listItems returns the items of a List or a typed list such as ConfigMapList.
func listItems(kind string, content map[string]any) ([]any, bool) {
	if !strings.HasSuffix(kind, "List") {
		return nil, false
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["name"] != nil {
		return nil, false
	}
	items, ok := content["items"].([]any)
	return items, ok || kind == "List"
}

// items takes the items of a list in. In a typed list they may leave out the
// apiVersion and kind that its own imply.
func (d *decoder) items(items []any, kind, apiVersion string, node *yaml.Node) {
	var pos diag.Pos
	list := child(node, "items", &pos)
	for i, item := range items {
		itemNode := child(list, i, &pos)
		if itemNode == nil {
			itemNode = node
		}
		for itemNode.Kind == yaml.AliasNode {
			itemNode = itemNode.Alias
		}
		m, ok := item.(map[string]any)
		if !ok {
			d.malformed(itemNode.Line, fmt.Sprintf("item %d of the list is no manifest", i))
			continue
		}
		if kind != "" && m["kind"] == nil && m["apiVersion"] == nil {
			m["kind"], m["apiVersion"] = kind, apiVersion
		}
		d.manifest(m, itemNode)
	}
}

// named fills in the rest of o's ref. It reports false for what cannot be named.
func (d *decoder) named(o *Object) bool {
	meta, ok := o.content["metadata"].(map[string]any)
	if !ok {
		if isOwn(o.ref) {
			return true
		}
		d.out.NotManifests++
		return false
	}
	name, isString := meta["name"].(string)
	namespace, nsIsString := meta["namespace"].(string)
	switch {
	case meta["name"] != nil && !isString:
		d.unnamed(o, fmt.Sprintf("metadata.name is %v, which YAML reads as no string", meta["name"]), "put it in quotes")
	case meta["namespace"] != nil && !nsIsString:
		d.unnamed(o, fmt.Sprintf("metadata.namespace is %v, which YAML reads as no string", meta["namespace"]), "put it in quotes")
	case name == "" && meta["generateName"] != nil:
		d.unnamed(o, o.ref.Kind+" has generateName: its name would differ at every apply", "give it a metadata.name")
	case name == "" && !isOwn(o.ref):
		d.unnamed(o, o.ref.Kind+" has no metadata.name", "give it one")
	case strings.ContainsAny(name, "/\x00\n") || strings.ContainsAny(namespace, "/\x00\n") || name == "." || name == "..":
		d.unnamed(o, fmt.Sprintf("%q in namespace %q is no valid name", name, namespace), "use a DNS-1123 name")
	default:
		o.ref.Name, o.ref.Namespace = name, namespace
		return true
	}
	return false
}

func (d *decoder) unnamed(o *Object, message, hint string) {
	d.fail(diag.Diagnostic{Code: "no-name", Severity: diag.Error, Pos: o.pos, Message: message, Hint: hint})
}

// isOwn reports kinds that configure tools and need no name.
func isOwn(r Ref) bool {
	return r.Group == "waybill.dev" || r.Group == "kustomize.config.k8s.io"
}
